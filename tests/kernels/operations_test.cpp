// SPDX-License-Identifier: Apache-2.0
/// \file
/// select, bin and reduce_cells on every backend against slow ones over ordered maps, point by point.
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <tuple>

#include "sluice/core/cell_grid.hpp"
#include "sluice/core/cell_key.hpp"
#include "sluice/core/centroid.hpp"
#include "sluice/core/random.hpp"
#include "support/backend_test.hpp"
#include "support/predicates.hpp"
#include "support/slow_operations.hpp"

namespace sluice::test {
namespace {

using namespace sluice::kernels;

/// Programs of some shapes. Lattice clouds have no world box and float clouds no lattice box.
std::vector<PredicateProgram> programs_of(CoordinateKind kind) {
  std::vector<PredicateProgram> out;
  out.emplace_back();  // keeps everything
  const bool lattice = kind == CoordinateKind::kLattice;
  const PredicateOp box = lattice ? lattice_box({-3000, -4000, -50000, 2000, 5000, 4000})
                                  : real_op(Code::kWorldBox, {-2.0, -3.5, -50.0, 20.0, 2.5, 40.0});
  PredicateProgram one_box;
  one_box.ops = {box};
  one_box.drop_zero = true;
  one_box.zero_exists = lattice;
  out.push_back(one_box);
  PredicateProgram mixed;
  mixed.ops = {
      box, real_op(Code::kSphere, {lattice ? 300000.0 : 0.0, lattice ? -20.0 : 0.0, 0.0, 900.0}), op_of(Code::kOr),
      compare_op(column_operand(0), Comparison::kGreater, constant_operand(Value::of_signed(2))), op_of(Code::kAnd)};
  PredicateOp share = op_of(Code::kFraction);
  share.integers[0] = static_cast<std::int64_t>(0xc000000000000000ULL);
  share.integers[1] = 5;
  mixed.ops.push_back(share);
  mixed.ops.push_back(op_of(Code::kAnd));
  mixed.columns = {"attribute"};
  mixed.needs_world = lattice;
  out.push_back(mixed);
  PredicateProgram nothing;
  nothing.ops = {op_of(Code::kConstant)};
  out.push_back(nothing);
  return out;
}

CellGrid grid_of(const Cloud& cloud, double size, bool use_z) {
  GridSpec spec;
  std::fill_n(spec.size, 3, size);
  spec.use_z = use_z;
  spec.origin[0] = Decimal::of(cloud.frame.kind == CoordinateKind::kLattice ? 299999.9 : 0.3);
  return make_cell_grid(spec, cloud.frame);
}

class Operations : public BackendTest {
 protected:
  /// A cloud in the memory of the backend.
  struct Bound {
    Bound(Operations& test, const Cloud& cloud)
        : records(test.backend(), test.stream(), cloud.records),
          attribute(test.backend(), test.stream(), cloud.attribute) {
      column = Column{reinterpret_cast<const std::byte*>(attribute.data()), 1, FieldType::kUint8, 0, 0};
      input.positions = cloud.positions(records.data());
      input.count = cloud.count;
      input.first_index = kFirstIndex;
    }
    PointInput with(const PredicateProgram& program) {
      input.columns = &column;
      input.column_count = static_cast<std::uint32_t>(program.columns.size());
      return input;
    }
    BackendArray<std::byte> records;
    BackendArray<std::uint8_t> attribute;
    Column column;
    PointInput input;
  };

  static constexpr unsigned kPermutation = 1, kKeys = 2, kRecords = 4, kFirsts = 8;

