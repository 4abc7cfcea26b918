// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where reduce_cells breaks: cells of any number of points beside the sizes at which work is cut, cells with nearly
/// all points, points at the same place, keys that are not cheap, outputs that nobody wants, scratch memory with
/// garbage in it.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "sluice/core/cell_grid.hpp"
#include "sluice/core/random.hpp"
#include "support/backend_test.hpp"
#include "support/dirty_memory.hpp"
#include "support/predicates.hpp"
#include "support/slow_operations.hpp"

namespace sluice::test {
namespace {

using namespace sluice::kernels;

constexpr CoordinateKind kKinds[] = {CoordinateKind::kLattice, CoordinateKind::kFloat32, CoordinateKind::kFloat64};
constexpr KeepPolicy kPolicies[] = {KeepPolicy::kFirst,   KeepPolicy::kCenter,  KeepPolicy::kNearestCentroid,
                                    KeepPolicy::kLowest,  KeepPolicy::kHighest, KeepPolicy::kRandom,
                                    KeepPolicy::kCentroid};

/// Where cells lie, and points in them.
enum class Spread {
  kNear,   ///< a box of cells
  kSame,   ///< likewise, but few places in each cell
  kWide,   ///< all over the lattice: keys of more than 32 bits
  kUpside  ///< as kNear, on a lattice whose z falls
};

/// `sizes[c]` points in cell c, in no order; edges of cells are 100 units, of a lattice or in tenths.
Cloud cloud_with(CoordinateKind kind, const std::vector<std::uint64_t>& sizes, Spread spread) {
  Cloud cloud;
  cloud.frame.kind = kind;
  if (spread == Spread::kUpside) cloud.frame.scale[2] = -1.0;
  std::vector<std::uint32_t> cells;
  for (std::size_t c = 0; c < sizes.size(); ++c) cells.insert(cells.end(), sizes[c], static_cast<std::uint32_t>(c));
  for (std::uint64_t i = cells.size(); i > 1; --i) std::swap(cells[i - 1], cells[counter_random(61, i) % i]);
  cloud.count = cells.size();
  cloud.records.resize(cloud.count * cloud.record_bytes());
  cloud.attribute.resize(cloud.count);
  for (std::uint64_t i = 0; i < cloud.count; ++i) {
    std::byte* to = cloud.records.data() + i * cloud.record_bytes();
    for (std::uint64_t d = 0; d < 3; ++d) {
      const std::uint64_t c = cells[i];
      std::int64_t cell = static_cast<std::int64_t>(d == 0 ? c % 50 : d == 1 ? c / 50 % 50 : c / 2500) - 9;
      if (spread == Spread::kWide) cell = static_cast<std::int64_t>(counter_random(62 + d, c) % 1000000) - 500000;
      std::uint64_t in_cell = counter_random(65, 3 * i + d) % 100;
      if (spread == Spread::kSame) in_cell = in_cell % 2 * 70 + 10;
      const std::int64_t at = cell * 100 + static_cast<std::int64_t>(in_cell);
      if (kind == CoordinateKind::kLattice) store_unaligned(to + 4 * d, static_cast<std::int32_t>(at));
      if (kind == CoordinateKind::kFloat32) store_unaligned(to + 4 * d, static_cast<float>(at) * 0.1F);
      if (kind == CoordinateKind::kFloat64) store_unaligned(to + 8 * d, static_cast<double>(at) * 0.1);
    }
    if (kind == CoordinateKind::kFloat64) {
      store_unaligned(to + offsetof(Record32, w), ~i);
    } else {
      store_unaligned(to + offsetof(Record16, w), static_cast<std::uint32_t>(~i));
    }
    cloud.attribute[i] = static_cast<std::uint8_t>(counter_random(66, i) % 8);
  }
  return cloud;
}

CellGrid grid_of(const Cloud& cloud, bool use_z = true) {
  GridSpec spec;
  std::fill_n(spec.size, 3, cloud.frame.kind == CoordinateKind::kLattice ? 100.0 : 10.0);
  spec.use_z = use_z;
  return make_cell_grid(spec, cloud.frame);
}

/// Keeps what has an attribute below a limit.
PredicateProgram attribute_below(std::int64_t limit) {
  PredicateProgram out;
  out.ops = {compare_op(column_operand(0), Comparison::kLess, constant_operand(Value::of_signed(limit)))};
  out.columns = {"attribute"};
  return out;
}

/// Keeps what lies between two cells, and so is known to lie in few.
PredicateProgram box_of_cells(CoordinateKind kind, std::int64_t least, std::int64_t most) {
  PredicateProgram out;
  if (kind == CoordinateKind::kLattice) {
    out.ops = {lattice_box({100 * least, 100 * least, 100 * least, 100 * most, 100 * most, 100 * most})};
  } else {
    const auto low = static_cast<double>(10 * least);
    const auto high = static_cast<double>(10 * most);
    out.ops = {real_op(Code::kWorldBox, {low, low, low, high, high, high})};
  }
  return out;
}

/// Keeps everything, from so many cells that a GPU has no table of them but sorts.
PredicateProgram many_cells(CoordinateKind kind) { return box_of_cells(kind, -9, 150); }

/// The k-th cell has 1/k of the points of the first.
std::vector<std::uint64_t> zipf(std::uint64_t first, std::uint64_t cells) {
  std::vector<std::uint64_t> out;
  for (std::uint64_t k = 1; k <= cells; ++k) out.push_back(std::max<std::uint64_t>(1, first / k));
  return out;
}

class ReduceCells : public BackendTest {
 protected:
  static constexpr unsigned kKept = 1, kCentroids = 2, kMembers = 4, kAll = 7;

