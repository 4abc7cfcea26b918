// SPDX-License-Identifier: Apache-2.0
/// \file
/// All of this project's kernels on the emulated device, under one schedule after another: the same bytes as the serial
/// backend's, and no hazard, which a launch would throw.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernels/cpu/host_backend.hpp"
#include "kernels/cuda/cuda_backend.hpp"
#include "kernels/cuda/radix.cuh"
#include "kernels/simt/emulated/device.hpp"
#include "simt/support/device_array.hpp"
#include "simt/support/kernels_in_sources.hpp"
#include "simt/support/schedules.hpp"
#include "simt/support/twin_runs.hpp"

namespace sluice::test {
namespace {

using namespace sluice::kernels;
using simt::emulated::Device;
using simt::emulated::Settings;

class EmulatedKernels : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    Device::get().configure(settings_of(GetParam()));
    fused_ = make_cuda_backend(0);
    composed_ = make_thrust_backend(0);
    serial_ = make_serial_backend();
  }
  void TearDown() override { Device::get().configure(Settings{}); }

  [[nodiscard]] Backend& fused() const { return *fused_; }
  /// Operations made of primitives, which the other one has its own kernels for.
  [[nodiscard]] Backend& composed() const { return *composed_; }

  template <typename RunT>
  void expect_twins(Backend& backend, const RunT& run) {
    TwinRun expected(*serial_);
    run(expected);
    TwinRun found(backend);
    run(found);
    ASSERT_EQ(found.bytes().size(), expected.bytes().size());
    const auto differs = std::mismatch(found.bytes().begin(), found.bytes().end(), expected.bytes().begin());
    ASSERT_EQ(differs.first - found.bytes().begin(), static_cast<std::ptrdiff_t>(expected.bytes().size()))
        << "the first place that differs";
  }

  /// One item, a row of lanes and one more, tiles of many shapes and a bit, and a few tiles.
  static std::vector<std::uint64_t> sizes() { return {1, 33, 4097, 9000 + GetParam()}; }

 private:
  std::unique_ptr<Backend> fused_;
  std::unique_ptr<Backend> composed_;
  std::unique_ptr<Backend> serial_;
};

TEST_P(EmulatedKernels, PrimitivesAreAsTheSerialOnes) {
  for (const std::uint64_t n : sizes()) {
    SCOPED_TRACE(testing::Message() << n << " items");
    expect_twins(fused(), [&](TwinRun& run) { run_primitives(run, GetParam(), n); });
  }
}

TEST_P(EmulatedKernels, OperationsAreAsTheSerialOnes) {
  constexpr CoordinateKind kKinds[] = {CoordinateKind::kLattice, CoordinateKind::kFloat32, CoordinateKind::kFloat64};
  for (const std::uint64_t n : sizes()) {
    for (const CoordinateKind kind : kKinds) {
      // Of many points one kind for each schedule.
      if (n > 1000 && kind != kKinds[GetParam() % 3]) continue;
      SCOPED_TRACE(testing::Message() << n << " points of kind " << static_cast<int>(kind));
      expect_twins(fused(), [&](TwinRun& run) { run_operations(run, kind, GetParam(), n); });
    }
  }
}

TEST_P(EmulatedKernels, ComposedOperationsAreAsTheSerialOnes) {
  constexpr CoordinateKind kKinds[] = {CoordinateKind::kFloat64, CoordinateKind::kLattice, CoordinateKind::kFloat32};
  const CoordinateKind kind = kKinds[GetParam() % 3];
  const std::uint64_t n = 2100 + GetParam();
  expect_twins(composed(), [&](TwinRun& run) {
    run_selects(run, kind, GetParam(), n);
    run_bins(run, kind, GetParam(), n);
    run_reductions(run, kind, GetParam(), n);
  });
}

TEST_P(EmulatedKernels, UnevenReductionsAreAsTheSerialOnes) {
  expect_twins(fused(), [&](TwinRun& run) { run_uneven_reductions(run, GetParam()); });
}