  /// Bins on the backend, with no more scratch than it asks for. The layout of what is enqueued follows from its range.
  Binned run_bin(Bound& bound, const Cloud& cloud, const PredicateProgram& program, const BinSpec& spec, bool enqueue,
                 unsigned wanted = kPermutation | kKeys | kRecords | kFirsts) {
    const std::uint64_t n = cloud.count;
    kernels::Operations& operations = backend().operations();
    const auto predicate = operations.prepare(program);
    const auto permutation = room<std::uint32_t>(n);
    const auto keys = room<std::uint64_t>(n);
    const auto first = room<std::uint32_t>(n);
    const auto records = room<std::byte>(n * cloud.record_bytes());
    BinOutputs outputs;
    if ((wanted & kPermutation) != 0) outputs.permutation = permutation.data();
    if ((wanted & kKeys) != 0) outputs.cell_keys = keys.data();
    if ((wanted & kFirsts) != 0) outputs.cell_first = first.data();
    if ((wanted & kRecords) != 0) outputs.records = records.data();
    Workspace workspace(backend().memory(), operations.bin_scratch(spec, n));
    Binned out;
    if (enqueue) {
      const auto counts = room<BinCounts>(1);
      operations.enqueue_bin(*predicate, spec, bound.with(program), outputs, counts.data(), workspace, stream());
      out.counts = counts.get().front();
      out.layout = make_key_layout(spec.order, spec.grid.use_z, spec.range->min, spec.range->max);
    } else {
      const BinResult result = operations.bin(*predicate, spec, bound.with(program), outputs, workspace, stream());
      out.counts = BinCounts{result.counts, result.cells, 0};
      out.layout = result.layout;
    }
    EXPECT_EQ(workspace.used(), 0U);
    const std::uint64_t kept = out.counts.counts.kept;
    if ((wanted & kPermutation) != 0) out.permutation = permutation.get(kept);
    if ((wanted & kKeys) != 0) out.keys = keys.get(out.counts.cells);
    if ((wanted & kFirsts) != 0) out.first = first.get(out.counts.cells);
    if ((wanted & kRecords) != 0) out.records = records.get(kept * cloud.record_bytes());
    return out;
  }

  [[nodiscard]] static std::vector<std::uint64_t> sizes() {
    // Every launch counts under a sanitizer: fewer sizes there, of which the last takes several blocks of any backend.
    if (quick()) return {0, 1, 33, 4097, 17001};
    return {0, 1, 31, 33, 256, 4095, 4097, 20000, 300007};
  }
  /// Sizes for tests that bin every cloud many times.
  [[nodiscard]] static std::vector<std::uint64_t> range_sizes() {
    if (quick()) return {0, 1, 4097};
    return {0, 1, 33, 4097, 40000};
  }
  [[nodiscard]] static std::vector<Cloud> clouds(std::uint64_t n) {
    std::vector<Cloud> out;
    for (const CoordinateKind kind : {CoordinateKind::kLattice, CoordinateKind::kFloat32, CoordinateKind::kFloat64}) {
      for (const Scene scene : {Scene::kScattered, Scene::kOnFaces, Scene::kOneCell, Scene::kScan}) {
        if (n > 50000 && (scene == Scene::kOnFaces || kind == CoordinateKind::kFloat64)) continue;
        out.push_back(cloud_of(kind, scene, n));
      }
    }
    return out;
  }
};

TEST_P(Operations, SelectDecidesPointByPoint) {
  for (const std::uint64_t n : sizes()) {
    for (const Cloud& cloud : clouds(n)) {
      Bound bound(*this, cloud);
      for (const PredicateProgram& program : programs_of(cloud.frame.kind)) {
        SCOPED_TRACE(testing::Message() << n << " points of kind " << static_cast<int>(cloud.frame.kind) << ", "
                                        << program.ops.size() << " operations");
        const Oracle expected = select_slowly(cloud, program);
        const auto predicate = backend().operations().prepare(program);
        const auto kept = room<std::uint32_t>(n);
        const auto rejected = room<std::uint32_t>(n);
        const auto verdicts = room<std::uint8_t>(n);
        const auto records = room<std::byte>(n * cloud.record_bytes());
        const auto counts = room<SelectCounts>(1);
        SelectOutputs outputs{kept.data(), rejected.data(), verdicts.data(), records.data(), counts.data()};
        Workspace workspace(backend().memory(), backend().operations().select_scratch(n));
        backend().operations().select(*predicate, bound.with(program), outputs, workspace, stream());
        expect_equal(counts.get()[0], expected.counts);
        EXPECT_EQ(kept.get(expected.kept.size()), expected.kept);
        EXPECT_EQ(rejected.get(expected.rejected.size()), expected.rejected);
        const std::vector<std::uint8_t> found = verdicts.get();
        EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.verdicts.begin(),
                               [](std::uint8_t a, Verdict b) { return a == static_cast<std::uint8_t>(b); }));
        const std::uint64_t bytes = cloud.record_bytes();
        const std::vector<std::byte> copied = records.get(expected.kept.size() * bytes);
        for (std::size_t i = 0; i < expected.kept.size(); ++i) {
          ASSERT_EQ(std::memcmp(copied.data() + i * bytes, cloud.records.data() + expected.kept[i] * bytes, bytes), 0);
        }
        // Every output alone, too.
        backend().operations().select(*predicate, bound.with(program), SelectOutputs{kept.data()}, workspace, stream());
        EXPECT_EQ(kept.get(expected.kept.size()), expected.kept);
      }
    }
  }
}