  void SetUp() override {
    BackendTest::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) memory_.emplace(backend(), stream());
  }

  [[nodiscard]] kernels::Operations& operations() { return backend().operations(); }

  /// \param wanted  of centroids
  Reduced run(const Cloud& cloud, const PredicateProgram& program, const ReduceSpec& spec, Workspace& workspace,
              unsigned wanted) {
    const std::uint64_t n = cloud.count;
    const auto records = upload(cloud.records);
    const auto attribute = upload(cloud.attribute);
    const Column column{reinterpret_cast<const std::byte*>(attribute.data()), 1, FieldType::kUint8, 0, 0};
    PointInput input;
    input.positions = cloud.positions(records.data());
    input.columns = &column;
    input.column_count = 1;
    input.count = n;
    input.first_index = kFirstIndex;
    const bool centroid = spec.policy == KeepPolicy::kCentroid;
    const std::uint64_t record = cloud.frame.kind == CoordinateKind::kLattice ? sizeof(Record16) : sizeof(Record32);
    const auto kept = room<std::uint32_t>(n);
    const auto centroids = room<std::byte>(centroid ? n * record : 0);
    const auto permutation = room<std::uint32_t>(n);
    const auto cell_first = room<std::uint32_t>(n + 1);
    const auto cell = room<std::uint32_t>(n);
    ReduceOutputs outputs;
    if ((wanted & kKept) != 0) outputs.kept = kept.data();
    if (centroid && (wanted & kCentroids) != 0) outputs.centroids = centroids.data();
    if (centroid && (wanted & kMembers) != 0) {
      outputs.permutation = permutation.data();
      outputs.cell_first = cell_first.data();
      outputs.cell = cell.data();
    }
    const auto predicate = operations().prepare(program);
    const ReduceResult result = operations().reduce_cells(*predicate, spec, input, outputs, workspace, stream());
    EXPECT_EQ(workspace.used(), 0U);
    Reduced out;
    out.counts = result.counts;
    out.cells = result.cells;
    if (result.kept > n || result.cells > n || result.counts.kept > n) {
      ADD_FAILURE() << "counts beyond the input";
      return out;
    }
    if (centroid) {
      EXPECT_EQ(result.kept, result.cells);
    }
    if (outputs.kept != nullptr) out.kept = kept.get(result.kept);
    if (outputs.centroids != nullptr) out.centroids = centroids.get(result.cells * record);
    if (outputs.cell == nullptr) return out;
    const std::vector<std::uint32_t> order = permutation.get(result.counts.kept);
    const std::vector<std::uint32_t> first = cell_first.get(result.cells + 1);
    EXPECT_EQ(first.back(), result.counts.kept);
    for (const std::uint32_t c : cell.get(result.cells)) {
      if (c >= result.cells || first[c] > first[c + 1] || first[c + 1] > order.size()) {
        ADD_FAILURE() << "a cell without a place";
        break;
      }
      out.members.emplace_back(order.begin() + first[c], order.begin() + first[c + 1]);
    }
    return out;
  }

