// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where select and bin break: sizes beside those of tiles, all points or none or one kept, keys of any number of bits,
/// one cell for all points, outputs aligned to their items only, and scratch memory with garbage in it. Every call has
/// a workspace of just the size it asks for, and outputs that are poisoned before and lie between margins.
#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "sluice/core/cell_grid.hpp"
#include "sluice/core/cell_key.hpp"
#include "sluice/core/random.hpp"
#include "support/backend_test.hpp"
#include "support/bound_cloud.hpp"
#include "support/dirty_memory.hpp"
#include "support/predicates.hpp"
#include "support/slow_operations.hpp"

namespace sluice::test {
namespace {

using namespace sluice::kernels;

constexpr CoordinateKind kKinds[] = {CoordinateKind::kLattice, CoordinateKind::kFloat32, CoordinateKind::kFloat64};

/// A box of cells that starts below zero, with 2^bits[d] of them along axis d: keys have as many bits as the sum.
struct CellBox {
  unsigned bits[3];
  [[nodiscard]] CellRange range() const {
    CellRange out{};
    for (int d = 0; d < 3; ++d) {
      out.min[d] = -3 * d - 1;
      out.max[d] = out.min[d] + (std::int64_t{1} << bits[d]) - 1;
    }
    return out;
  }
};

CellBox box_of_bits(unsigned key_bits) {
  // The more significant axes get the fewer bits, so that digits end within axes.
  return {{key_bits - 2 * (key_bits / 3), key_bits / 3, key_bits / 3}};
}

/// Cells have an edge of ten lattice units, or of one.
CellGrid unit_grid(const Cloud& cloud) {
  GridSpec spec;
  const bool lattice = cloud.frame.kind == CoordinateKind::kLattice;
  std::fill_n(spec.size, 3, lattice ? 10.0 : 1.0);
  return make_cell_grid(spec, cloud.frame);
}

/// Which cells of a box hold points.
enum class Fill {
  kSpread,  ///< any, and the two at its corners
  kFew,     ///< a few, so that each has many points
  kLast,    ///< only the last
};

/// Points in the cells of a box, on faces of cells among others. Floats have some that are not finite, and zeros of
/// either sign. One point in eight is kept for an attribute below 1, and so on.
Cloud cloud_in(CoordinateKind kind, const CellBox& box, Fill fill, std::uint64_t count, std::uint64_t seed = 1) {
  Cloud cloud;
  cloud.count = count;
  cloud.frame.kind = kind;
  cloud.records.resize(count * cloud.record_bytes());
  cloud.attribute.resize(count);
  const CellRange range = box.range();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t few = counter_random(seed, i) % 5;
    double at[3];
    for (int d = 0; d < 3; ++d) {
      const std::uint64_t extent = std::uint64_t{1} << box.bits[d];
      const std::uint64_t r = counter_random(fill == Fill::kFew ? few + 77 : seed + 2,
                                             3 * i * (fill != Fill::kFew) + static_cast<std::uint64_t>(d));
      std::int64_t cell = range.min[d] + static_cast<std::int64_t>(r % extent);
      if (fill == Fill::kLast || (fill == Fill::kSpread && i == 0)) cell = range.max[d];
      if (fill == Fill::kSpread && i + 1 == count) cell = range.min[d];
      // In tenths: on the lower face, or further in.
      at[d] = static_cast<double>(
          cell * 10 + static_cast<std::int64_t>(counter_random(seed + 3, 3 * i + static_cast<std::uint64_t>(d)) % 10));
    }
    std::byte* to = cloud.records.data() + i * cloud.record_bytes();
    if (kind == CoordinateKind::kLattice) {
      for (int d = 0; d < 3; ++d) store_unaligned(to + 4 * d, static_cast<std::int32_t>(at[d]));
    } else {
      constexpr double kOdd[] = {-0.0, 0.0, std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
      // Tenths are rounded, so those on a face lie where they should and others anywhere beside it.
      for (double& x : at) x /= 10.0;
      const std::uint64_t r = counter_random(seed + 4, i);
      if (fill == Fill::kSpread && i != 0 && i + 1 != count && r % 20 == 0) at[r / 20 % 3] = kOdd[r / 60 % 5];
      for (int d = 0; d < 3; ++d) {
        if (kind == CoordinateKind::kFloat32) store_unaligned(to + 4 * d, static_cast<float>(at[d]));
        if (kind == CoordinateKind::kFloat64) store_unaligned(to + 8 * d, at[d]);
      }
    }
    if (kind == CoordinateKind::kFloat64) {
      store_unaligned(to + offsetof(Record32, w), ~i);
    } else {
      store_unaligned(to + offsetof(Record16, w), static_cast<std::uint32_t>(~i));
    }
    cloud.attribute[i] = static_cast<std::uint8_t>(counter_random(seed + 5, i) % 8);
  }
  return cloud;
}

/// Keeps what has an attribute below a limit.
PredicateProgram attribute_below(std::int64_t limit) {
  PredicateProgram out;
  out.ops = {compare_op(column_operand(0), Comparison::kLess, constant_operand(Value::of_signed(limit)))};
  out.columns = {"attribute"};
  return out;
}

/// Keeps what lies in a box of world coordinates, faces included; lattices have ones for scales.
PredicateProgram world_box(CoordinateKind kind, double least, double most) {
  PredicateProgram out;
  if (kind == CoordinateKind::kLattice) {
    const auto low = static_cast<std::int64_t>(least);
    const auto high = static_cast<std::int64_t>(most);
    out.ops = {lattice_box({low, low, low, high, high, high})};
  } else {
    out.ops = {real_op(Code::kWorldBox, {least, least, least, most, most, most})};
  }
  return out;
}

std::vector<std::pair<const char*, PredicateProgram>> programs_for(CoordinateKind kind) {
  const double unit = kind == CoordinateKind::kLattice ? 10.0 : 1.0;
  return {{"everything", PredicateProgram{}},
          {"a box around everything", world_box(kind, -1e6 * unit, 1e6 * unit)},
          {"a box around some", world_box(kind, -2.0 * unit, 9.0 * unit)},
          {"a box around nothing", world_box(kind, -3e6 * unit, -2e6 * unit)},
          {"an attribute that some have", attribute_below(3)},
          {"an attribute that none has", attribute_below(0)}};
}

class OperationEdges : public BackendTest {
 protected:
  void SetUp() override {
    BackendTest::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) memory_.emplace(backend(), stream());
  }