TEST_P(Operations, SelectSetsABitForEveryKeptPoint) {
  for (const std::uint64_t n : {0, 1, 31, 32, 33, 63, 64, 65, 511, 512, 513, 4001, 32767, 32769, 70001}) {
    if (quick() && n > 5000) continue;
    const Cloud cloud = cloud_of(CoordinateKind::kFloat32, Scene::kOnFaces, n);
    Bound bound(*this, cloud);
    for (const PredicateProgram& program : programs_of(cloud.frame.kind)) {
      SCOPED_TRACE(testing::Message() << n << " points, " << program.ops.size() << " operations");
      const Oracle chosen = select_slowly(cloud, program);
      std::vector<std::uint32_t> expected((n + 31) / 32);
      for (const std::uint32_t i : chosen.kept) expected[i / 32] += std::uint32_t{1} << (i % 32);
      const auto predicate = backend().operations().prepare(program);
      auto mask = room<std::uint32_t>(expected.size());  // not zero: stale bits show
      SelectOutputs outputs;
      outputs.mask = mask.data();
      Workspace workspace(backend().memory(), backend().operations().select_scratch(n));
      backend().operations().select(*predicate, bound.with(program), outputs, workspace, stream());
      EXPECT_TRUE(mask.get() == expected);
      // The other outputs beside it are as ever.
      const auto kept = room<std::uint32_t>(n);
      const auto verdicts = room<std::uint8_t>(n);
      outputs.kept = kept.data();
      outputs.verdicts = verdicts.data();
      mask.set(std::vector<std::uint32_t>(expected.size(), 0xffffffffU));
      backend().operations().select(*predicate, bound.with(program), outputs, workspace, stream());
      EXPECT_TRUE(mask.get() == expected);
      EXPECT_TRUE(kept.get(chosen.kept.size()) == chosen.kept);
    }
  }
}

TEST_P(Operations, BinOrdersByKeyAndThenByIndex) {
  for (const std::uint64_t n : sizes()) {
    for (const Cloud& cloud : clouds(n)) {
      Bound bound(*this, cloud);
      const std::vector<PredicateProgram> programs = programs_of(cloud.frame.kind);
      for (const double size : {1.0, 1e-4}) {
        for (const CellOrder order : {CellOrder::kRowMajor, CellOrder::kMorton, CellOrder::kHilbert}) {
          const bool use_z = size == 1.0 || order != CellOrder::kMorton;
          const PredicateProgram& program = programs[size == 1.0 ? 2 : 1];
          SCOPED_TRACE(testing::Message() << n << " points of kind " << static_cast<int>(cloud.frame.kind)
                                          << ", cells of " << size << ", order " << static_cast<int>(order));
          BinSpec spec;
          spec.grid = grid_of(cloud, size, use_z);
          spec.order = order;
          expect_equal(run_bin(bound, cloud, program, spec, false), bin_slowly(cloud, program, spec));
        }
      }
    }
  }
}