  void check(const Cloud& cloud, const PredicateProgram& program, const ReduceSpec& spec, Workspace& workspace,
             unsigned wanted = kAll) {
    Reduced expected = reduce_slowly(cloud, program, spec);
    const bool centroid = spec.policy == KeepPolicy::kCentroid;
    if (centroid && (wanted & kKept) == 0) expected.kept.clear();
    if ((wanted & kCentroids) == 0) expected.centroids.clear();
    if (!centroid || (wanted & kMembers) == 0) expected.members.clear();
    const Reduced found = run(cloud, program, spec, workspace, centroid ? wanted : kKept);
    expect_equal(found.counts, expected.counts);
    EXPECT_EQ(found.cells, expected.cells);
    EXPECT_TRUE(found.kept == expected.kept);
    EXPECT_TRUE(found.centroids == expected.centroids);
    EXPECT_TRUE(found.members == expected.members);
  }

  void check(const Cloud& cloud, const PredicateProgram& program, const ReduceSpec& spec, unsigned wanted = kAll) {
    Workspace workspace(*memory_, operations().reduce_cells_scratch(spec, cloud.count));
    check(cloud, program, spec, workspace, wanted);
  }

  /// Every policy, with one point a cell and some.
  void check_policies(const Cloud& cloud, const PredicateProgram& program, bool use_z = true) {
    for (const KeepPolicy policy : kPolicies) {
      for (const std::uint32_t most : {1U, 2U, 7U, 9U}) {  // a GPU chooses up to eight one by one
        if (policy == KeepPolicy::kCentroid && most != 1) continue;
        SCOPED_TRACE(testing::Message() << cloud.count << " points of kind " << static_cast<int>(cloud.frame.kind)
                                        << ", policy " << static_cast<int>(policy) << ", at most " << most
                                        << (use_z ? "" : ", columns"));
        const ReduceSpec spec{grid_of(cloud, use_z), policy, most, 5};
        check(cloud, program, spec);
        if (policy == KeepPolicy::kCentroid) check(cloud, program, spec, kKept | kCentroids);
      }
    }
  }

