// SPDX-License-Identifier: Apache-2.0
/// \file
/// Graphs that are replayed a thousand times on points of which none to all are kept: whatever a replay leaves in
/// scratch memory, the next one starts from. Blocks stand still for long between drawing their tile and publishing it.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/cpu/host_backend.hpp"
#include "kernels/cuda/cuda_backend.hpp"
#include "kernels/simt/emulated/device.hpp"
#include "simt/support/twin_runs.hpp"

namespace sluice::test {
namespace {

using namespace kernels;
using simt::emulated::Device;
using simt::emulated::Settings;

/// Fewer under sanitizers, which look at something else.
constexpr std::uint64_t kReplays = simt::emulated::kInstrumented ? 1000 : 50;
constexpr std::uint64_t kPoints = 2100;  // two or three tiles of points, two of each pass of the sort

/// Points in a box of 32 cells an axis, and an attribute below 20 that says whether a point is kept.
Cloud cloud_of_replay(std::uint64_t replay) {
  Cloud cloud;
  cloud.count = kPoints;
  cloud.frame.kind = CoordinateKind::kLattice;
  std::vector<Record16> points(kPoints);
  cloud.attribute.resize(kPoints);
  // From none to all, in an order that goes up and down.
  const std::uint64_t kept = 8 * replay % 21;
  for (std::uint64_t i = 0; i < kPoints; ++i) {
    const std::uint64_t r = counter_random(replay, i);
    const auto axis = [&](unsigned d) { return static_cast<std::int32_t>(r >> (8 * d) & 31); };
    points[i] = {axis(0), axis(1), axis(2), static_cast<std::uint32_t>(r >> 32)};
    cloud.attribute[i] = (r >> 24) % 20 < kept ? 0 : 20;
  }
  const auto* const bytes = reinterpret_cast<const std::byte*>(points.data());
  cloud.records.assign(bytes, bytes + points.size() * sizeof(Record16));
  return cloud;
}

PredicateProgram kept_points() {
  PredicateProgram out;
  out.ops = {compare_op(column_operand(0), Comparison::kLess, constant_operand(Value::of_unsigned(20)))};
  out.columns = {"attribute"};
  return out;
}

/// One operation with its buffers, on a backend.
class Work {
 public:
  explicit Work(Backend& backend)
      : backend_(backend),
        run_(backend),
        records_(run_.room<std::byte>(kPoints * sizeof(Record16))),
        attribute_(run_.room<std::uint8_t>(kPoints)),
        predicate_(backend.operations().prepare(kept_points())),
        column_{reinterpret_cast<const std::byte*>(attribute_), 1, FieldType::kUint8, 0, 0} {
    const Cloud cloud = cloud_of_replay(0);
    set(cloud);
    input_.positions = cloud.positions(records_);
    input_.columns = &column_;
    input_.column_count = 1;
    input_.count = kPoints;
    bin_.grid = grid_of(cloud, 2.0);
    bin_.range = CellRange{{0, 0, 0}, {15, 14, 15}};
    select_.kept = run_.room<std::uint32_t>(kPoints);
    select_.rejected = run_.room<std::uint32_t>(kPoints);
    select_.counts = run_.room<SelectCounts>(1);
    binned_.cell_keys = run_.room<std::uint64_t>(kPoints);
    binned_.cell_first = run_.room<std::uint32_t>(kPoints);
    binned_.records = run_.room<Record16>(kPoints);
    counts_ = run_.room<BinCounts>(1);
    scratch_ = std::make_unique<Workspace>(backend.memory(), std::max(backend.operations().select_scratch(kPoints),
                                                                      backend.operations().bin_scratch(bin_, kPoints)));
  }

  [[nodiscard]] StreamView stream() const { return run_.stream(); }
  void set(const Cloud& cloud) {
    backend_.upload(records_, cloud.records.data(), cloud.records.size(), stream());
    backend_.upload(attribute_, cloud.attribute.data(), cloud.attribute.size(), stream());
    backend_.wait(stream());
  }
  void select() { backend_.operations().select(*predicate_, input_, select_, *scratch_, stream()); }
  void bin() { backend_.operations().enqueue_bin(*predicate_, bin_, input_, binned_, counts_, *scratch_, stream()); }

  Bytes selected() {
    TwinRun out(backend_);
    const SelectCounts found = out.get(select_.counts, 1)[0];
    out.add(std::vector<std::uint64_t>{found.kept, found.rejected, found.nonfinite});
    out.add(select_.kept, std::min(found.kept, kPoints));
    out.add(select_.rejected, std::min(found.rejected, kPoints));
    return out.bytes();
  }
  Bytes binned() {
    TwinRun out(backend_);
    const BinCounts found = out.get(counts_, 1)[0];
    out.add(std::vector<std::uint64_t>{found.counts.kept, found.counts.rejected, found.counts.nonfinite, found.cells,
                                       found.outside});
    out.add(binned_.cell_keys, std::min(found.cells, kPoints));
    out.add(binned_.cell_first, std::min(found.cells, kPoints));
    out.add(static_cast<const Record16*>(binned_.records), std::min(found.counts.kept, kPoints));
    return out.bytes();
  }

 private:
  Backend& backend_;
  TwinRun run_;
  std::byte* records_;
  std::uint8_t* attribute_;
  std::shared_ptr<const PreparedPredicate> predicate_;
  Column column_;
  PointInput input_;
  BinSpec bin_;
  SelectOutputs select_;
  BinOutputs binned_;
  BinCounts* counts_ = nullptr;
  std::unique_ptr<Workspace> scratch_;
};

class EmulatedReplays : public testing::Test {
 protected:
  void SetUp() override {
    Settings settings;
    settings.checks = false;  // other tests look for hazards; this one wants many launches
    settings.blocks_in_flight = 3;
    Device::get().configure(settings);
  }
  void TearDown() override { Device::get().configure(Settings{}); }

  /// \param enqueue  what is captured
  static void replay(const std::function<void(Work&)>& enqueue, const std::function<Bytes(Work&)>& result) {
    const auto device = make_cuda_backend(0);
    const auto serial = make_serial_backend();
    Work ours(*device);
    Work theirs(*serial);
    auto* const stream = static_cast<cudaStream_t>(ours.stream().handle());
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    enqueue(ours);
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    for (std::uint64_t i = 1; i <= kReplays; ++i) {
      const Cloud cloud = cloud_of_replay(i);
      ours.set(cloud);
      ASSERT_EQ(cudaGraphLaunch(graph, stream), cudaSuccess);
      theirs.set(cloud);
      enqueue(theirs);
      ASSERT_TRUE(result(ours) == result(theirs)) << "replay " << i;
    }
    ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  }
};

TEST_F(EmulatedReplays, SelectFollowsThePoints) { replay(&Work::select, &Work::selected); }
TEST_F(EmulatedReplays, BinFollowsThePoints) { replay(&Work::bin, &Work::binned); }

}  // namespace
}  // namespace sluice::test
