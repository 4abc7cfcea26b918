// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <cstring>
#include <functional>
#include <limits>

#include "sluice/core/cell_grid.hpp"
#include "sluice/core/predicate_program.hpp"
#include "sluice/core/random.hpp"
#include "sluice/kernels/operations.hpp"
#include "support/backend_test.hpp"
#include "support/dirty_memory.hpp"

namespace sluice::test {
namespace {

using namespace sluice::kernels;

#define ASSERT_CUDA(call) ASSERT_EQ(static_cast<int>(call), static_cast<int>(cudaSuccess)) << #call

constexpr std::uint64_t kCount = 30011;  // several tiles of any size, the last of them not full
/// Cells of one unit, some of which the points leave empty. Points with a coordinate beyond this are rejected.
constexpr std::int32_t kLimit = 60;

/// Points of which about `kept` in 20 are within the limit on all axes. Some of those are outside the range of cells,
/// and some floats are not finite where not all are kept.
std::vector<Record16> points_of(CoordinateKind kind, std::uint64_t seed, std::uint64_t kept) {
  std::vector<Record16> out(kCount);
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const std::uint64_t r = counter_random(seed, i);
    std::int32_t at[3];
    for (int d = 0; d < 3; ++d) at[d] = static_cast<std::int32_t>((r >> (20 * d)) % 100) - 50;
    if ((r >> 60) % 4 == 0) std::fill_n(at, 3, 7);  // a cell with a quarter of the points
    const bool in = counter_random(seed + 5000, i) % 20 < kept;
    if (!in) at[i % 3] = kLimit + 1 + static_cast<std::int32_t>(i % 40);
    if (kind == CoordinateKind::kFloat32) {
      for (std::int32_t& v : at) {
        const float world = static_cast<float>(v) + 0.25F;
        std::memcpy(&v, &world, sizeof v);
      }
      const float nan = std::numeric_limits<float>::quiet_NaN();
      if (!in && i % 11 == 0) std::memcpy(&at[i % 3], &nan, sizeof nan);
    }
    out[i] = {at[0], at[1], at[2], static_cast<std::uint32_t>(r)};
  }
  return out;
}

PredicateProgram within_limit(CoordinateKind kind) {
  PredicateOp box{};
  box.code = kind == CoordinateKind::kLattice ? PredicateOp::Code::kLatticeBox : PredicateOp::Code::kWorldBox;
  for (int d = 0; d < 3; ++d) {
    box.integers[d] = -kLimit;
    box.integers[3 + d] = kLimit;
    box.reals[d] = -kLimit;
    box.reals[3 + d] = kLimit + 0.5;
  }
  PredicateProgram out;
  out.ops = {box};
  return out;
}

PointInput input_of(const Record16* points, CoordinateKind kind) {
  PointInput out;
  out.positions = Positions::packed(points, kind);
  out.count = kCount;
  return out;
}

/// `enqueue_bin` with all of its outputs, or all but the permutation, in the memory of one backend.
class Bin {
 public:
  Bin(Backend& backend, StreamView stream, CoordinateKind kind, CellOrder order, bool permutation)
      : backend_(backend),
        stream_(stream),
        memory_(backend, stream),
        kind_(kind),
        permuted_(permutation),
        points_(backend, stream, kCount),
        permutation_(backend, stream, kCount),
        keys_(backend, stream, kCount),
        first_(backend, stream, kCount),
        records_(backend, stream, kCount),
        counts_(backend, stream, std::uint64_t{1}),
        predicate_(backend.operations().prepare(within_limit(kind))),
        spec_(spec_of(kind, order)),
        workspace_(memory_, backend.operations().bin_scratch(spec_, kCount)) {}

