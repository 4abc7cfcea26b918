// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the host backends promise beyond the common suite: positions anywhere in whole records, every shape of
/// predicate through the tiled evaluator, grids of every kind of division, and the same results from any number of
/// threads.
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sluice/core/polygon_bands.hpp"
#include "sluice/core/random.hpp"
#include "support/backend_test.hpp"
#include "support/predicates.hpp"

namespace sluice::test {
namespace {

using namespace sluice::kernels;

constexpr std::uint64_t kFirstIndex = 77;

/// Records of an odd length at an odd address: x, y, z from byte 5 on, fields of every type behind them.
class Records {
 public:
  static constexpr std::uint64_t kStride = 79;

  Records(CoordinateKind kind, std::uint64_t count) : count_(count), bytes_(count * kStride + 1) {
    frame_.kind = kind;
    const std::uint32_t step = kind == CoordinateKind::kFloat64 ? 8 : 4;
    for (std::uint32_t d = 0; d < 3; ++d) frame_.at[d] = 5 + d * step;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::byte* at = bytes_.data() + 1 + i * kStride;
      for (std::uint64_t k = 0; k < kStride; ++k) at[k] = static_cast<std::byte>(counter_random(1, i * kStride + k));
      for (std::uint32_t d = 0; d < 3; ++d) {
        const std::uint64_t r = counter_random(2 + d, i);
        const auto raw = static_cast<std::int32_t>(r % 4001) - 2000;
        if (kind == CoordinateKind::kLattice) store_unaligned(at + frame_.at[d], raw);
        if (kind == CoordinateKind::kFloat32) store_unaligned(at + frame_.at[d], static_cast<float>(raw) * 0.01F);
        if (kind == CoordinateKind::kFloat64) store_unaligned(at + frame_.at[d], raw * 0.01);
      }
      if (kind == CoordinateKind::kFloat32 && i % 37 == 5) store_unaligned(at + frame_.at[1], HUGE_VALF);
      if (kind == CoordinateKind::kFloat64 && i % 41 == 7) store_unaligned(at + frame_.at[2], std::nan(""));
    }
    if (kind == CoordinateKind::kLattice) std::fill_n(frame_.scale, 3, 0.01);
    // One column of each type, and two ranges of bits.
    std::uint32_t at = 30;
    for (const FieldType type : kTypes) {
      columns_.push_back(Column{bytes_.data() + 1 + at, kStride, type, 0, 0});
      at += field_bytes(type);
    }
    columns_.push_back(Column{bytes_.data() + 31, kStride, FieldType::kUint8, 3, 4});
    columns_.push_back(Column{bytes_.data() + 31, kStride, FieldType::kUint32, 5, 19});
  }

  [[nodiscard]] PointInput input() const {
    PointInput out;
    out.positions = frame_.positions(bytes_.data() + 1, kStride);
    out.columns = columns_.data();
    out.column_count = static_cast<std::uint32_t>(columns_.size());
    out.count = count_;
    out.first_index = kFirstIndex;
    return out;
  }
  [[nodiscard]] std::byte* position(std::uint64_t i, int d) { return bytes_.data() + 1 + i * kStride + frame_.at[d]; }
  [[nodiscard]] CoordinateFrame& frame() { return frame_; }
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }

  static constexpr FieldType kTypes[] = {FieldType::kInt8,    FieldType::kUint8,  FieldType::kInt16, FieldType::kUint16,
                                         FieldType::kInt32,   FieldType::kUint32, FieldType::kInt64, FieldType::kUint64,
                                         FieldType::kFloat32, FieldType::kFloat64};

 private:
  std::uint64_t count_;
  std::vector<std::byte> bytes_;
  CoordinateFrame frame_;
  std::vector<Column> columns_;
};