TEST_P(Operations, OccupiedRangesOfCellsThatFallAsNumbersRise) {
  for (const std::uint64_t n : range_sizes()) {
    Cloud cloud = cloud_of(CoordinateKind::kLattice, Scene::kScattered, n);
    cloud.frame.scale[0] *= -1;
    cloud.frame.scale[2] *= -1;
    Bound bound(*this, cloud);
    for (const PredicateProgram& program : programs_of(cloud.frame.kind)) {
      BinSpec spec;
      spec.grid = grid_of(cloud, 1.0, true);
      SCOPED_TRACE(testing::Message() << n << " points, a program of " << program.ops.size());
      expect_equal(run_bin(bound, cloud, program, spec, false), bin_slowly(cloud, program, spec));
    }
  }
}

TEST_P(Operations, BinTakesAGivenRange) {
  for (const std::uint64_t n : range_sizes()) {
    for (const Cloud& cloud : clouds(n)) {
      Bound bound(*this, cloud);
      const PredicateProgram program = programs_of(cloud.frame.kind)[1];
      for (const CellOrder order : {CellOrder::kRowMajor, CellOrder::kMorton, CellOrder::kHilbert}) {
        for (const bool use_z : {true, false}) {
          SCOPED_TRACE(testing::Message() << n << " points of kind " << static_cast<int>(cloud.frame.kind) << ", order "
                                          << static_cast<int>(order) << (use_z ? "" : ", columns"));
          BinSpec spec;
          spec.grid = grid_of(cloud, 1.5, use_z);
          spec.order = order;
          // The occupied range; a larger one, for columns too; and one so long that cells take more than 32 bits.
          const CellRange occupied = occupied_range(cloud, program, spec.grid);
          CellRange larger = occupied;
          for (int d = 0; d < 3; ++d) {
            larger.min[d] -= 2 + d;
            larger.max[d] += 9 - 3 * d;
          }
          CellRange longest = larger;
          longest.min[1] -= std::int64_t{1} << 33;
          for (const CellRange& range : {occupied, larger, longest}) {
            if (order == CellOrder::kHilbert && range.min[1] == longest.min[1]) continue;  // takes three times 34 bits
            spec.range = range;
            const Binned expected = bin_slowly(cloud, program, spec);
            EXPECT_EQ(expected.counts.outside, 0U);
            expect_equal(run_bin(bound, cloud, program, spec, false), expected);
            expect_equal(run_bin(bound, cloud, program, spec, true), expected);
          }
        }
      }
    }
  }
}

TEST_P(Operations, BinLeavesOutWhatAGivenRangeDoesNotHold) {
  for (const std::uint64_t n : range_sizes()) {
    for (const Cloud& cloud : clouds(n)) {
      Bound bound(*this, cloud);
      const PredicateProgram program = programs_of(cloud.frame.kind)[2];
      for (const bool use_z : {true, false}) {
        BinSpec spec;
        spec.grid = grid_of(cloud, 1.5, use_z);
        spec.order = use_z ? CellOrder::kRowMajor : CellOrder::kMorton;
        const CellRange occupied = occupied_range(cloud, program, spec.grid);
        // One cell off either end of an axis; one cell alone; none of the occupied ones.
        std::vector<CellRange> ranges;
        for (int d = 0; d < 3; ++d) {
          if (occupied.min[d] == occupied.max[d]) continue;
          ranges.push_back(occupied);
          ++ranges.back().min[d];
          ranges.push_back(occupied);
          --ranges.back().max[d];
        }
        ranges.push_back(occupied);
        std::copy_n(ranges.back().min, 3, ranges.back().max);
        ranges.push_back(occupied);
        ranges.back().min[2] = ranges.back().max[2] = occupied.max[2] + 1;
        for (const CellRange& range : ranges) {
          SCOPED_TRACE(testing::Message()
                       << n << " points of kind " << static_cast<int>(cloud.frame.kind)
                       << (use_z ? ", cells " : ", columns ") << range.min[0] << " to " << range.max[0] << ", "
                       << range.min[1] << " to " << range.max[1] << ", " << range.min[2] << " to " << range.max[2]);
          spec.range = range;
          const Binned expected = bin_slowly(cloud, program, spec);
          expect_equal(run_bin(bound, cloud, program, spec, true), expected);
          if (expected.counts.outside == 0) {
            expect_equal(run_bin(bound, cloud, program, spec, false), expected);
            continue;
          }
          try {
            run_bin(bound, cloud, program, spec, false);
            ADD_FAILURE() << "points outside the range were taken";
          } catch (const InvalidArgument& error) {
            EXPECT_EQ(std::string(error.what()).find(std::to_string(expected.counts.outside) + " of the kept points"),
                      0U)
                << error.what();
          }
        }
      }
    }
  }
}

