// SPDX-License-Identifier: Apache-2.0
/// \file
/// Positions in three arrays instead of records, on every backend. `select` with them by boxes and attributes is in
/// operations_edges_test.cpp.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sluice/core/cell_grid.hpp"
#include "sluice/core/predicate_builder.hpp"
#include "support/backend_test.hpp"
#include "support/bound_cloud.hpp"
#include "support/dirty_memory.hpp"
#include "support/predicates.hpp"
#include "support/slow_operations.hpp"

namespace sluice::test {
namespace {

using namespace sluice::kernels;

constexpr CoordinateKind kKinds[] = {CoordinateKind::kLattice, CoordinateKind::kFloat32, CoordinateKind::kFloat64};

/// A star of many corners or, for points that have the right attribute, a ball, less a drawn part.
PredicateProgram mixed_program(const Cloud& cloud) {
  const bool lattice = cloud.frame.kind == CoordinateKind::kLattice;
  const double center[2] = {lattice ? 300000.0 : 0.0, lattice ? -20.0 : 0.0};
  Polygon star;
  star.rings.emplace_back();
  for (int i = 0; i < 40; ++i) {
    const double radius = i % 2 == 0 ? 70.0 : 30.0;
    star.rings[0].push_back({center[0] + radius * std::cos(i * 0.157), center[1] + radius * std::sin(i * 0.157)});
  }
  Selection selection;
  selection.regions.emplace_back(star);
  selection.drop_zero = true;
  selection.fraction = 0.7;
  selection.seed = 3;
  PredicateProgram out = build_predicate(selection, Schema{}, cloud.frame);
  out.ops.push_back(real_op(Code::kSphere, {center[0], center[1], 0.0, 2500.0}));
  out.ops.push_back(compare_op(column_operand(0), Comparison::kLess, constant_operand(Value::of_signed(3))));
  out.ops.push_back(op_of(Code::kAnd));
  out.ops.push_back(op_of(Code::kOr));
  out.columns = {"attribute"};
  out.needs_world = lattice;
  return out;
}

/// Everything within a box that has some points of every scene.
PredicateProgram box_program(const Cloud& cloud) {
  PredicateProgram out;
  if (cloud.frame.kind == CoordinateKind::kLattice) {
    out.ops = {lattice_box({-3000, -4000, -50000, 4000, 5000, 40000})};
  } else {
    out.ops = {real_op(Code::kWorldBox, {-30.0, -40.0, -50.0, 40.0, 50.0, 40.0})};
  }
  return out;
}

CellGrid grid_of(const Cloud& cloud, double size, bool use_z) {
  GridSpec spec;
  std::fill_n(spec.size, 3, size);
  spec.use_z = use_z;
  return make_cell_grid(spec, cloud.frame);
}

/// What `reduce_cells` gives.
struct Reduced {
  ReduceResult result;
  std::vector<std::uint32_t> kept;
  std::vector<std::byte> centroids;
  std::vector<std::uint32_t> permutation, cell_first, cell;
};

class OperationsOnColumns : public BackendTest {
 protected:
  void SetUp() override {
    BackendTest::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) memory_.emplace(backend(), stream());
  }
  [[nodiscard]] Operations& operations() { return backend().operations(); }

  /// Bins columns with no more scratch than is asked for.
  Binned run_bin(const Cloud& cloud, const PredicateProgram& program, const BinSpec& spec, bool enqueue) {
    const std::uint64_t n = cloud.count;
    const BoundCloud bound(backend(), stream(), cloud, Layout::kColumns, 1);
    const auto predicate = operations().prepare(program);
    const auto permutation = room<std::uint32_t>(n);
    const auto keys = room<std::uint64_t>(n);
    const auto first = room<std::uint32_t>(n);
    const BinOutputs outputs{permutation.data(), keys.data(), first.data()};
    Workspace workspace(*memory_, operations().bin_scratch(spec, n));
    Binned out;
    if (enqueue) {
      const auto counts = room<BinCounts>(1);
      operations().enqueue_bin(*predicate, spec, bound.input(), outputs, counts.data(), workspace, stream());
      out.counts = counts.get()[0];
      out.layout = make_key_layout(spec.order, spec.grid.use_z, spec.range->min, spec.range->max);
    } else {
      const BinResult result = operations().bin(*predicate, spec, bound.input(), outputs, workspace, stream());
      out.counts = BinCounts{result.counts, result.cells, 0};
      out.layout = result.layout;
    }
    EXPECT_EQ(workspace.used(), 0U);
    out.permutation = permutation.get(out.counts.counts.kept);
    out.keys = keys.get(out.counts.cells);
    out.first = first.get(out.counts.cells);
    return out;
  }