class HostOperations : public BackendTest {
 protected:
  /// Compares `select` with the evaluator point by point.
  void check_select(const Records& records, const PredicateProgram& program) {
    const PointInput input = records.input();
    const PredicateView view = program.view(records.columns().data());
    std::vector<std::uint8_t> expected;
    std::vector<std::uint32_t> expected_kept;
    for (std::uint64_t i = 0; i < input.count; ++i) {
      const Verdict verdict = evaluate(view, input.positions, i, kFirstIndex + i);
      expected.push_back(static_cast<std::uint8_t>(verdict));
      if (verdict == Verdict::kKept) expected_kept.push_back(static_cast<std::uint32_t>(i));
    }
    const auto predicate = backend().operations().prepare(program);
    const auto kept = room<std::uint32_t>(input.count);
    const auto verdicts = room<std::uint8_t>(input.count);
    const std::uint64_t bytes = input.positions.coordinate_bytes();
    const auto y = room<std::byte>(input.count * bytes);
    SelectOutputs outputs;
    outputs.kept = kept.data();
    outputs.verdicts = verdicts.data();
    outputs.coordinates[1] = y.data();
    Workspace workspace(backend().memory(), backend().operations().select_scratch(input.count));
    backend().operations().select(*predicate, input, outputs, workspace, stream());
    ASSERT_TRUE(verdicts.get() == expected);
    ASSERT_TRUE(kept.get(expected_kept.size()) == expected_kept);
    std::vector<std::byte> expected_y;
    for (const std::uint32_t i : expected_kept) {
      const std::byte* at = input.positions.y + i * input.positions.stride;
      expected_y.insert(expected_y.end(), at, at + bytes);
    }
    ASSERT_TRUE(y.get(expected_y.size()) == expected_y);
  }

  /// Compares `bin` of all points with a stable sort of the keys of their cells.
  void check_bin(const PointInput& input, const CellGrid& grid, CellOrder order) {
    std::vector<std::tuple<std::uint64_t, std::uint32_t>> expected;
    std::int64_t low[3] = {INT64_MAX, INT64_MAX, INT64_MAX};
    std::int64_t high[3] = {INT64_MIN, INT64_MIN, INT64_MIN};
    for (int pass = 0; pass < 2; ++pass) {
      for (std::uint64_t i = 0; i < input.count; ++i) {
        std::int64_t cell[3];
        ASSERT_TRUE(cell_of(grid, load_position(input.positions, i), cell));
        for (int d = 0; d < 3 && pass == 0; ++d) {
          low[d] = std::min(low[d], cell[d]);
          high[d] = std::max(high[d], cell[d]);
        }
        if (pass == 1) {
          expected.emplace_back(key_of(make_key_layout(order, grid.use_z, low, high), cell),
                                static_cast<std::uint32_t>(i));
        }
      }
    }
    std::sort(expected.begin(), expected.end());
    BinSpec spec;
    spec.grid = grid;
    spec.order = order;
    const auto permutation = room<std::uint32_t>(input.count);
    const auto keys = room<std::uint64_t>(input.count);
    const auto first = room<std::uint32_t>(input.count);
    Workspace workspace(backend().memory(), backend().operations().bin_scratch(spec, input.count));
    const auto predicate = backend().operations().prepare(PredicateProgram{});
    const BinResult result = backend().operations().bin(
        *predicate, spec, input, BinOutputs{permutation.data(), keys.data(), first.data()}, workspace, stream());
    ASSERT_EQ(result.counts.kept, input.count);
    const std::vector<std::uint32_t> order_found = permutation.get();
    const std::vector<std::uint64_t> keys_found = keys.get(result.cells);
    const std::vector<std::uint32_t> first_found = first.get(result.cells);
    std::uint64_t cells = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto [key, index] = expected[i];
      ASSERT_EQ(order_found[i], index) << i;
      if (i == 0 || key != std::get<0>(expected[i - 1])) {
        ASSERT_LT(cells, result.cells);
        ASSERT_EQ(keys_found[cells], key);
        ASSERT_EQ(first_found[cells], i);
        ++cells;
      }
    }
    EXPECT_EQ(result.cells, cells);
  }
};

PredicateProgram program_of(std::vector<PredicateOp> ops) {
  PredicateProgram out;
  out.ops = std::move(ops);
  return out;
}