  void set(const std::vector<Record16>& points) { points_.set(points); }
  void enqueue() {
    const BinOutputs outputs{permuted_ ? permutation_.data() : nullptr, keys_.data(), first_.data(), records_.data()};
    backend_.operations().enqueue_bin(*predicate_, spec_, input_of(points_.data(), kind_), outputs, counts_.data(),
                                      workspace_, stream_);
  }
  void poison() {
    permutation_.poison();
    keys_.poison();
    first_.poison();
    records_.poison();
    counts_.poison();
  }
  void expect_counts_of(const Bin& other) const {
    const BinCounts a = counts_.get()[0];
    const BinCounts b = other.counts_.get()[0];
    ASSERT_EQ(a.counts.kept, b.counts.kept);
    ASSERT_EQ(a.counts.rejected, b.counts.rejected);
    ASSERT_EQ(a.counts.nonfinite, b.counts.nonfinite);
    ASSERT_EQ(a.cells, b.cells);
    ASSERT_EQ(a.outside, b.outside);
  }
  /// \pre equal counts
  void expect_outputs_of(const Bin& other) const {
    const BinCounts counts = counts_.get()[0];
    const std::uint64_t permuted = permuted_ ? counts.counts.kept : 0;
    ASSERT_TRUE(permutation_.get(permuted) == other.permutation_.get(permuted));
    ASSERT_TRUE(keys_.get(counts.cells) == other.keys_.get(counts.cells));
    ASSERT_TRUE(first_.get(counts.cells) == other.first_.get(counts.cells));
    const std::vector<Record16> a = records_.get(counts.counts.kept);
    const std::vector<Record16> b = other.records_.get(counts.counts.kept);
    ASSERT_TRUE(a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0);
  }

 private:
  static BinSpec spec_of(CoordinateKind kind, CellOrder order) {
    CoordinateFrame frame;
    frame.kind = kind;
    BinSpec out;
    out.grid = make_cell_grid(GridSpec{}, frame);
    out.order = order;
    out.range = CellRange{{-50, -48, -50}, {49, 49, 47}};
    return out;
  }

  Backend& backend_;
  StreamView stream_;
  DirtyMemory memory_;
  CoordinateKind kind_;
  bool permuted_;
  BackendArray<Record16> points_;
  BackendArray<std::uint32_t> permutation_;
  BackendArray<std::uint64_t> keys_;
  BackendArray<std::uint32_t> first_;
  BackendArray<Record16> records_;
  BackendArray<BinCounts> counts_;
  std::shared_ptr<const PreparedPredicate> predicate_;
  BinSpec spec_;
  Workspace workspace_;
};

/// `select` with all of its outputs, in the memory of one backend.
class Select {
 public:
  Select(Backend& backend, StreamView stream, CoordinateKind kind)
      : backend_(backend),
        stream_(stream),
        memory_(backend, stream),
        kind_(kind),
        points_(backend, stream, kCount),
        kept_(backend, stream, kCount),
        rejected_(backend, stream, kCount),
        verdicts_(backend, stream, kCount),
        records_(backend, stream, kCount),
        counts_(backend, stream, std::uint64_t{1}),
        mask_(backend, stream, (kCount + 31) / 32),
        predicate_(backend.operations().prepare(within_limit(kind))),
        workspace_(memory_, backend.operations().select_scratch(kCount)) {}

  void set(const std::vector<Record16>& points) { points_.set(points); }
  void enqueue() {
    const SelectOutputs outputs{kept_.data(),    rejected_.data(), verdicts_.data(),
                                records_.data(), counts_.data(),   mask_.data()};
    backend_.operations().select(*predicate_, input_of(points_.data(), kind_), outputs, workspace_, stream_);
  }
  void poison() {
    kept_.poison();
    rejected_.poison();
    verdicts_.poison();
    records_.poison();
    counts_.poison();
    mask_.poison();
  }
  void expect_counts_of(const Select& other) const {
    const SelectCounts a = counts_.get()[0];
    const SelectCounts b = other.counts_.get()[0];
    ASSERT_EQ(a.kept, b.kept);
    ASSERT_EQ(a.rejected, b.rejected);
    ASSERT_EQ(a.nonfinite, b.nonfinite);
  }
  /// \pre equal counts
  void expect_outputs_of(const Select& other) const {
    const SelectCounts counts = counts_.get()[0];
    ASSERT_TRUE(kept_.get(counts.kept) == other.kept_.get(counts.kept));
    ASSERT_TRUE(rejected_.get(counts.rejected) == other.rejected_.get(counts.rejected));
    ASSERT_TRUE(verdicts_.get() == other.verdicts_.get());
    ASSERT_TRUE(mask_.get() == other.mask_.get());
    const std::vector<Record16> a = records_.get(counts.kept);
    const std::vector<Record16> b = other.records_.get(counts.kept);
    ASSERT_TRUE(a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0);
  }