  Reduced run_reduce(const Cloud& cloud, Layout layout, const PredicateProgram& program, const ReduceSpec& spec) {
    const std::uint64_t n = cloud.count;
    const BoundCloud bound(backend(), stream(), cloud, layout, 1);
    const auto predicate = operations().prepare(program);
    const auto kept = room<std::uint32_t>(n);
    const std::uint64_t bytes = cloud.frame.kind == CoordinateKind::kLattice ? sizeof(Record16) : sizeof(Record32);
    const auto centroids = room<std::byte>(n * bytes);
    const auto permutation = room<std::uint32_t>(n);
    const auto cell_first = room<std::uint32_t>(n + 1);
    const auto cell = room<std::uint32_t>(n);
    const ReduceOutputs outputs{kept.data(), centroids.data(), permutation.data(), cell_first.data(), cell.data()};
    Workspace workspace(*memory_, operations().reduce_cells_scratch(spec, n));
    Reduced out;
    out.result = operations().reduce_cells(*predicate, spec, bound.input(), outputs, workspace, stream());
    out.kept = kept.get(out.result.kept);
    if (spec.policy == KeepPolicy::kCentroid && out.result.kept != 0) {
      out.centroids = centroids.get(out.result.kept * bytes);
      out.permutation = permutation.get(out.result.counts.kept);
      out.cell_first = cell_first.get(out.result.cells + 1);
      out.cell = cell.get(out.result.kept);
    }
    return out;
  }

  [[nodiscard]] static std::vector<std::uint64_t> sizes() {
    if (quick()) return {0, 1, 2561};
    return {0, 1, 33, 4097, 40001};
  }