  std::optional<DirtyMemory> memory_;
};

TEST_P(ReduceCells, TakesCellsOfAnySize) {
  // A GPU cuts cells of more than 2048 points, and gives those of up to 16 to a few lanes.
  std::vector<std::uint64_t> sizes = {1, 4, 5, 16, 17, 31, 32, 33, 2047, 2048, 2049, 3000, 1, 2};
  if (!quick()) sizes.insert(sizes.end(), {4095, 4096, 4097, 20000});
  for (const CoordinateKind kind : kKinds) {
    const Cloud cloud = cloud_with(kind, sizes, Spread::kNear);
    check_policies(cloud, many_cells(kind));
    check_policies(cloud, attribute_below(6), false);
  }
}

TEST_P(ReduceCells, TakesOneCellWithAllPoints) {
  for (const CoordinateKind kind : kKinds) {
    const Cloud cloud = cloud_with(kind, {quick() ? 4200U : 70000U}, Spread::kNear);
    check_policies(cloud, many_cells(kind));
    check_policies(cloud, attribute_below(7));
  }
}

TEST_P(ReduceCells, TakesUnevenCells) {
  for (const CoordinateKind kind : kKinds) {
    const Cloud cloud = cloud_with(kind, quick() ? zipf(2500, 50) : zipf(6000, 3000), Spread::kNear);
    check_policies(cloud, many_cells(kind));
    check_policies(cloud, box_of_cells(kind, -5, 30));
  }
}

TEST_P(ReduceCells, TiesGoToTheLowestIndex) {
  for (const CoordinateKind kind : kKinds) {
    const Cloud cloud = cloud_with(kind, {300, 2, 1, 40, 16, quick() ? 2100U : 9000U, 64}, Spread::kSame);
    check_policies(cloud, many_cells(kind));
    check_policies(cloud, attribute_below(7));
  }
}

TEST_P(ReduceCells, TakesLatticesWhoseKeysAreNotCheap) {
  for (const Spread spread : {Spread::kWide, Spread::kUpside}) {
    const std::uint64_t large = quick() ? 2500 : 6000;
    const Cloud cloud = cloud_with(CoordinateKind::kLattice, {large, 1, 30, 7, 8, 9, 200}, spread);
    check_policies(cloud, PredicateProgram{});
    check_policies(cloud, attribute_below(6), false);
  }
}

TEST_P(ReduceCells, TakesPointsWithACellEach) {
  // Every bit of a mask of points is set then, and a sort has no runs.
  for (const std::uint64_t n : {1U, 31U, 32U, 33U, 1025U, 20000U}) {
    if (quick() && n > 2000) continue;
    for (const CoordinateKind kind : kKinds) {
      const Cloud cloud = cloud_with(kind, std::vector<std::uint64_t>(n, 1), Spread::kNear);
      for (const KeepPolicy policy : {KeepPolicy::kFirst, KeepPolicy::kLowest, KeepPolicy::kCentroid}) {
        SCOPED_TRACE(testing::Message() << n << " points of kind " << static_cast<int>(kind) << ", policy "
                                        << static_cast<int>(policy));
        check(cloud, PredicateProgram{}, ReduceSpec{grid_of(cloud), policy});
        check(cloud, many_cells(kind), ReduceSpec{grid_of(cloud), policy});
      }
    }
  }
}

TEST_P(ReduceCells, TakesNoPoint) {
  for (const CoordinateKind kind : kKinds) {
    for (const std::uint64_t n : {0U, 40U}) {
      const Cloud cloud = cloud_with(kind, {n}, Spread::kNear);
      // Nothing is kept, for a box that says so, for one that happens to hold nothing, and point by point.
      for (const PredicateProgram& program :
           {box_of_cells(kind, 5, 4), box_of_cells(kind, 500, 501), attribute_below(0)}) {
        check_policies(cloud, program);
      }
    }
  }
}

TEST_P(ReduceCells, WritesWhatIsWanted) {
  for (const CoordinateKind kind : kKinds) {
    const Cloud cloud = cloud_with(kind, {2100, 30, 1, 5, 17, 3}, Spread::kNear);
    for (unsigned wanted = 0; wanted <= kAll; ++wanted) {
      SCOPED_TRACE(testing::Message() << "outputs " << wanted << ", kind " << static_cast<int>(kind));
      const ReduceSpec spec{grid_of(cloud), KeepPolicy::kCentroid};
      check(cloud, PredicateProgram{}, spec, wanted);
      check(cloud, box_of_cells(kind, -9, 2), spec, wanted);
    }
  }
}

TEST_P(ReduceCells, DevicesRefuseCentroidsBesideTheirWords) {
  if (!backend().is_device()) GTEST_SKIP() << "a host writes anywhere";
  const Cloud cloud = cloud_with(CoordinateKind::kLattice, {2, 3}, Spread::kNear);
  const auto records = upload(cloud.records);
  const auto centroids = room<std::byte>(cloud.count * sizeof(Record16), 8);
  const ReduceSpec spec{grid_of(cloud), KeepPolicy::kCentroid};
  PointInput input;
  input.positions = cloud.positions(records.data());
  input.count = cloud.count;
  ReduceOutputs outputs;
  outputs.centroids = centroids.data();
  Workspace workspace(*memory_, operations().reduce_cells_scratch(spec, cloud.count));
  const auto predicate = operations().prepare(PredicateProgram{});
  EXPECT_THROW(operations().reduce_cells(*predicate, spec, input, outputs, workspace, stream()), InvalidArgument);
}

// A GPU leaves up to two bits of keys of 17 and 18 bits out of its sort: neighbours in x come in one run then.
TEST_P(ReduceCells, TakesCellsBesideEachOther) {
  std::vector<std::uint64_t> sizes = {1500, 700, 3, 0, 0, 0, 0, 2100, 1, 2, 2047, 1, 16, 1, 0, 5, 2, 2, 30};
  for (std::uint64_t c = 0; c < 200; ++c) sizes.push_back(counter_random(68, c) % 12);
  for (const Spread spread : {Spread::kNear, Spread::kSame}) {
    const Cloud cloud = cloud_with(CoordinateKind::kLattice, sizes, spread);
    for (const std::int64_t least : {-9, -8, -7, -6}) {
      for (const std::int64_t last : {35, 46}) {
        SCOPED_TRACE(testing::Message() << "cells from " << least << " to " << last);
        const PredicateProgram program = box_of_cells(CoordinateKind::kLattice, least, last);
        check(cloud, program, ReduceSpec{grid_of(cloud), KeepPolicy::kNearestCentroid});
        for (const unsigned wanted : {kKept | kCentroids, kCentroids}) {
          check(cloud, program, ReduceSpec{grid_of(cloud), KeepPolicy::kCentroid}, wanted);
        }
      }
    }
  }
}

TEST_P(ReduceCells, OneWorkspaceServesAll) {
  const std::uint64_t most = quick() ? 4000 : 9000;
  std::vector<std::pair<Cloud, ReduceSpec>> calls;
  std::size_t bytes = 0;
  for (std::uint64_t i = 0; i < (quick() ? 14 : 70); ++i) {
    const std::uint64_t first = 1 + counter_random(71, i) % (most / 2);
    const Cloud cloud = cloud_with(kKinds[i % 3], zipf(first, 1 + counter_random(72, i) % 60),
                                   i % 3 == 0 && i % 2 == 0 ? Spread::kWide : Spread::kNear);
    const KeepPolicy policy = kPolicies[i % 7];
    const std::uint32_t stay = policy == KeepPolicy::kCentroid ? 1 : 1 + static_cast<std::uint32_t>(i / 7 % 2);
    calls.emplace_back(cloud, ReduceSpec{grid_of(cloud), policy, stay, i});
    bytes = std::max(bytes, operations().reduce_cells_scratch(calls.back().second, cloud.count));
  }
  Workspace workspace(*memory_, bytes);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "call " << i << " of " << calls[i].first.count << " points");
    check(calls[i].first, attribute_below(static_cast<std::int64_t>(counter_random(73, i) % 9)), calls[i].second,
          workspace);
  }
}