  [[nodiscard]] kernels::Operations& operations() { return backend().operations(); }

  /// \param offset  items between an aligned address and each output, and each column
  void check_select(const Cloud& cloud, const PredicateProgram& program, std::uint64_t offset = 0) {
    const Oracle expected = select_slowly(cloud, program);
    for (const Layout layout : {Layout::kPacked, Layout::kColumns}) {
      SCOPED_TRACE(name_of(layout));
      check_select(cloud, layout, program, expected, offset);
    }
  }

  void check_select(const Cloud& cloud, Layout layout, const PredicateProgram& program, const Oracle& expected,
                    std::uint64_t offset) {
    const std::uint64_t n = cloud.count;
    const BoundCloud bound(backend(), stream(), cloud, layout, offset);
    const auto predicate = operations().prepare(program);
    const auto kept = room<std::uint32_t>(n, offset);
    const auto rejected = room<std::uint32_t>(n, offset);
    const auto verdicts = room<std::uint8_t>(n, offset);
    const auto records = room<std::byte>(n * cloud.record_bytes(), offset * cloud.record_bytes());
    const auto counts = room<SelectCounts>(1, offset);
    const auto mask = room<std::uint32_t>((n + 31) / 32, offset);
    const std::uint64_t bytes = coordinate_bytes(cloud);
    const BackendArray<std::byte> coordinates[3] = {room<std::byte>(n * bytes, offset * bytes),
                                                    room<std::byte>(n * bytes, 2 * offset * bytes),
                                                    room<std::byte>(n * bytes, 3 * offset * bytes)};
    SelectOutputs all{kept.data(), rejected.data(), verdicts.data(), records.data(), counts.data(), mask.data()};
    if (layout != Layout::kPacked) all.records = nullptr;
    for (int d = 0; d < 3; ++d) all.coordinates[d] = coordinates[d].data();
    // All outputs at once, and those that most callers want.
    std::vector<SelectOutputs> wanted(5);
    for (SelectOutputs& outputs : wanted) outputs.counts = all.counts;
    wanted[0].kept = all.kept;
    wanted[1].records = all.records;
    std::copy_n(all.coordinates, 3, wanted[2].coordinates);
    wanted[3].coordinates[1] = all.coordinates[1];
    wanted[4] = all;
    for (const SelectOutputs& outputs : wanted) {
      for (const auto& column : coordinates) {
        if (outputs.coordinates[&column - coordinates] != nullptr) column.poison();
      }
      Workspace workspace(*memory_, operations().select_scratch(n));
      operations().select(*predicate, bound.input(), outputs, workspace, stream());
      EXPECT_EQ(workspace.used(), 0U);
      expect_equal(counts.get()[0], expected.counts);
      if (outputs.kept != nullptr) {
        EXPECT_TRUE(kept.get(expected.kept.size()) == expected.kept);
      }
      if (outputs.records != nullptr) {
        EXPECT_TRUE(records.get(expected.kept.size() * cloud.record_bytes()) == records_of(cloud, expected.kept));
      }
      for (std::uint64_t d = 0; d < 3; ++d) {
        if (outputs.coordinates[d] == nullptr) continue;
        EXPECT_TRUE(coordinates[d].get(expected.kept.size() * bytes) == coordinates_of(cloud, d, expected.kept)) << d;
      }
    }
    EXPECT_TRUE(rejected.get(expected.rejected.size()) == expected.rejected);
    const std::vector<std::uint8_t> found = verdicts.get();
    std::vector<std::uint32_t> bits((n + 31) / 32);
    for (std::uint64_t i = 0; i < n; ++i) {
      ASSERT_EQ(found[i], static_cast<std::uint8_t>(expected.verdicts[i])) << i;
      if (expected.verdicts[i] == Verdict::kKept) bits[i / 32] |= std::uint32_t{1} << (i % 32);
    }
    EXPECT_TRUE(mask.get() == bits);
  }