// Comparisons of integers with constants become ranges and tables for a whole call; every type, every comparison and
// every kind of bound must decide as the evaluator does, on either side of its boundaries.
TEST_P(HostOperations, ComparisonsOfColumnsAreExact) {
  const Records records(CoordinateKind::kLattice, 1100);
  const double infinity = std::numeric_limits<double>::infinity();
  for (std::uint32_t slot = 0; slot < records.columns().size(); ++slot) {
    std::vector<Value> bounds;
    for (const double r :
         {0.0,     -0.0,   0.5,     -0.5,    3.0,      127.0,        127.5,         128.0,        -128.0,
          -129.0,  255.0,  65535.0, 65535.5, -32768.0, 2147483648.0, -2147483648.5, 4294967295.0, 9.2e18,
          -9.3e18, 1.8e19, 1.9e19,  1e300,   infinity, -infinity,    std::nan("")}) {
      bounds.push_back(Value::of_real(r));
    }
    for (const std::int64_t i :
         {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), std::int64_t{-1},
          std::int64_t{0}, std::int64_t{15}, std::int64_t{255}, std::int64_t{256}, std::int64_t{524287}}) {
      bounds.push_back(Value::of_signed(i));
      bounds.push_back(Value::of_unsigned(static_cast<std::uint64_t>(i)));
    }
    for (std::uint64_t row = 0; row < 4; ++row) bounds.push_back(records.columns()[slot].at(row));  // values that occur
    for (const Value& bound : bounds) {
      for (int c = 0; c < 6; ++c) {
        for (const bool constant_first : {false, true}) {
          SCOPED_TRACE(testing::Message()
                       << "column " << slot << ", comparison " << c << ", bound " << bound.as_real());
          Operand sides[2] = {column_operand(slot), constant_operand(bound)};
          if (constant_first) std::swap(sides[0], sides[1]);
          PredicateProgram program = program_of({compare_op(sides[0], static_cast<Comparison>(c), sides[1])});
          program.columns.resize(records.columns().size());
          check_select(records, program);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(HostOperations, ComparisonsOfAxesAndSetsAreExact) {
  const Records records(CoordinateKind::kLattice, 1100);
  for (std::uint32_t axis = 0; axis < 3; ++axis) {
    for (const double bound : {-2000.0, -1999.5, 0.0, 17.0, 2000.0, 2001.0, -1e300, 1e300}) {
      for (int c = 0; c < 6; ++c) {
        SCOPED_TRACE(testing::Message() << "axis " << axis << ", comparison " << c << ", bound " << bound);
        check_select(records,
                     program_of({compare_op(axis_operand(Operand::Kind::kRawAxis, axis), static_cast<Comparison>(c),
                                            constant_operand(Value::of_real(bound)))}));
        PredicateProgram world =
            program_of({compare_op(axis_operand(Operand::Kind::kWorldAxis, axis), static_cast<Comparison>(c),
                                   constant_operand(Value::of_real(bound * 0.01)))});
        world.needs_world = true;
        check_select(records, world);
      }
    }
  }
  for (std::uint32_t slot = 0; slot < records.columns().size(); ++slot) {
    SCOPED_TRACE(slot);
    PredicateProgram program;
    program.columns.resize(records.columns().size());
    program.values = {Value::of_signed(-5), Value::of_real(2.5), Value::of_unsigned(3), Value::of_signed(12),
                      Value::of_real(200.0)};
    PredicateOp op = op_of(Code::kInSet);
    op.operands[0] = column_operand(slot);
    op.count = static_cast<std::uint32_t>(program.values.size());
    program.ops = {op, op_of(Code::kNot)};
    check_select(records, program);
  }
}

/// One operation of every kind that reads world coordinates, around the points of `Records`.
std::vector<PredicateOp> world_ops() {
  PredicateOp wide = azimuth_op(1.0, 2.0, 100.0, 20.0);
  return {real_op(Code::kOrientedBox, {1, 2, 3, 0.8, 0.6, 0, -0.6, 0.8, 0, 0, 0, 1, 9, 7, 11}),
          real_op(Code::kSphere, {1, 2, 3, 200}),
          real_op(Code::kDisc, {1, 2, 150}),
          real_op(Code::kRing, {0, 0, 0, 50, 250}),
          real_op(Code::kHalfSpace, {0.5, -0.25, 1, 2}),
          azimuth_op(1.0, 2.0, 30.0, 80.0),
          azimuth_op(1.0, 2.0, 350.0, 120.0),
          wide,
          real_op(Code::kElevation, {0, 0, 0, 0.8, -0.6, 0.8, 0.6}),
          compare_op(axis_operand(Operand::Kind::kWorldAxis, 2), Comparison::kLess,
                     axis_operand(Operand::Kind::kWorldAxis, 0))};
}

TEST_P(HostOperations, EveryOperationDecidesAsTheEvaluator) {
  for (const CoordinateKind kind : {CoordinateKind::kLattice, CoordinateKind::kFloat32, CoordinateKind::kFloat64}) {
    for (const std::uint64_t n : {1U, 511U, 512U, 513U, 40000U}) {
      const Records records(kind, n);
      for (const PredicateOp& op : world_ops()) {
        SCOPED_TRACE(testing::Message() << n << " points of kind " << static_cast<int>(kind) << ", operation "
                                        << static_cast<int>(op.code));
        PredicateProgram program = program_of({op});
        program.needs_world = kind == CoordinateKind::kLattice;
        check_select(records, program);
        program.ops.push_back(op_of(Code::kNot));
        program.drop_zero = true;
        check_select(records, program);
      }
      PredicateProgram polygons;
      PredicateOp polygon = op_of(kind == CoordinateKind::kLattice ? Code::kLatticePolygon : Code::kWorldPolygon);
      std::vector<std::pair<double, double>> ring;  // enough corners for several bands
      std::vector<std::pair<std::int64_t, std::int64_t>> lattice_ring;
      for (int i = 0; i < 40; ++i) {
        const double radius = i % 2 == 0 ? 18.0 : 11.0;
        ring.emplace_back(radius * std::cos(i * 0.157), radius * std::sin(i * 0.157));
        lattice_ring.emplace_back(std::llround(100 * ring.back().first), std::llround(100 * ring.back().second));
      }
      if (kind == CoordinateKind::kLattice) {
        std::vector<LatticeEdge> edges;
        add_ring(edges, lattice_ring);
        polygon.integers[0] = 1;
        polygon.integers[2] = 1;
        add_edges(polygons, polygon, edges);
      } else {
        std::vector<WorldEdge> edges;
        add_ring(edges, ring);
        add_edges(polygons, polygon, edges);
      }
      polygons.ops = {polygon};
      check_select(records, polygons);
      if (kind != CoordinateKind::kLattice) {
        check_select(records, program_of({real_op(Code::kWorldBox, {-10, -5, -3, 10, 15, 7.5})}));
      } else {
        const std::int64_t far = std::int64_t{1} << 40;
        check_select(records, program_of({lattice_box({-1000, -500, -far, 1000, 1500, 750})}));
        check_select(records, program_of({lattice_box({5, 5, 5, 4, 9, 9})}));
        check_select(records, program_of({lattice_box({-far, far, -far, far, far, far})}));
      }
    }
  }
}

TEST_P(HostOperations, ProgramsOfAnyShapeDecideAsTheEvaluator) {
  const std::uint64_t n = 1500;
  for (const CoordinateKind kind : {CoordinateKind::kLattice, CoordinateKind::kFloat64}) {
    const Records records(kind, n);
    const std::vector<PredicateOp> leaves = world_ops();
    for (std::uint64_t round = 0; round < 60; ++round) {
      PredicateProgram program;
      program.needs_world = kind == CoordinateKind::kLattice;
      program.columns.resize(records.columns().size());
      // A random expression; some rounds pile up more truth values than a tile has room for.
      const std::uint64_t most = round % 6 == 0 ? 40 : 5;
      std::uint64_t depth = 0;
      for (std::uint64_t step = 0; step < 60; ++step) {
        const std::uint64_t r = counter_random(round, step);
        if (depth < 2 || (depth < most && r % 2 == 0)) {
          if (r % 5 == 0) {
            program.ops.push_back(compare_op(column_operand(static_cast<std::uint32_t>(r / 8 % 12)),
                                             static_cast<Comparison>(r / 128 % 6),
                                             constant_operand(Value::of_real(static_cast<double>(r / 1024 % 300)))));
          } else if (r % 5 == 1) {
            PredicateOp share = op_of(Code::kFraction);
            share.integers[0] = static_cast<std::int64_t>(r);
            share.integers[1] = static_cast<std::int64_t>(step);
            program.ops.push_back(share);
          } else {
            program.ops.push_back(leaves[r / 8 % leaves.size()]);
          }
          ++depth;
        } else if (r % 7 == 3) {
          program.ops.push_back(op_of(Code::kNot));
        } else {
          program.ops.push_back(op_of(r % 3 == 0 ? Code::kOr : Code::kAnd));
          --depth;
        }
      }
      SCOPED_TRACE(round);
      check_select(records, program);
      // What is left below the last truth value does not matter; the whole as one does not either.
      while (depth-- > 1) program.ops.push_back(op_of(Code::kOr));
      check_select(records, program);
    }
  }
}

TEST_P(HostOperations, BinsEveryKindOfGrid) {
  struct Case {
    double scale, size;
    std::int32_t spread;
  };
  const Case cases[] = {
      {0.01, 0.1, 5000},                            // small exact numbers
      {0.001, 7.3, 2000000000},                     // all of int32
      {-0.01, 0.25, 5000},                          // cells fall as numbers rise
      {7.13160261843867e-08, 0.01, 2000000000},     // 128 bits
      {-7.13160261843867e-08, 1.0, 2000000000},     //
      {7.13160261843867e-08, 1.0 / 3.0, 20000000},  //
      {1.0, 0.0001, 100},                           // many cells between points
      {1e-7, 1e-3, 1000000},
  };
  for (const Case& one : cases) {
    for (const bool use_z : {true, false}) {
      Records records(CoordinateKind::kLattice, 40000);
      for (std::uint64_t i = 0; i < 40000; ++i) {
        for (int d = 0; d < 3; ++d) {
          const auto r = static_cast<std::int64_t>(counter_random(30 + static_cast<std::uint64_t>(d), i) >> 1);
          store_unaligned(records.position(i, d),
                          static_cast<std::int32_t>(r % (2 * std::int64_t{one.spread} + 1) - one.spread));
        }
      }
      std::fill_n(records.frame().scale, 3, one.scale);
      records.frame().offset[1] = -0.5;
      GridSpec spec;
      std::fill_n(spec.size, 3, one.size);
      spec.size[2] = one.size * 64;
      spec.use_z = use_z;
      const CellGrid grid = make_cell_grid(spec, records.frame());
      for (const CellOrder order : {CellOrder::kRowMajor, CellOrder::kMorton}) {
        SCOPED_TRACE(testing::Message() << "scale " << one.scale << ", size " << one.size << ", z " << use_z);
        check_bin(records.input(), grid, order);
      }
    }
  }
}

TEST_P(HostOperations, BinsFloatsFarFromZero) {
  Records records(CoordinateKind::kFloat64, 40000);
  for (const double center : {0.0, -3e9, 1e15}) {
    for (std::uint64_t i = 0; i < 40000; ++i) {
      for (int d = 0; d < 3; ++d) {
        const double unit = static_cast<double>(counter_random(40 + static_cast<std::uint64_t>(d), i) >> 11) * 0x1p-53;
        store_unaligned(records.position(i, d), center + std::floor((unit - 0.5) * 4000.0) * 0.25);
      }
    }
    GridSpec spec;
    std::fill_n(spec.size, 3, 0.5);
    SCOPED_TRACE(center);
    check_bin(records.input(), make_cell_grid(spec, records.frame()), CellOrder::kRowMajor);
    check_bin(records.input(), make_cell_grid(spec, records.frame()), CellOrder::kHilbert);
  }
}

// All points kept, keys of more than 32 bits, several points a cell: the largest need of scratch there is.
TEST_P(HostOperations, ScratchIsEnoughWhereAllIsKept) {
  for (const CoordinateKind kind : {CoordinateKind::kLattice, CoordinateKind::kFloat64}) {
    for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{70000}}) {
      Records records(kind, n);
      for (std::uint64_t i = 0; i < n && kind == CoordinateKind::kFloat64; ++i) {
        for (int d = 0; d < 3; ++d) store_unaligned(records.position(i, d), static_cast<double>(i / 5 + 1) * 0.01);
      }
      GridSpec grid;
      std::fill_n(grid.size, 3, 1e-4);
      for (int policy = 0; policy <= static_cast<int>(KeepPolicy::kRandom); ++policy) {
        for (const std::uint32_t most : {1U, 4U}) {
          ReduceSpec spec;
          spec.grid = make_cell_grid(grid, records.frame());
          spec.policy = static_cast<KeepPolicy>(policy);
          if (spec.policy == KeepPolicy::kCentroid && most != 1) continue;
          spec.max_per_cell = most;
          const auto kept = room<std::uint32_t>(n);
          const auto centroids = room<Record32>(n);
          ReduceOutputs outputs;
          outputs.kept = kept.data();
          outputs.centroids = centroids.data();
          Workspace workspace(backend().memory(), backend().operations().reduce_cells_scratch(spec, n));
          const auto predicate = backend().operations().prepare(PredicateProgram{});
          const ReduceResult result =
              backend().operations().reduce_cells(*predicate, spec, records.input(), outputs, workspace, stream());
          EXPECT_EQ(result.counts.kept, n);
          EXPECT_LE(result.kept, n);
          EXPECT_EQ(workspace.used(), 0U);
        }
      }
    }
  }
}

TEST_P(HostOperations, HeightsFollowTheSignOfTheScale) {
  Records records(CoordinateKind::kLattice, 3);
  for (std::uint64_t i = 0; i < 3; ++i) {
    for (int d = 0; d < 3; ++d) store_unaligned(records.position(i, d), std::int32_t{0});
  }
  store_unaligned(records.position(0, 2), std::numeric_limits<std::int32_t>::min());
  store_unaligned(records.position(1, 2), std::numeric_limits<std::int32_t>::max());
  for (const double scale : {0.5, -0.5}) {
    std::fill_n(records.frame().scale, 3, scale);
    GridSpec grid;
    grid.use_z = false;
    for (const KeepPolicy policy : {KeepPolicy::kLowest, KeepPolicy::kHighest}) {
      ReduceSpec spec;
      spec.grid = make_cell_grid(grid, records.frame());
      spec.policy = policy;
      const auto kept = room<std::uint32_t>(3);
      ReduceOutputs outputs;
      outputs.kept = kept.data();
      Workspace workspace(backend().memory(), backend().operations().reduce_cells_scratch(spec, 3));
      const auto predicate = backend().operations().prepare(PredicateProgram{});
      const ReduceResult result =
          backend().operations().reduce_cells(*predicate, spec, records.input(), outputs, workspace, stream());
      ASSERT_EQ(result.kept, 1U);
      EXPECT_EQ(kept.get(1)[0], (policy == KeepPolicy::kLowest) == (scale > 0.0) ? 0U : 1U);
    }
  }
}

/// All outputs of all operations over one input, as one string of bytes.
std::vector<std::byte> outputs_of(Backend& backend, StreamView stream, const PointInput& input,
                                  const PredicateProgram& program, const CellGrid& grid,
                                  std::uint32_t max_per_cell = 2) {
  std::vector<std::byte> out;
  const auto add = [&]<typename T>(const std::vector<T>& values) {
    const auto* at = reinterpret_cast<const std::byte*>(values.data());
    out.insert(out.end(), at, at + values.size() * sizeof(T));
  };
  const auto predicate = backend.operations().prepare(program);
  const std::uint64_t n = input.count;
  {
    const BackendArray<std::uint32_t> kept(backend, stream, n);
    const BackendArray<std::uint32_t> rejected(backend, stream, n);
    const BackendArray<SelectCounts> counts(backend, stream, std::uint64_t{1});
    Workspace workspace(backend.memory(), backend.operations().select_scratch(n));
    SelectOutputs outputs;
    outputs.kept = kept.data();
    outputs.rejected = rejected.data();
    outputs.counts = counts.data();
    backend.operations().select(*predicate, input, outputs, workspace, stream);
    add(kept.get(counts.get()[0].kept));
    add(rejected.get(counts.get()[0].rejected));
  }
  for (int policy = 0; policy <= static_cast<int>(KeepPolicy::kRandom); ++policy) {
    ReduceSpec spec;
    spec.grid = grid;
    spec.policy = static_cast<KeepPolicy>(policy);
    const bool centroid = spec.policy == KeepPolicy::kCentroid;
    spec.max_per_cell = centroid ? 1 : max_per_cell;
    const BackendArray<std::uint32_t> kept(backend, stream, n);
    const BackendArray<std::byte> centroids(backend, stream, 32 * n);
    Workspace workspace(backend.memory(), backend.operations().reduce_cells_scratch(spec, n));
    ReduceOutputs outputs;
    outputs.kept = kept.data();
    outputs.centroids = centroids.data();
    const ReduceResult result = backend.operations().reduce_cells(*predicate, spec, input, outputs, workspace, stream);
    add(kept.get(result.kept));
    const std::uint64_t bytes = input.positions.kind == CoordinateKind::kLattice ? 16 : 32;
    if (centroid) add(centroids.get(bytes * result.kept));
  }
  return out;
}

TEST_P(HostOperations, ThreadsChangeNothing) {
  const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, 8);
  const std::uint64_t n = quick() ? 40000 : 300000;
  for (const CoordinateKind kind : {CoordinateKind::kLattice, CoordinateKind::kFloat32}) {
    Records records(kind, n);
    GridSpec grid;
    std::fill_n(grid.size, 3, 1.7);
    PredicateProgram program = program_of({real_op(Code::kSphere, {1, 2, 3, 600})});
    program.needs_world = kind == CoordinateKind::kLattice;
    const CellGrid cells = make_cell_grid(grid, records.frame());
    std::vector<std::byte> alone;
    for (const int threads : {1, 2, 8}) {
      tbb::task_arena arena(threads);
      arena.execute([&] {
        const std::vector<std::byte> found = outputs_of(backend(), stream(), records.input(), program, cells);
        if (threads == 1) alone = found;
        EXPECT_TRUE(found == alone) << threads << " threads";
      });
    }
    // And nothing that the oracle would not have said.
    const auto oracle = make_backend("serial");
    const auto oracle_stream = oracle->make_stream();
    EXPECT_TRUE(outputs_of(*oracle, oracle_stream->view(), records.input(), program, cells) == alone);
  }
}

/// Where the points of a line lie, as the number of a cell below `cells`.
std::vector<std::function<std::uint64_t(std::uint64_t, std::uint64_t, std::uint64_t)>> orders_on_a_line() {
  const auto rising = [](std::uint64_t i, std::uint64_t n, std::uint64_t cells) { return i * (cells - 1) / (n - 1); };
  return {
      rising,
      [=](std::uint64_t i, std::uint64_t n, std::uint64_t cells) { return rising(n - 1 - i, n, cells); },
      [](std::uint64_t i, std::uint64_t /*n*/, std::uint64_t cells) {
        return i < 2 ? i * (cells - 1) : counter_random(60, i) % cells;
      },
      // Nearly all in one cell, and a far one that widens the range.
      [](std::uint64_t i, std::uint64_t n, std::uint64_t cells) {
        return i == n / 3 ? cells - 1 : i % 97 == 0 ? i % 5 : 0;
      },
      // In clusters that come again.
      [](std::uint64_t i, std::uint64_t n, std::uint64_t cells) {
        return i + 1 == n ? cells - 1 : (i / 50 % 40) * (cells / 41) + i % 7;
      },
  };
}

// Few cells are sorted in buckets, many digit by digit; the bounds lie at four times the points, and at 22 bits.
TEST_P(HostOperations, SortsDenseAndSparseCellsAlike) {
  const std::uint64_t n = 65536;
  Records records(CoordinateKind::kLattice, n);
  std::fill_n(records.frame().scale, 3, 1.0);
  GridSpec spec;
  std::fill_n(spec.size, 3, 10.0);
  const CellGrid grid = make_cell_grid(spec, records.frame());
  const auto oracle = make_backend("serial");
  const auto oracle_stream = oracle->make_stream();
  for (const std::uint64_t cells : {std::uint64_t{8}, 4 * n, 4 * n + 1}) {
    for (const auto& cell_of_point : orders_on_a_line()) {
      for (std::uint64_t i = 0; i < n; ++i) {
        const std::uint64_t cell = cell_of_point(i, n, cells);
        store_unaligned(records.position(i, 0), static_cast<std::int32_t>(10 * cell + counter_random(61, i) % 10));
        store_unaligned(records.position(i, 1), static_cast<std::int32_t>(counter_random(62, i) % 10));
        store_unaligned(records.position(i, 2), std::int32_t{3});
      }
      SCOPED_TRACE(testing::Message() << cells << " cells");
      check_bin(records.input(), grid, CellOrder::kRowMajor);
      const std::vector<std::byte> found = outputs_of(backend(), stream(), records.input(), PredicateProgram{}, grid);
      EXPECT_TRUE(outputs_of(*oracle, oracle_stream->view(), records.input(), PredicateProgram{}, grid) == found);
    }
  }
}

TEST_P(HostOperations, SortsKeysOfTwoDigitsAndMore) {
  if (quick()) GTEST_SKIP() << "a million points";
  const std::uint64_t n = (std::uint64_t{1} << 20) + 1;
  Records records(CoordinateKind::kLattice, n);
  std::fill_n(records.frame().scale, 3, 1.0);
  const CellGrid grid = make_cell_grid(GridSpec{}, records.frame());
  for (const std::uint64_t cells : {std::uint64_t{1} << 22, (std::uint64_t{1} << 22) + 1}) {
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t cell = i < 2 ? i * (cells - 1) : counter_random(63, i) % cells;
      store_unaligned(records.position(i, 0), static_cast<std::int32_t>(cell));
      for (int d = 1; d < 3; ++d) store_unaligned(records.position(i, d), std::int32_t{0});
    }
    SCOPED_TRACE(testing::Message() << cells << " cells");
    check_bin(records.input(), grid, CellOrder::kRowMajor);
  }
}