 private:
  Backend& backend_;
  StreamView stream_;
  DirtyMemory memory_;
  CoordinateKind kind_;
  BackendArray<Record16> points_;
  BackendArray<std::uint32_t> kept_;
  BackendArray<std::uint32_t> rejected_;
  BackendArray<std::uint8_t> verdicts_;
  BackendArray<Record16> records_;
  BackendArray<SelectCounts> counts_;
  BackendArray<std::uint32_t> mask_;
  std::shared_ptr<const PreparedPredicate> predicate_;
  Workspace workspace_;
};

/// `select` from three columns into three others.
class SelectColumns {
 public:
  SelectColumns(Backend& backend, StreamView stream, CoordinateKind kind)
      : backend_(backend),
        stream_(stream),
        memory_(backend, stream),
        kind_(kind),
        points_{{backend, stream, kCount}, {backend, stream, kCount}, {backend, stream, kCount}},
        coordinates_{{backend, stream, kCount}, {backend, stream, kCount}, {backend, stream, kCount}},
        counts_(backend, stream, std::uint64_t{1}),
        predicate_(backend.operations().prepare(within_limit(kind))),
        workspace_(memory_, backend.operations().select_scratch(kCount)) {}

  void set(const std::vector<Record16>& points) {
    std::vector<std::int32_t> axes[3];
    for (const Record16& p : points) {
      axes[0].push_back(p.x);
      axes[1].push_back(p.y);
      axes[2].push_back(p.z);
    }
    for (int d = 0; d < 3; ++d) points_[d].set(axes[d]);
  }
  void enqueue() {
    PointInput input;
    input.positions = Positions::columns(points_[0].data(), points_[1].data(), points_[2].data());
    input.positions.kind = kind_;
    input.count = kCount;
    SelectOutputs outputs;
    outputs.counts = counts_.data();
    for (int d = 0; d < 3; ++d) outputs.coordinates[d] = coordinates_[d].data();
    backend_.operations().select(*predicate_, input, outputs, workspace_, stream_);
  }
  void poison() {
    for (const auto& column : coordinates_) column.poison();
    counts_.poison();
  }
  void expect_counts_of(const SelectColumns& other) const {
    const SelectCounts a = counts_.get()[0];
    const SelectCounts b = other.counts_.get()[0];
    ASSERT_EQ(a.kept, b.kept);
    ASSERT_EQ(a.rejected, b.rejected);
    ASSERT_EQ(a.nonfinite, b.nonfinite);
  }
  /// \pre equal counts
  void expect_outputs_of(const SelectColumns& other) const {
    const std::uint64_t kept = counts_.get()[0].kept;
    for (int d = 0; d < 3; ++d) ASSERT_TRUE(coordinates_[d].get(kept) == other.coordinates_[d].get(kept)) << d;
  }