  static std::vector<std::byte> records_of(const Cloud& cloud, const std::vector<std::uint32_t>& points) {
    std::vector<std::byte> out;
    for (const std::uint32_t i : points) {
      const auto at = cloud.records.begin() + static_cast<std::ptrdiff_t>(i * cloud.record_bytes());
      out.insert(out.end(), at, at + static_cast<std::ptrdiff_t>(cloud.record_bytes()));
    }
    return out;
  }

  enum class Call { kBin, kEnqueue };

  /// \param offset   items between an aligned address and each output
  /// \param numbers  without, no permutation is asked for: points may then travel another way
  Binned run_bin(Call call, const Cloud& cloud, const PredicateProgram& program, const BinSpec& spec,
                 Workspace& workspace, std::uint64_t offset = 0, bool numbers = true) {
    const std::uint64_t n = cloud.count;
    const BoundCloud bound(backend(), stream(), cloud, Layout::kPacked);
    const auto predicate = operations().prepare(program);
    const auto permutation = room<std::uint32_t>(n, offset);
    const auto keys = room<std::uint64_t>(n, offset);
    const auto first = room<std::uint32_t>(n, offset);
    const auto records = room<std::byte>(n * cloud.record_bytes(), offset * cloud.record_bytes());
    const BinOutputs outputs{numbers ? permutation.data() : nullptr, keys.data(), first.data(), records.data()};
    Binned out;
    if (call == Call::kEnqueue) {
      const auto counts = room<BinCounts>(1, offset);
      operations().enqueue_bin(*predicate, spec, bound.input(), outputs, counts.data(), workspace, stream());
      out.counts = counts.get()[0];
      out.layout = make_key_layout(spec.order, spec.grid.use_z, spec.range->min, spec.range->max);
    } else {
      const BinResult result = operations().bin(*predicate, spec, bound.input(), outputs, workspace, stream());
      out.counts = BinCounts{result.counts, result.cells, 0};
      out.layout = result.layout;
    }
    EXPECT_EQ(workspace.used(), 0U);
    if (out.counts.counts.kept > n || out.counts.cells > n) {
      ADD_FAILURE() << "counts beyond the input";
      return out;
    }
    if (numbers) out.permutation = permutation.get(out.counts.counts.kept);
    out.keys = keys.get(out.counts.cells);
    out.first = first.get(out.counts.cells);
    out.records = records.get(out.counts.counts.kept * cloud.record_bytes());
    return out;
  }