  std::optional<DirtyMemory> memory_;
};

TEST_P(OperationsOnColumns, SelectByPolygonsAndAttributes) {
  for (const std::uint64_t n : sizes()) {
    for (const CoordinateKind kind : kKinds) {
      const Cloud cloud = cloud_of(kind, Scene::kScattered, n);
      const PredicateProgram program = mixed_program(cloud);
      const Oracle expected = select_slowly(cloud, program);
      SCOPED_TRACE(testing::Message() << n << " points of kind " << static_cast<int>(kind));
      const BoundCloud bound(backend(), stream(), cloud, Layout::kColumns, 3);
      const auto predicate = operations().prepare(program);
      const std::uint64_t bytes = coordinate_bytes(cloud);
      const auto x = room<std::byte>(n * bytes, bytes);
      const auto z = room<std::byte>(n * bytes);
      const auto counts = room<SelectCounts>(1);
      SelectOutputs outputs;
      outputs.counts = counts.data();
      outputs.coordinates[0] = x.data();
      outputs.coordinates[2] = z.data();
      Workspace workspace(*memory_, operations().select_scratch(n));
      operations().select(*predicate, bound.input(), outputs, workspace, stream());
      expect_equal(counts.get()[0], expected.counts);
      EXPECT_TRUE(x.get(expected.kept.size() * bytes) == coordinates_of(cloud, 0, expected.kept));
      EXPECT_TRUE(z.get(expected.kept.size() * bytes) == coordinates_of(cloud, 2, expected.kept));
      if (n > 1000) {
        EXPECT_GT(expected.counts.kept, n / 10);
        EXPECT_LT(expected.counts.kept, n / 2);
      }
    }
  }
}

TEST_P(OperationsOnColumns, BinOrdersByKeyAndThenByIndex) {
  for (const std::uint64_t n : sizes()) {
    for (const CoordinateKind kind : kKinds) {
      const Cloud cloud = cloud_of(kind, n % 2 == 0 ? Scene::kOnFaces : Scene::kScattered, n);
      for (const PredicateProgram& program : {box_program(cloud), mixed_program(cloud)}) {
        for (const CellOrder order : {CellOrder::kRowMajor, CellOrder::kMorton}) {
          SCOPED_TRACE(testing::Message() << n << " points of kind " << static_cast<int>(kind) << ", order "
                                          << static_cast<int>(order) << ", " << program.ops.size() << " operations");
          BinSpec spec;
          spec.grid = grid_of(cloud, 1.5, true);
          spec.order = order;
          Binned expected = bin_slowly(cloud, program, spec);
          expected.records.clear();
          expect_equal(run_bin(cloud, program, spec, false), expected);
          // A range that leaves some out.
          spec.range = occupied_range(cloud, program, spec.grid);
          if (spec.range->min[0] < spec.range->max[0]) ++spec.range->min[0];
          expected = bin_slowly(cloud, program, spec);
          expected.records.clear();
          expect_equal(run_bin(cloud, program, spec, true), expected);
        }
      }
    }
  }
}

void expect_same(const Reduced& a, const Reduced& b) {
  expect_equal(a.result.counts, b.result.counts);
  EXPECT_EQ(a.result.cells, b.result.cells);
  EXPECT_TRUE(a.kept == b.kept);
  EXPECT_TRUE(a.centroids == b.centroids);
  EXPECT_TRUE(a.permutation == b.permutation);
  EXPECT_TRUE(a.cell_first == b.cell_first);
  EXPECT_TRUE(a.cell == b.cell);
}

TEST_P(OperationsOnColumns, ReduceCellsKeepsWhatItKeepsOfRecords) {
  for (const std::uint64_t n : sizes()) {
    for (const CoordinateKind kind : kKinds) {
      const Cloud cloud = cloud_of(kind, n % 2 == 0 ? Scene::kScan : Scene::kScattered, n);
      for (const PredicateProgram& program : {box_program(cloud), mixed_program(cloud)}) {
        for (const KeepPolicy policy :
             {KeepPolicy::kFirst, KeepPolicy::kCenter, KeepPolicy::kCentroid, KeepPolicy::kNearestCentroid,
              KeepPolicy::kLowest, KeepPolicy::kHighest, KeepPolicy::kRandom}) {
          SCOPED_TRACE(testing::Message() << n << " points of kind " << static_cast<int>(kind) << ", policy "
                                          << static_cast<int>(policy) << ", " << program.ops.size() << " operations");
          ReduceSpec spec;
          spec.grid = grid_of(cloud, 12.0, true);
          spec.policy = policy;
          spec.max_per_cell = policy == KeepPolicy::kLowest ? 3 : 1;
          spec.seed = 5;
          expect_same(run_reduce(cloud, Layout::kColumns, program, spec),
                      run_reduce(cloud, Layout::kPacked, program, spec));
        }
      }
    }
  }
}

// Beyond 4 M points a GPU with much shared memory takes other shapes of tiles.
TEST_P(OperationsOnColumns, CentroidsOfMillionsOfPoints) {
  if (quick() || !backend().is_device()) GTEST_SKIP() << "takes long, and the host has no such shapes";
  const Cloud cloud = cloud_of(CoordinateKind::kLattice, Scene::kScattered, (std::uint64_t{4} << 20) + 12345);
  ReduceSpec spec;
  spec.grid = grid_of(cloud, 12.0, true);
  spec.policy = KeepPolicy::kCentroid;
  const PredicateProgram program = box_program(cloud);
  const Reduced found = run_reduce(cloud, Layout::kColumns, program, spec);
  EXPECT_GT(found.result.counts.kept, cloud.count / 100);
  expect_same(found, run_reduce(cloud, Layout::kPacked, program, spec));
}

TEST_P(OperationsOnColumns, HaveNoRecords) {
  const Cloud cloud = cloud_of(CoordinateKind::kFloat32, Scene::kOneCell, 10);
  const BoundCloud bound(backend(), stream(), cloud, Layout::kColumns);
  const auto records = room<Record16>(10);
  const auto all = operations().prepare(PredicateProgram{});
  SelectOutputs selected;
  selected.records = records.data();
  Workspace select_workspace(backend().memory(), operations().select_scratch(10));
  EXPECT_THROW(operations().select(*all, bound.input(), selected, select_workspace, stream()), InvalidArgument);
  BinSpec spec;
  spec.grid = grid_of(cloud, 1.0, true);
  BinOutputs binned;
  binned.records = records.data();
  Workspace bin_workspace(backend().memory(), operations().bin_scratch(spec, 10));
  EXPECT_THROW(operations().bin(*all, spec, bound.input(), binned, bin_workspace, stream()), InvalidArgument);
}

TEST_P(OperationsOnColumns, DevicesRefuseWhatIsNotAligned) {
  if (!backend().is_device()) GTEST_SKIP() << "the host takes positions anywhere";
  for (const CoordinateKind kind : kKinds) {
    const Cloud cloud = cloud_of(kind, Scene::kOneCell, 10);
    const BoundCloud bound(backend(), stream(), cloud, Layout::kColumns);
    const auto out = room<double>(11);
    const auto all = operations().prepare(PredicateProgram{});
    Workspace workspace(backend().memory(), operations().select_scratch(10));
    const auto half = static_cast<std::ptrdiff_t>(coordinate_bytes(cloud) / 2);
    for (const int axis : {0, 1, 2}) {
      PointInput beside = bound.input();
      beside.count = 9;
      const std::byte** const columns[3] = {&beside.positions.x, &beside.positions.y, &beside.positions.z};
      *columns[axis] += half;
      EXPECT_THROW(operations().select(*all, beside, {}, workspace, stream()), InvalidArgument);
      SelectOutputs outputs;
      outputs.coordinates[axis] = reinterpret_cast<std::byte*>(out.data()) + half;
      EXPECT_THROW(operations().select(*all, bound.input(), outputs, workspace, stream()), InvalidArgument);
    }
    PointInput apart = bound.input();
    apart.positions.stride += coordinate_bytes(cloud);
    apart.count = 5;
    EXPECT_THROW(operations().select(*all, apart, {}, workspace, stream()), InvalidArgument);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, OperationsOnColumns, testing::Values("serial", "cpu", "cuda", "thrust"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace sluice::test