/// For schedules whose device has much shared memory.
class EmulatedLargeTiles : public EmulatedKernels {};

// As many items as make a device with one multiprocessor take the shapes of millions of items on a large one.
TEST_P(EmulatedLargeTiles, AreAsTheSerialOnes) {
  const std::uint64_t seed = GetParam();
  const std::uint64_t items = 16000 + seed;
  const std::uint64_t points = 32000 + seed;
  ASSERT_GE(items, cuda::DeviceLimits::of(0).large_from(cuda::kLargePassItems));
  expect_twins(fused(), [&](TwinRun& run) {
    switch (seed / 2 % 4) {
      case 0:
        run_sort<std::uint32_t>(run, seed, items, 0, 0, 32, true);
        break;
      case 1:
        run_sort<std::uint64_t>(run, seed, items, 4, 3, 21, true);
        break;
      case 2:
        run_sort<std::uint32_t>(run, seed, items, 2, 0, 18, false);
        break;
      default:
        run_sort<std::uint64_t>(run, seed, items, 1, 20, 46, false);
        break;
    }
    run_scans(run, seed, 50000);
    const CoordinateKind kind = seed / 2 % 2 == 0 ? CoordinateKind::kLattice : CoordinateKind::kFloat32;
    const Cloud cloud = cloud_of(kind, seed % 4 == 1 ? Scene::kScattered : Scene::kScan, points);
    run_select(run, cloud, predicate_of(kind, 1));
    const Cloud lattice = cloud_of(CoordinateKind::kLattice, Scene::kScattered, points);
    kernels::BinSpec bin;
    bin.grid = grid_of(lattice, 1.0);
    // A dense table of cells, or runs of points.
    bin.range =
        seed / 2 % 2 == 0 ? CellRange{{-16, -16, -8}, {15, 15, 7}} : CellRange{{-300, -300, -20}, {299, 299, 19}};
    run_bin(run, lattice, predicate_of(CoordinateKind::kLattice, seed / 2), bin, false);
  });
}

TEST(EmulatedKernelsTogether, AreAllThatThereAre) {
  constexpr CoordinateKind kKinds[] = {CoordinateKind::kLattice, CoordinateKind::kFloat32};
  for (const std::uint64_t seed : {1U, 2U}) {
    Device::get().configure(settings_of(seed));
    const auto fused = make_cuda_backend(0);
    TwinRun run(*fused);
    run_primitives(run, seed, 5000);
    for (const CoordinateKind kind : kKinds) run_operations(run, kind, seed, 1500);
    run_uneven_reductions(run, seed);
    const auto composed = make_thrust_backend(0);
    TwinRun other(*composed);
    run_selects(other, kKinds[0], seed, 1500);
    run_bins(other, kKinds[0], seed, 1500);
    run_reductions(other, kKinds[0], seed, 1500);
  }
  Device::get().configure(Settings{});
  std::set<std::string> run;
  for (const std::string& name : Device::get().kernels_run()) run.insert(name.substr(0, name.find('<')));
  const std::set<std::string> known = kernels_in_sources("kernels/cuda/bodies");
  EXPECT_GT(known.size(), 20U);
  for (const std::string& name : known) EXPECT_EQ(run.count(name), 1U) << name << " has not run";
}

std::string name_of_seed(const testing::TestParamInfo<std::uint64_t>& test) {
  return "seed" + std::to_string(test.param);
}
INSTANTIATE_TEST_SUITE_P(Seeds, EmulatedKernels, testing::Range(std::uint64_t{1}, seeds() + 1), name_of_seed);
INSTANTIATE_TEST_SUITE_P(Seeds, EmulatedLargeTiles, testing::Range(std::uint64_t{1}, seeds() + 1, std::uint64_t{2}),
                         name_of_seed);

}  // namespace
}  // namespace sluice::test