  void check_bin(Call call, const Cloud& cloud, const PredicateProgram& program, const BinSpec& spec,
                 std::uint64_t offset = 0) {
    Workspace workspace(*memory_, operations().bin_scratch(spec, cloud.count));
    const Binned expected = bin_slowly(cloud, program, spec);
    expect_equal(run_bin(call, cloud, program, spec, workspace, offset), expected);
    Binned without = run_bin(call, cloud, program, spec, workspace, offset, false);
    without.permutation = expected.permutation;
    expect_equal(without, expected);
  }

  /// `bin` into the occupied range and into a given one, and `enqueue_bin`.
  void check_bins(const Cloud& cloud, const PredicateProgram& program, BinSpec spec, std::uint64_t offset = 0) {
    check_bin(Call::kEnqueue, cloud, program, spec, offset);
    check_bin(Call::kBin, cloud, program, spec, offset);
    spec.range.reset();
    check_bin(Call::kBin, cloud, program, spec, offset);
  }

  static BinSpec spec_of(const Cloud& cloud, const CellBox& box, CellOrder order) {
    BinSpec spec;
    spec.grid = unit_grid(cloud);
    spec.order = order;
    spec.range = box.range();
    if (cloud.frame.kind != CoordinateKind::kLattice) {
      // Zeros that were put in lie in cells of their own.
      for (int d = 0; d < 3; ++d) {
        spec.range->min[d] = std::min<std::int64_t>(spec.range->min[d], 0);
        spec.range->max[d] = std::max<std::int64_t>(spec.range->max[d], 0);
      }
    }
    return spec;
  }

  static std::vector<std::uint64_t> beside_tiles() {
    std::vector<std::uint64_t> out;
    for (const std::uint64_t tile : {2048U, 2560U, 4096U, 6144U, 12288U, 22528U, 24576U}) {
      if (quick() && tile > 7000) continue;
      for (const std::uint64_t n : {tile - 1, tile, tile + 1}) out.push_back(n);
    }
    return out;
  }