 private:
  Backend& backend_;
  StreamView stream_;
  DirtyMemory memory_;
  CoordinateKind kind_;
  BackendArray<std::int32_t> points_[3];  ///< or the bits of floats
  BackendArray<std::int32_t> coordinates_[3];
  BackendArray<SelectCounts> counts_;
  std::shared_ptr<const PreparedPredicate> predicate_;
  Workspace workspace_;
};

/// Capturing fails where anything allocates or waits. A replay starts from what the one before left in scratch memory
/// and reads the points that are there by then.
class ReplayedGraphs : public BackendTest {
 protected:
  /// Captures `ours` once and replays it on points that vary, and runs `serial` on the same.
  template <typename WorkT>
  void replay(WorkT& ours, WorkT& serial, CoordinateKind kind) {
    // Kernels are loaded on first use, which a capture does not allow for.
    ours.set(points_of(kind, 0, 10));
    ours.enqueue();
    backend().wait(stream());
    auto* const handle = static_cast<cudaStream_t>(stream().handle());
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaStreamBeginCapture(handle, cudaStreamCaptureModeGlobal));
    ours.enqueue();
    ASSERT_CUDA(cudaStreamEndCapture(handle, &graph));
    cudaGraphExec_t ready = nullptr;
    ASSERT_CUDA(cudaGraphInstantiate(&ready, graph, 0));
    const std::uint64_t replays = quick() ? 100 : 1000;
    for (std::uint64_t i = 1; i <= replays; ++i) {
      // From none to all, in an order that goes up and down.
      const std::vector<Record16> points = points_of(kind, i, 8 * i % 21);
      const bool outputs = i % 50 == 0;
      if (outputs) ours.poison();
      ours.set(points);
      ASSERT_CUDA(cudaGraphLaunch(ready, handle));
      serial.set(points);
      serial.enqueue();
      ours.expect_counts_of(serial);
      if (outputs) ours.expect_outputs_of(serial);
      ASSERT_FALSE(HasFatalFailure()) << "replay " << i;
    }
    ASSERT_CUDA(cudaGraphExecDestroy(ready));
    ASSERT_CUDA(cudaGraphDestroy(graph));
  }
};

class ReplayedSelects : public ReplayedGraphs {};
class ReplayedBins : public ReplayedGraphs {};

TEST_P(ReplayedSelects, FollowThePoints) {
  const auto serial = make_backend("serial");
  const auto serial_stream = serial->make_stream();
  for (const CoordinateKind kind : {CoordinateKind::kLattice, CoordinateKind::kFloat32}) {
    SCOPED_TRACE(testing::Message() << "points of kind " << static_cast<int>(kind));
    Select ours(backend(), stream(), kind);
    Select theirs(*serial, serial_stream->view(), kind);
    replay(ours, theirs, kind);
  }
}

TEST_P(ReplayedSelects, OfColumnsFollowThePoints) {
  const auto serial = make_backend("serial");
  const auto serial_stream = serial->make_stream();
  for (const CoordinateKind kind : {CoordinateKind::kLattice, CoordinateKind::kFloat32}) {
    SCOPED_TRACE(testing::Message() << "points of kind " << static_cast<int>(kind));
    SelectColumns ours(backend(), stream(), kind);
    SelectColumns theirs(*serial, serial_stream->view(), kind);
    replay(ours, theirs, kind);
  }
}

TEST_P(ReplayedBins, FollowThePoints) {
  const auto serial = make_backend("serial");
  const auto serial_stream = serial->make_stream();
  for (const CoordinateKind kind : {CoordinateKind::kLattice, CoordinateKind::kFloat32}) {
    for (const bool permutation : {true, false}) {
      const CellOrder order = kind == CoordinateKind::kLattice ? CellOrder::kRowMajor : CellOrder::kMorton;
      SCOPED_TRACE(testing::Message() << "points of kind " << static_cast<int>(kind) << ", permutation "
                                      << permutation);
      Bin ours(backend(), stream(), kind, order, permutation);
      Bin theirs(*serial, serial_stream->view(), kind, order, permutation);
      replay(ours, theirs, kind);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gpu, ReplayedSelects, testing::Values("cuda", "thrust"),
                         [](const auto& test) { return std::string(test.param); });
// The Thrust backend waits for its counts.
INSTANTIATE_TEST_SUITE_P(Gpu, ReplayedBins, testing::Values("cuda"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace sluice::test