TEST_P(Operations, PointsWithoutACellAreOutsideEveryRange) {
  Cloud cloud = cloud_of(CoordinateKind::kFloat64, Scene::kOnFaces, 3000);
  const double huge = 1e300;
  const std::uint64_t beyond[] = {0, 700, 701, 2999};
  for (const std::uint64_t i : beyond) {
    Record32 record{0.25, 0.25, 0.25, i};
    (i == 700 ? record.z : record.x) = huge;
    std::memcpy(cloud.records.data() + i * sizeof record, &record, sizeof record);
  }
  Bound bound(*this, cloud);
  for (const bool use_z : {true, false}) {
    BinSpec spec;
    spec.grid = grid_of(cloud, 1.0, use_z);
    spec.range = CellRange{{-100, -100, -100}, {100, 100, 100}};
    const Binned expected = bin_slowly(cloud, PredicateProgram{}, spec);
    EXPECT_EQ(expected.counts.outside, 4U);
    expect_equal(run_bin(bound, cloud, PredicateProgram{}, spec, true), expected);
    EXPECT_THROW(run_bin(bound, cloud, PredicateProgram{}, spec, false), InvalidArgument);
  }
}

TEST_P(Operations, BinWritesAnyOfItsOutputsAlone) {
  // Keys of few and of many bits, and more points than one thread takes.
  for (const std::uint64_t n : {std::uint64_t{500}, std::uint64_t{quick() ? 5000U : 50000U}}) {
    for (const CoordinateKind kind : {CoordinateKind::kLattice, CoordinateKind::kFloat64}) {
      const Cloud cloud = cloud_of(kind, Scene::kScattered, n);
      Bound bound(*this, cloud);
      const PredicateProgram program = programs_of(kind)[1];
      for (const double size : {20.0, 1e-4}) {
        BinSpec spec;
        spec.grid = grid_of(cloud, size, true);
        spec.range = occupied_range(cloud, program, spec.grid);
        const Binned expected = bin_slowly(cloud, program, spec);
        for (unsigned wanted = 0; wanted < 16; ++wanted) {
          SCOPED_TRACE(testing::Message() << n << " points of kind " << static_cast<int>(kind) << ", cells of " << size
                                          << ", outputs " << wanted);
          Binned some = expected;
          if ((wanted & kPermutation) == 0) some.permutation.clear();
          if ((wanted & kKeys) == 0) some.keys.clear();
          if ((wanted & kFirsts) == 0) some.first.clear();
          if ((wanted & kRecords) == 0) some.records.clear();
          expect_equal(run_bin(bound, cloud, program, spec, true, wanted), some);
          expect_equal(run_bin(bound, cloud, program, spec, false, wanted), some);
          BinSpec occupied = spec;
          occupied.range.reset();
          expect_equal(run_bin(bound, cloud, program, occupied, false, wanted), some);
        }
      }
    }
  }
}