// Records of 16 and 32 bytes are read where they are: at any address, and up to the last z only.
TEST_P(HostOperations, PackedPositionsNeedNoAlignment) {
  const auto oracle = make_backend("serial");
  const auto oracle_stream = oracle->make_stream();
  const std::uint64_t n = 40000;
  for (const CoordinateKind kind : {CoordinateKind::kLattice, CoordinateKind::kFloat32, CoordinateKind::kFloat64}) {
    const Records records(kind, n);
    const std::uint64_t number = kind == CoordinateKind::kFloat64 ? 8 : 4;
    const std::uint64_t stride = 4 * number;
    std::vector<std::byte> bytes(n * stride - number + 1);
    PointInput input = records.input();
    for (std::uint64_t i = 0; i < n; ++i) {
      std::memcpy(bytes.data() + 1 + i * stride, input.positions.x + i * input.positions.stride, 3 * number);
    }
    input.positions.x = bytes.data() + 1;
    input.positions.y = input.positions.x + number;
    input.positions.z = input.positions.y + number;
    input.positions.stride = stride;
    ASSERT_TRUE(input.positions.is_packed());
    GridSpec spec;
    std::fill_n(spec.size, 3, 4.5);
    CoordinateFrame frame;
    frame.kind = kind;
    std::copy_n(input.positions.scale, 3, frame.scale);
    const CellGrid grid = make_cell_grid(spec, frame);
    const std::vector<std::byte> found = outputs_of(backend(), stream(), input, PredicateProgram{}, grid, 1);
    EXPECT_TRUE(outputs_of(*oracle, oracle_stream->view(), input, PredicateProgram{}, grid, 1) == found);
  }
}