// A device takes other shapes for millions of points, and cuts cells into thousands of pieces.
TEST_P(ReduceCells, TakesMillionsOfPoints) {
  if (quick() || !backend().is_device()) GTEST_SKIP() << "takes long, and the host has no such shapes";
  const auto check_with = [&](const Cloud& cloud, const PredicateProgram& program, KeepPolicy policy) {
    SCOPED_TRACE(testing::Message() << cloud.count << " points of kind " << static_cast<int>(cloud.frame.kind)
                                    << ", policy " << static_cast<int>(policy));
    check(cloud, program, ReduceSpec{grid_of(cloud), policy});
  };
  constexpr CoordinateKind kLattice = CoordinateKind::kLattice;
  const Cloud one = cloud_with(kLattice, {4300000}, Spread::kNear);
  check_with(one, many_cells(kLattice), KeepPolicy::kCentroid);
  check_with(one, box_of_cells(kLattice, -9, 40), KeepPolicy::kHighest);
  // Keys of 19 bits, of which one is left out.
  check_with(one, box_of_cells(kLattice, -9, 60), KeepPolicy::kNearestCentroid);
  const Cloud uneven = cloud_with(kLattice, zipf(450000, 20000), Spread::kNear);
  check_with(uneven, many_cells(kLattice), KeepPolicy::kCentroid);
  check_with(uneven, many_cells(kLattice), KeepPolicy::kLowest);
  check_with(uneven, box_of_cells(kLattice, -9, 60), KeepPolicy::kNearestCentroid);
  check_with(uneven, box_of_cells(kLattice, -9, 40), KeepPolicy::kRandom);
}

INSTANTIATE_TEST_SUITE_P(Backends, ReduceCells, testing::Values("serial", "cpu", "cuda", "thrust"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace sluice::test