  std::optional<DirtyMemory> memory_;
};

constexpr CellBox kSmallBox{{5, 4, 3}};

TEST_P(OperationEdges, SelectsBesideTiles) {
  for (const std::uint64_t n : beside_tiles()) {
    for (const CoordinateKind kind : kKinds) {
      const Cloud cloud = cloud_in(kind, kSmallBox, Fill::kSpread, n);
      for (const auto& [name, program] : programs_for(kind)) {
        SCOPED_TRACE(testing::Message() << n << " points of kind " << static_cast<int>(kind) << ", " << name);
        check_select(cloud, program);
      }
    }
  }
}

TEST_P(OperationEdges, SelectsTheFirstOrTheLastAlone) {
  for (const std::uint64_t n : {1U, 2U, 33U, 6145U, 24577U}) {
    if (quick() && n > 7000) continue;
    for (const CoordinateKind kind : kKinds) {
      Cloud cloud = cloud_in(kind, kSmallBox, Fill::kSpread, n);
      for (const std::uint64_t lone : {std::uint64_t{0}, n - 1}) {
        SCOPED_TRACE(testing::Message() << n << " points of kind " << static_cast<int>(kind) << ", " << lone);
        std::fill(cloud.attribute.begin(), cloud.attribute.end(), std::uint8_t{9});
        cloud.attribute[lone] = 0;
        check_select(cloud, attribute_below(1));
        // And all but that one.
        std::fill(cloud.attribute.begin(), cloud.attribute.end(), std::uint8_t{0});
        cloud.attribute[lone] = 9;
        check_select(cloud, attribute_below(1));
      }
    }
  }
}

TEST_P(OperationEdges, SelectsExtremeCoordinates) {
  for (const std::uint64_t n : {5U, 6145U}) {
    Cloud lattice = cloud_in(CoordinateKind::kLattice, kSmallBox, Fill::kSpread, n);
    Cloud floats = cloud_in(CoordinateKind::kFloat32, kSmallBox, Fill::kSpread, n);
    constexpr std::int32_t kLow = std::numeric_limits<std::int32_t>::min();
    constexpr std::int32_t kHigh = std::numeric_limits<std::int32_t>::max();
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const float odd[] = {-0.0F,
                         std::numeric_limits<float>::denorm_min(),
                         std::numeric_limits<float>::max(),
                         -std::numeric_limits<float>::max(),
                         kInfinity,
                         -kInfinity,
                         std::numeric_limits<float>::quiet_NaN(),
                         -std::numeric_limits<float>::quiet_NaN()};
    for (std::uint64_t i = 0; i < n; ++i) {
      for (std::uint64_t d = 0; d < 3; ++d) {
        const std::uint64_t r = counter_random(40, 3 * i + d);
        const std::uint64_t at = i * sizeof(Record16) + 4 * d;
        store_unaligned(lattice.records.data() + at, r % 3 == 0 ? kLow : r % 3 == 1 ? kHigh : 0);
        store_unaligned(floats.records.data() + at, odd[r % std::size(odd)]);
      }
    }
    PredicateProgram no_zeros;
    no_zeros.drop_zero = true;
    no_zeros.zero_exists = true;
    for (const PredicateProgram& program :
         {PredicateProgram{}, no_zeros, PredicateProgram(world_box(CoordinateKind::kLattice, kLow, 0.0)),
          PredicateProgram(world_box(CoordinateKind::kLattice, kLow, kHigh))}) {
      check_select(lattice, program);
    }
    constexpr double kMost = std::numeric_limits<double>::max();
    for (const PredicateProgram& program :
         {PredicateProgram{}, no_zeros, world_box(CoordinateKind::kFloat32, 0.0, kMost),
          world_box(CoordinateKind::kFloat32, -kMost, 0.0)}) {
      check_select(floats, program);
    }
  }
}

TEST_P(OperationEdges, BinsBesideTiles) {
  for (const std::uint64_t n : beside_tiles()) {
    for (const CoordinateKind kind : kKinds) {
      const Fill fill = n % 2 == 0 ? Fill::kSpread : Fill::kFew;
      const Cloud cloud = cloud_in(kind, kSmallBox, fill, n);
      const BinSpec spec = spec_of(cloud, kSmallBox, n % 3 == 0 ? CellOrder::kMorton : CellOrder::kRowMajor);
      for (const auto& [name, program] : programs_for(kind)) {
        SCOPED_TRACE(testing::Message() << n << " points of kind " << static_cast<int>(kind) << ", " << name);
        check_bin(Call::kEnqueue, cloud, program, spec);
        if (program.columns.empty()) continue;
        check_bin(Call::kBin, cloud, program, spec);
      }
    }
  }
}

TEST_P(OperationEdges, BinsByKeysOfAnyNumberOfBits) {
  const std::uint64_t n = quick() ? 2100 : 7001;
  for (const unsigned bits : {0U, 1U, 8U, 9U, 16U, 17U, 18U, 26U, 27U, 32U, 33U, 40U}) {
    const CellBox box = box_of_bits(bits);
    for (const CellOrder order : {CellOrder::kRowMajor, CellOrder::kMorton}) {
      for (const CoordinateKind kind : kKinds) {
        // Floats at hundreds of thousands have no tenths left, which does not matter: they have cells all the same.
        for (const Fill fill : {Fill::kSpread, Fill::kFew}) {
          SCOPED_TRACE(testing::Message() << bits << " bits, order " << static_cast<int>(order) << ", points of kind "
                                          << static_cast<int>(kind) << ", fill " << static_cast<int>(fill));
          const Cloud cloud = cloud_in(kind, box, fill, n);
          const BinSpec spec = spec_of(cloud, box, order);
          if (kind == CoordinateKind::kLattice) {
            ASSERT_EQ(make_key_layout(order, true, spec.range->min, spec.range->max).key_bits, bits);
          }
          check_bins(cloud, attribute_below(5), spec);
        }
      }
    }
  }
}

// Beyond 4 M points a GPU with much shared memory takes other shapes of tiles.
TEST_P(OperationEdges, TakesMillionsOfPoints) {
  if (quick() || !backend().is_device()) GTEST_SKIP() << "takes long, and the host has no such shapes";
  const std::uint64_t n = (std::uint64_t{4} << 20) + 12345;
  // Passes by digits of all widths that there are, first and last, with a dense table of cells and without.
  for (const unsigned bits : {1U, 8U, 9U, 10U, 16U, 17U, 19U, 20U, 21U, 26U, 31U}) {
    SCOPED_TRACE(testing::Message() << bits << " bits");
    const CellBox box = box_of_bits(bits);
    const Cloud cloud = cloud_in(CoordinateKind::kLattice, box, Fill::kSpread, n);
    const PredicateProgram some = world_box(CoordinateKind::kLattice, -1e6, 100.0);
    if (bits == 26) {
      check_select(cloud, some);
      check_select(cloud_in(CoordinateKind::kFloat32, box, Fill::kSpread, n),
                   world_box(CoordinateKind::kFloat32, -1e6, 10.0));
    }
    check_bin(Call::kEnqueue, cloud, some, spec_of(cloud, box, CellOrder::kRowMajor));
  }
  // Whole tiles of columns, and one point more.
  for (const std::uint64_t count : {std::uint64_t{4} << 20, (std::uint64_t{4} << 20) + 1}) {
    SCOPED_TRACE(testing::Message() << count << " points");
    check_select(cloud_in(CoordinateKind::kLattice, kSmallBox, Fill::kSpread, count),
                 world_box(CoordinateKind::kLattice, -1e6, 100.0));
  }
}

TEST_P(OperationEdges, BinsAllPointsOfOneCell) {
  for (const std::uint64_t n : {1U, 33U, 6145U, 24577U}) {
    if (quick() && n > 7000) continue;
    for (const CoordinateKind kind : kKinds) {
      for (const CellOrder order : {CellOrder::kRowMajor, CellOrder::kMorton}) {
        // The last cell of ranges of several sizes: one cell, and keys of one, two and four digits.
        for (const unsigned bits : {0U, 7U, 12U, 30U}) {
          SCOPED_TRACE(testing::Message() << n << " points of kind " << static_cast<int>(kind) << ", order "
                                          << static_cast<int>(order) << ", " << bits << " bits");
          const CellBox box = box_of_bits(bits);
          const Cloud cloud = cloud_in(kind, box, Fill::kLast, n);
          BinSpec spec = spec_of(cloud, box, order);
          spec.range = box.range();
          check_bins(cloud, PredicateProgram{}, spec);
          check_bins(cloud, attribute_below(1), spec);
        }
      }
    }
  }
}

TEST_P(OperationEdges, BinsTheFirstOrTheLastAlone) {
  for (const std::uint64_t n : {1U, 2U, 33U, 6145U}) {
    for (const CoordinateKind kind : kKinds) {
      Cloud cloud = cloud_in(kind, kSmallBox, Fill::kSpread, n);
      const BinSpec spec = spec_of(cloud, kSmallBox, CellOrder::kRowMajor);
      for (const std::uint64_t lone : {std::uint64_t{0}, n - 1}) {
        SCOPED_TRACE(testing::Message() << n << " points of kind " << static_cast<int>(kind) << ", " << lone);
        std::fill(cloud.attribute.begin(), cloud.attribute.end(), std::uint8_t{9});
        cloud.attribute[lone] = 0;
        check_bins(cloud, attribute_below(1), spec);
        check_bins(cloud, attribute_below(0), spec);
      }
    }
  }
  const Cloud none = cloud_in(CoordinateKind::kFloat32, kSmallBox, Fill::kSpread, 0);
  check_bins(none, PredicateProgram{}, spec_of(none, kSmallBox, CellOrder::kMorton));
}

TEST_P(OperationEdges, OnlyItemsOfOutputsAreAligned) {
  for (const std::uint64_t offset : {1U, 2U, 3U, 5U, 7U, 15U}) {
    if (quick() && offset > 3) continue;
    for (const CoordinateKind kind : kKinds) {
      SCOPED_TRACE(testing::Message() << "points of kind " << static_cast<int>(kind) << ", outputs off by " << offset);
      const Cloud cloud = cloud_in(kind, kSmallBox, Fill::kSpread, 6145 + offset);
      check_select(cloud, attribute_below(5), offset);
      check_bins(cloud, attribute_below(5), spec_of(cloud, kSmallBox, CellOrder::kRowMajor), offset);
    }
  }
}

TEST_P(OperationEdges, DevicesRefuseRecordsThatAreNotAligned) {
  if (!backend().is_device()) GTEST_SKIP() << "the host takes records anywhere";
  Operations& operations = backend().operations();
  const auto points = room<Record16>(4);
  const auto out = room<Record16>(8);
  PointInput input;
  input.positions = Positions::packed(points.data(), CoordinateKind::kLattice);
  input.count = 4;
  const auto all = operations.prepare(PredicateProgram{});
  void* beside = reinterpret_cast<std::byte*>(out.data()) + 8;
  SelectOutputs selected;
  selected.records = beside;
  Workspace select_workspace(backend().memory(), operations.select_scratch(4));
  EXPECT_THROW(operations.select(*all, input, selected, select_workspace, stream()), InvalidArgument);
  CoordinateFrame frame;
  frame.kind = CoordinateKind::kLattice;
  const BinSpec spec{make_cell_grid(GridSpec{}, frame)};
  BinOutputs binned;
  binned.records = beside;
  Workspace bin_workspace(backend().memory(), operations.bin_scratch(spec, 4));
  EXPECT_THROW(operations.bin(*all, spec, input, binned, bin_workspace, stream()), InvalidArgument);
}

TEST_P(OperationEdges, ScratchForManyPointsIsEnoughForFewer) {
  Operations& operations = backend().operations();
  BinSpec bin;
  bin.grid.kind = CoordinateKind::kLattice;
  ReduceSpec reduce;
  reduce.grid = bin.grid;
  reduce.policy = KeepPolicy::kCentroid;
  const std::function<std::size_t(std::uint64_t)> functions[] = {
      [&](std::uint64_t n) { return operations.select_scratch(n); },
      [&](std::uint64_t n) { return operations.bin_scratch(bin, n); },
      [&](std::uint64_t n) { return operations.reduce_cells_scratch(reduce, n); },
  };
  for (const auto& scratch_of : functions) {
    std::size_t before = 0;
    for (int bits = 0; bits < 29; ++bits) {
      for (const std::uint64_t at : {std::uint64_t{2} << bits, std::uint64_t{3} << bits}) {
        for (const std::uint64_t n : {at - 1, at, at + 1}) {
          const std::size_t bytes = scratch_of(n);
          EXPECT_GE(bytes, before) << &scratch_of - functions << ", " << n;
          before = bytes;
        }
      }
    }
  }
}

// What earlier calls leave in a workspace must not matter, neither to others of the kind nor to `select`.
TEST_P(OperationEdges, OneWorkspaceServesManyBins) {
  const std::uint64_t most = quick() ? 5000 : 13000;
  const std::uint64_t rounds = quick() ? 10 : 50;
  for (const CoordinateKind kind : {CoordinateKind::kLattice, CoordinateKind::kFloat32}) {
    for (const unsigned bits : {12U, 27U}) {
      const CellBox box = box_of_bits(bits);
      BinSpec spec;
      std::vector<Cloud> clouds;
      std::size_t bytes = 0;
      for (std::uint64_t i = 0; i < rounds; ++i) {
        // Some calls have all points, and of those some keep all of them.
        const std::uint64_t n = i % 4 == 0 ? most : counter_random(41, i) % (most + 1);
        clouds.push_back(cloud_in(kind, box, i % 3 == 0 ? Fill::kFew : Fill::kSpread, n, 100 + i));
        spec = spec_of(clouds.back(), box, i % 5 == 0 ? CellOrder::kMorton : CellOrder::kRowMajor);
        bytes = std::max({bytes, operations().bin_scratch(spec, n), operations().select_scratch(n)});
      }
      Workspace workspace(*memory_, bytes);
      for (std::uint64_t i = 0; i < rounds; ++i) {
        SCOPED_TRACE(testing::Message() << "call " << i << ", " << clouds[i].count << " points of kind "
                                        << static_cast<int>(kind) << ", " << bits << " bits");
        spec.order = i % 5 == 0 ? CellOrder::kMorton : CellOrder::kRowMajor;
        const PredicateProgram program = attribute_below(static_cast<std::int64_t>(counter_random(42, i) % 9));
        expect_equal(run_bin(Call::kEnqueue, clouds[i], program, spec, workspace),
                     bin_slowly(clouds[i], program, spec));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, OperationEdges, testing::Values("serial", "cpu", "cuda", "thrust"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace sluice::test