TEST_P(Operations, BinRefusesWhatItCannotDo) {
  const Cloud cloud = cloud_of(CoordinateKind::kFloat32, Scene::kOneCell, 10);
  Bound bound(*this, cloud);
  const PredicateProgram program;
  const auto permutation = room<std::uint32_t>(10);
  const auto counts = room<BinCounts>(1);
  const auto records = room<std::byte>(10 * sizeof(Record16));
  kernels::Operations& operations = backend().operations();
  const auto predicate = operations.prepare(program);
  BinSpec spec;
  spec.grid = grid_of(cloud, 1.0, true);
  BinOutputs outputs{permutation.data()};
  Workspace workspace(backend().memory(), operations.bin_scratch(spec, 10));
  const auto bin = [&](const PointInput& input) {
    operations.bin(*predicate, spec, input, outputs, workspace, stream());
  };
  const auto enqueue = [&](const PointInput& input, BinCounts* to) {
    operations.enqueue_bin(*predicate, spec, input, outputs, to, workspace, stream());
  };
  const PointInput input = bound.with(program);
  EXPECT_THROW(enqueue(input, counts.data()), InvalidArgument);  // no range
  const CellRange good{{-5, -5, -5}, {5, 5, 5}};
  spec.range = good;
  EXPECT_NO_THROW(enqueue(input, counts.data()));
  EXPECT_THROW(enqueue(input, nullptr), InvalidArgument);
  for (int d = 0; d < 3; ++d) {
    spec.range = good;
    spec.range->min[d] = 6;
    EXPECT_THROW(bin(input), InvalidArgument);
    EXPECT_THROW(enqueue(input, counts.data()), InvalidArgument);
    spec.range = good;
    spec.range->max[d] = kMaxCell + 1;
    EXPECT_THROW(bin(input), InvalidArgument);
    spec.range = good;
    spec.range->min[d] = -kMaxCell - 1;
    EXPECT_THROW(enqueue(input, counts.data()), InvalidArgument);
  }
  // Keys that are too long are told even where there is no point.
  PointInput none = input;
  none.count = 0;
  spec.range = CellRange{{-kMaxCell, 0, 0}, {kMaxCell, 7, 0}};
  EXPECT_THROW(bin(none), Unsupported);
  EXPECT_THROW(enqueue(none, counts.data()), Unsupported);
  spec.range = CellRange{{-kMaxCell, 0, 0}, {kMaxCell, 0, 0}};
  EXPECT_NO_THROW(bin(input));  // the longest that there is
  spec.range = good;
  PointInput apart = input;
  apart.positions.stride = 2 * sizeof(Record16);
  apart.count = 5;
  outputs.records = records.data();
  EXPECT_NO_THROW(bin(input));
  EXPECT_THROW(bin(apart), InvalidArgument);
  EXPECT_THROW(enqueue(apart, counts.data()), InvalidArgument);
  const auto other = make_backend(std::string(GetParam()) == "serial" ? "cpu" : "serial");
  const auto foreign = other->operations().prepare(program);
  EXPECT_THROW(operations.enqueue_bin(*foreign, spec, input, outputs, counts.data(), workspace, stream()),
               InvalidArgument);
}

TEST_P(Operations, ReduceCellsKeepsTheBestOfEachCell) {
  for (const std::uint64_t n : sizes()) {
    for (const Cloud& cloud : clouds(n)) {
      Bound bound(*this, cloud);
      const Positions positions = cloud.positions(cloud.records.data());
      const PredicateProgram program = programs_of(cloud.frame.kind)[n % 2 == 0 ? 1 : 2];
      const Oracle chosen = select_slowly(cloud, program);
      const auto predicate = backend().operations().prepare(program);
      for (const bool use_z : {true, false}) {
        ReduceSpec spec;
        spec.grid = grid_of(cloud, 1.5, use_z);
        spec.seed = 77;
        std::map<Cell, std::vector<std::uint32_t>> members;
        std::map<Cell, CentroidSums> sums;
        for (const std::uint32_t i : chosen.kept) {
          const Cell cell = cell_at(spec.grid, positions, i);
          const std::int64_t at[3] = {std::get<0>(cell), std::get<1>(cell), std::get<2>(cell)};
          members[cell].push_back(i);
          add_point(sums[cell], spec.grid, load_position(positions, i), at);
        }
        for (const KeepPolicy policy : {KeepPolicy::kFirst, KeepPolicy::kCenter, KeepPolicy::kNearestCentroid,
                                        KeepPolicy::kLowest, KeepPolicy::kHighest, KeepPolicy::kRandom}) {
          for (const std::uint32_t most : {1U, 3U}) {
            SCOPED_TRACE(testing::Message() << n << " points of kind " << static_cast<int>(cloud.frame.kind)
                                            << ", policy " << static_cast<int>(policy) << ", at most " << most);
            spec.policy = policy;
            spec.max_per_cell = most;
            std::vector<std::uint32_t> expected;
            for (const auto& [cell, points] : members) {
              std::vector<std::pair<std::uint64_t, std::uint32_t>> ranked;
              for (const std::uint32_t i : points) {
                ranked.emplace_back(score_of(spec, positions, i, cell, sums[cell]), i);
              }
              std::sort(ranked.begin(), ranked.end());
              for (std::size_t k = 0; k < std::min<std::size_t>(most, ranked.size()); ++k) {
                expected.push_back(ranked[k].second);
              }
            }
            std::sort(expected.begin(), expected.end());
            const auto kept = room<std::uint32_t>(n);
            Workspace workspace(backend().memory(), backend().operations().reduce_cells_scratch(spec, n));
            ReduceOutputs outputs;
            outputs.kept = kept.data();
            const ReduceResult result = backend().operations().reduce_cells(*predicate, spec, bound.with(program),
                                                                            outputs, workspace, stream());
            expect_equal(result.counts, chosen.counts);
            EXPECT_EQ(result.cells, members.size());
            ASSERT_EQ(result.kept, expected.size());
            EXPECT_TRUE(kept.get(expected.size()) == expected);
          }
        }
      }
    }
  }
}