// Cells that just fill a batch of means, and just do not.
TEST_P(HostOperations, CellsOfAboutABatchHaveTheSameMeans) {
  const auto oracle = make_backend("serial");
  const auto oracle_stream = oracle->make_stream();
  Records records(CoordinateKind::kLattice, 20000);
  std::fill_n(records.frame().scale, 3, 1.0);
  GridSpec spec;
  std::fill_n(spec.size, 3, 5000.0);
  const CellGrid grid = make_cell_grid(spec, records.frame());
  for (const std::uint64_t points : {1U, 2U, 511U, 512U, 513U, 1024U, 1025U}) {
    for (std::uint64_t i = 0; i < 20000; ++i) {
      const auto cell = static_cast<std::int32_t>(i / points);
      store_unaligned(records.position(i, 0), static_cast<std::int32_t>(5000 * cell + counter_random(64, i) % 5000));
    }
    SCOPED_TRACE(testing::Message() << points << " points a cell");
    const std::vector<std::byte> found = outputs_of(backend(), stream(), records.input(), PredicateProgram{}, grid, 1);
    EXPECT_TRUE(outputs_of(*oracle, oracle_stream->view(), records.input(), PredicateProgram{}, grid, 1) == found);
  }
}

// Cells of more points than a batch of means has, up to the last bit.
TEST_P(HostOperations, CellsOfAnySizeHaveTheSameMeans) {
  const auto oracle = make_backend("serial");
  const auto oracle_stream = oracle->make_stream();
  for (const CoordinateKind kind : {CoordinateKind::kLattice, CoordinateKind::kFloat32, CoordinateKind::kFloat64}) {
    for (const double size : {0.05, 2.5, 4.5, 11.0, 1000.0}) {
      for (const bool use_z : {true, false}) {
        Records records(kind, 40000);
        GridSpec spec;
        std::fill_n(spec.size, 3, size);
        spec.use_z = use_z;
        const CellGrid grid = make_cell_grid(spec, records.frame());
        SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", cells of " << size);
        const std::vector<std::byte> found =
            outputs_of(backend(), stream(), records.input(), PredicateProgram{}, grid, 1);
        EXPECT_TRUE(outputs_of(*oracle, oracle_stream->view(), records.input(), PredicateProgram{}, grid, 1) == found);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, HostOperations, testing::Values("serial", "cpu"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace sluice::test