TEST_P(Operations, CentroidsComeInTheOrderOfFirstPoints) {
  for (const std::uint64_t n : sizes()) {
    for (const Cloud& cloud : clouds(n)) {
      Bound bound(*this, cloud);
      const Positions positions = cloud.positions(cloud.records.data());
      const bool lattice = cloud.frame.kind == CoordinateKind::kLattice;
      const PredicateProgram program = programs_of(cloud.frame.kind)[1];
      const Oracle chosen = select_slowly(cloud, program);
      const auto predicate = backend().operations().prepare(program);
      for (const bool use_z : {true, false}) {
        SCOPED_TRACE(testing::Message() << n << " points of kind " << static_cast<int>(cloud.frame.kind));
        ReduceSpec spec;
        spec.grid = grid_of(cloud, 1.5, use_z);
        spec.policy = KeepPolicy::kCentroid;
        std::map<Cell, std::size_t> output_of;
        std::vector<Cell> cells;
        std::vector<std::vector<std::uint32_t>> members;
        for (const std::uint32_t i : chosen.kept) {
          const Cell cell = cell_at(spec.grid, positions, i);
          const auto [found, added] = output_of.try_emplace(cell, cells.size());
          if (added) {
            cells.push_back(cell);
            members.emplace_back();
          }
          members[found->second].push_back(i);
        }
        const auto kept = room<std::uint32_t>(n);
        const auto centroids = room<Record32>(n);
        const auto permutation = room<std::uint32_t>(n);
        const auto cell_first = room<std::uint32_t>(n + 1);
        const auto cell = room<std::uint32_t>(n);
        ReduceOutputs outputs{kept.data(), centroids.data(), permutation.data(), cell_first.data(), cell.data()};
        Workspace workspace(backend().memory(), backend().operations().reduce_cells_scratch(spec, n));
        const ReduceResult result =
            backend().operations().reduce_cells(*predicate, spec, bound.with(program), outputs, workspace, stream());
        ASSERT_EQ(result.kept, cells.size());
        ASSERT_EQ(result.cells, cells.size());
        if (cells.empty()) continue;
        const std::vector<std::uint32_t> found_kept = kept.get(result.kept);
        const std::vector<std::uint32_t> order = permutation.get(result.counts.kept);
        const std::vector<std::uint32_t> starts = cell_first.get(result.cells + 1);
        const std::vector<std::uint32_t> which = cell.get(result.kept);
        std::vector<std::byte> raw(result.kept * (lattice ? sizeof(Record16) : sizeof(Record32)));
        backend().download(raw.data(), centroids.data(), raw.size(), stream());
        backend().wait(stream());
        EXPECT_EQ(starts.back(), result.counts.kept);
        for (std::size_t i = 0; i < cells.size(); ++i) {
          const std::vector<std::uint32_t>& points = members[i];
          ASSERT_LT(which[i], result.cells);
          const std::vector<std::uint32_t> listed(order.begin() + starts[which[i]],
                                                  order.begin() + starts[which[i] + 1]);
          ASSERT_EQ(listed, points);
          const std::int64_t at[3] = {std::get<0>(cells[i]), std::get<1>(cells[i]), std::get<2>(cells[i])};
          CentroidSums sums;
          for (const std::uint32_t p : points) add_point(sums, spec.grid, load_position(positions, p), at);
          std::pair<std::uint64_t, std::uint32_t> best{~std::uint64_t{0}, 0};
          for (const std::uint32_t p : points) {
            best =
                std::min(best, {centroid_score(spec.grid, positions.scale, sums, load_position(positions, p), at), p});
          }
          ASSERT_EQ(found_kept[i], best.second);
          if (lattice) {
            Record16 found;
            std::memcpy(&found, raw.data() + i * sizeof found, sizeof found);
            const std::int32_t axes[3] = {found.x, found.y, found.z};
            for (int d = 0; d < 3; ++d) {
              // Rounded half to even, in a way of its own: twice the sum against odd multiples of the count.
              std::int64_t sum = 0;
              for (const std::uint32_t p : points) sum += load_position(positions, p).raw[d];
              const auto count = static_cast<std::int64_t>(points.size());
              const std::int64_t off = 2 * (sum - axes[d] * count);
              ASSERT_LE(std::abs(off), count);
              if (std::abs(off) == count) {
                EXPECT_EQ(axes[d] % 2, 0);
              }
            }
            EXPECT_EQ(found.w, points.size());
          } else {
            Record32 found;
            std::memcpy(&found, raw.data() + i * sizeof found, sizeof found);
            const Record32 expected = world_centroid(spec.grid, sums, at, load_position(positions, points.front()));
            ASSERT_EQ(std::memcmp(&found, &expected, sizeof found), 0);
          }
        }
      }
    }
  }
}

TEST_P(Operations, CellsBeyondTheRangeAreRefused) {
  Cloud cloud = cloud_of(CoordinateKind::kFloat64, Scene::kScattered, 100);
  const double huge = 1e300;
  std::memcpy(cloud.records.data() + 50 * sizeof(Record32), &huge, sizeof huge);
  Bound bound(*this, cloud);
  const PredicateProgram program;
  const auto predicate = backend().operations().prepare(program);
  BinSpec spec;
  spec.grid = grid_of(cloud, 1.0, true);
  const auto permutation = room<std::uint32_t>(100);
  Workspace workspace(backend().memory(), backend().operations().bin_scratch(spec, 100));
  EXPECT_THROW(backend().operations().bin(*predicate, spec, bound.with(program), BinOutputs{permutation.data()},
                                          workspace, stream()),
               Unsupported);
  spec.grid = grid_of(cloud, 1e290, true);
  EXPECT_EQ(backend()
                    .operations()
                    .bin(*predicate, spec, bound.with(program), BinOutputs{permutation.data()}, workspace, stream())
                    .counts.kept +
                select_slowly(cloud, program).counts.nonfinite,
            100U);
}

TEST_P(Operations, ThreadsDoNotMatter) {
  const std::uint64_t n = quick() ? 20000 : 200000;
  const Cloud cloud = cloud_of(CoordinateKind::kLattice, Scene::kScattered, n);
  Bound bound(*this, cloud);
  const PredicateProgram program = programs_of(CoordinateKind::kLattice)[2];
  const auto predicate = backend().operations().prepare(program);
  BinSpec spec;
  spec.grid = grid_of(cloud, 5.0, true);
  // Without this TBB would give no more threads than the machine has processors.
  const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, 8);
  std::vector<std::uint32_t> first_order;
  for (const int threads : {1, 2, 8}) {
    tbb::task_arena arena(threads);
    arena.execute([&] {
      const auto permutation = room<std::uint32_t>(n);
      Workspace workspace(backend().memory(), backend().operations().bin_scratch(spec, n));
      const BinResult result = backend().operations().bin(*predicate, spec, bound.with(program),
                                                          BinOutputs{permutation.data()}, workspace, stream());
      const std::vector<std::uint32_t> order = permutation.get(result.counts.kept);
      if (first_order.empty()) first_order = order;
      EXPECT_TRUE(order == first_order) << threads << " threads";
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Operations, testing::Values("serial", "cpu", "cuda", "thrust"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace sluice::test
