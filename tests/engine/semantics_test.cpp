// SPDX-License-Identifier: Apache-2.0
//
// The rules that every backend must obey, one by one, against slow oracles that share no code with the library: cells
// by 128-bit rationals, thinning by a map of cells, keys by their definition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "engine/backends.hpp"
#include "engine/clouds.hpp"
#include "sluice/sluice.hpp"

namespace sluice {
namespace {

using kernels::KeepPolicy;
using test::Dice;
using test::get_field;
using test::ids_of;
using test::Lattice;
using test::make_lattice;
using test::make_world;
using test::RawPoint;
using test::with_field;
using test::WorldPoint;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Cell = std::array<std::int64_t, 3>;
using Ids = std::vector<std::uint32_t>;
using Cells = std::map<Cell, Ids>;

/// digits * 10^exponent: what a test types, and the double that it becomes.
struct Typed {
  std::int64_t digits;
  int exponent;
  [[nodiscard]] double real() const {
    return std::strtod((std::to_string(digits) + "e" + std::to_string(exponent)).c_str(), nullptr);
  }
  [[nodiscard]] Decimal exact() const { return Decimal{digits, exponent}.normalized(); }
  [[nodiscard]] int128 in_units(int unit) const {
    int128 out = digits;
    for (int i = exponent; i > unit; --i) out *= 10;
    return out;
  }
};

/// A lattice and a grid, as typed.
struct CellSetup {
  std::array<Typed, 3> scale;
  std::array<Typed, 3> offset;
  std::array<Typed, 3> size;
  std::array<Typed, 3> origin = {Typed{0, 0}, Typed{0, 0}, Typed{0, 0}};
  bool use_z = true;

  [[nodiscard]] Lattice lattice() const {
    Lattice out;
    for (std::size_t d = 0; d < 3; ++d) {
      out.scale[d] = scale[d].real();
      out.offset[d] = offset[d].real();
    }
    return out;
  }
  [[nodiscard]] GridOptions grid() const {
    GridOptions out;
    out.use_z = use_z;
    for (std::size_t d = 0; d < 3; ++d) {
      out.size[d] = size[d].real();
      out.origin[d] = origin[d].exact();
    }
    return out;
  }
  // One unit for everything on every axis.
  [[nodiscard]] int unit() const {
    int out = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      for (const Typed& t : {scale[d], offset[d], size[d], origin[d]}) out = std::min(out, t.exponent);
    }
    return out;
  }
  /// Position less origin, in units.
  [[nodiscard]] int128 place(std::int32_t raw, std::size_t d) const {
    return raw * scale[d].in_units(unit()) + offset[d].in_units(unit()) - origin[d].in_units(unit());
  }
  [[nodiscard]] Cell cell(const RawPoint& p) const {
    Cell out{};
    for (std::size_t d = 0; d < (use_z ? 3U : 2U); ++d) {
      const int128 n = place(p[d], d);
      const int128 s = size[d].in_units(unit());
      int128 q = n / s;
      if (n < q * s) --q;
      out[d] = static_cast<std::int64_t>(q);
    }
    return out;
  }
  /// Four times the squared distance to the centre of the cell, in squared units.
  [[nodiscard]] int128 distance(const RawPoint& p) const {
    const Cell at = cell(p);
    int128 out = 0;
    for (std::size_t d = 0; d < (use_z ? 3U : 2U); ++d) {
      const int128 delta = 2 * place(p[d], d) - (2 * at[d] + 1) * size[d].in_units(unit());
      out += delta * delta;
    }
    return out;
  }
};

constexpr Typed kHundredth{1, -2};

CellSetup setup_of(Typed scale, Typed size, Typed offset = {0, 0}) {
  return {{scale, scale, scale}, {offset, offset, offset}, {size, size, size}};
}

std::vector<RawPoint> random_points(Dice& dice, int count, std::int32_t low, std::int32_t high) {
  std::vector<RawPoint> out;
  for (int i = 0; i < count; ++i) {
    RawPoint p;
    for (std::int32_t& x : p) x = static_cast<std::int32_t>(dice.between(low, high));
    out.push_back(p);
  }
  return out;
}

Cells cells_of(const std::vector<RawPoint>& points, const CellSetup& setup) {
  Cells out;
  for (std::uint32_t i = 0; i < points.size(); ++i) out[setup.cell(points[i])].push_back(i);
  return out;
}

/// The first k of each cell by a score, ties by index; in input order.
template <typename ScoreT>
Ids best_of(const Cells& cells, std::size_t k, ScoreT score) {
  Ids out;
  for (const auto& [cell, members] : cells) {
    Ids order = members;
    std::stable_sort(order.begin(), order.end(),
                     [&, at = cell](std::uint32_t a, std::uint32_t b) { return score(at, a) < score(at, b); });
    out.insert(out.end(), order.begin(), order.begin() + static_cast<std::ptrdiff_t>(std::min(k, order.size())));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::int64_t half_even(std::int64_t sum, std::int64_t n) {
  std::int64_t q = sum / n;
  if (sum < q * n) --q;
  const std::int64_t twice = 2 * (sum - q * n);
  return twice > n || (twice == n && q % 2 != 0) ? q + 1 : q;
}

class Semantics : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] Execution execution() const {
    Execution out;
    out.backend = GetParam();
    out.threads = 2;
    return out;
  }
  static void expect_accounts(const Report& report, std::uint64_t read) {
    EXPECT_EQ(report.points_read, read);
    EXPECT_EQ(report.points_read,
              report.points_written + report.points_rejected + report.points_nonfinite + report.points_merged);
  }
  [[nodiscard]] Ids thinned(const PointCloud& cloud, const ThinOptions& options,
                            const Selection& selection = {}) const {
    const CloudResult result = thin(cloud, selection, options, execution());
    expect_accounts(result.report, cloud.count());
    EXPECT_EQ(result.report.points_written, result.cloud.count());
    return ids_of(result.cloud);
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, Semantics, testing::ValuesIn(test::backend_names()), test::backend_label);

// ---- selection

TEST_P(Semantics, FilterKeepsRecordsWholeAndInOrder) {
  Dice dice(1);
  const std::vector<RawPoint> points = random_points(dice, 5000, -1000, 1000);
  const PointCloud cloud = make_lattice(points);
  Selection selection;
  Box box;
  box.min[0] = -5;
  box.max[1] = 3.005;
  selection.regions.emplace_back(box);
  selection.where.push_back(parse_where("intensity < 700 && classification in (1, 3, 4) || return_number == 5"));
  const CloudResult result = filter(cloud, selection, execution());
  std::vector<std::byte> wanted;
  std::uint64_t kept = 0;
  const std::uint32_t bytes = cloud.info().schema.record_bytes;
  for (std::uint64_t i = 0; i < points.size(); ++i) {
    const std::uint8_t c = test::classification_of(i);
    const bool where = (test::intensity_of(i) < 700 && (c == 1 || c == 3 || c == 4)) || test::return_number_of(i) == 5;
    if (points[i][0] < -500 || points[i][1] > 300 || !where) continue;
    ++kept;
    const auto from = cloud.records().begin() + static_cast<std::ptrdiff_t>(i * bytes);
    wanted.insert(wanted.end(), from, from + bytes);
  }
  EXPECT_GT(kept, 100U);
  EXPECT_EQ(result.cloud.records(), wanted);
  EXPECT_EQ(result.report.points_written, kept);
  EXPECT_EQ(result.report.backend, GetParam());
  EXPECT_EQ(result.report.backend_reason, "asked for");
  expect_accounts(result.report, points.size());
}

TEST_P(Semantics, EveryKindOfRegionDecidesAsTheSerialBackend) {
  Dice dice(2);
  const std::vector<RawPoint> points = random_points(dice, 4000, -500, 500);
  std::vector<WorldPoint> world;
  for (const RawPoint& p : points) world.push_back({p[0] * 0.01, p[1] * 0.01, p[2] * 0.01});
  Polygon polygon;
  polygon.rings = {{{-4, -4}, {4, -3}, {3, 4}, {-3.5, 3}}, {{-1, -1}, {1, -1}, {0, 1.25}}};
  Sector sector;
  sector.az0 = 300;
  sector.az1 = 50;
  sector.el0 = -30;
  sector.el1 = 60;
  Frustum frustum;
  frustum.planes = {HalfSpace{{1, 1, 0}, 1}, HalfSpace{{1, -1, 0.5}, 2}};
  const std::vector<Region> regions = {Box{{-3, -2, -1}, {1, 2, 3}},
                                       OrientedBox{{0, 0, 0}, {5, 3, 4}, 30, 10, -20},
                                       Sphere{{1, 1, 1}, 3},
                                       Cylinder{{-1, 0}, 2, -3, 3},
                                       polygon,
                                       HalfSpace{{1, 2, 3}, -1},
                                       frustum,
                                       RangeRing{2, 4, {0, 0, 0}},
                                       sector};
  Execution serial;
  serial.backend = "serial";
  for (const PointCloud& cloud : {make_lattice(points), make_world(CoordinateKind::kFloat32, world),
                                  make_world(CoordinateKind::kFloat64, world)}) {
    for (std::size_t i = 0; i < regions.size(); ++i) {
      Selection selection;
      selection.regions = {regions[i]};
      const CloudResult result = filter(cloud, selection, execution());
      EXPECT_EQ(result.cloud.records(), filter(cloud, selection, serial).cloud.records()) << i;
      EXPECT_GT(result.cloud.count(), 50U) << i;
      EXPECT_LT(result.cloud.count(), 3950U) << i;
    }
    Selection all;
    all.regions = regions;
    all.where.push_back(parse_where("warmth != 3.5 && (x < y || scan_angle > 2.5)"));
    all.invert = true;
    all.fraction = 0.7;
    all.every = 2;
    const CloudResult result = filter(cloud, all, execution());
    EXPECT_EQ(result.cloud.records(), filter(cloud, all, serial).cloud.records());
    expect_accounts(result.report, points.size());
  }
}

TEST_P(Semantics, ChunksDoNotChangeFractionOrEvery) {
  const PointCloud cloud = make_lattice(std::vector<RawPoint>(3000));
  Selection selection;
  selection.fraction = 0.6;
  selection.seed = 11;
  selection.every = 7;
  Ids wanted;
  std::uint64_t passed = 0;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    if (counter_random(11, i) < static_cast<std::uint64_t>(std::ldexp(0.6, 64)) && passed++ % 7 == 0) {
      wanted.push_back(static_cast<std::uint32_t>(i));
    }
  }
  for (const std::uint64_t chunk : {1U, 7U, 100U, 4096U}) {
    Execution in_chunks = execution();
    in_chunks.chunk_points = chunk;
    EXPECT_EQ(ids_of(filter(cloud, selection, in_chunks).cloud), wanted) << chunk;
  }
  // The same choice comes before cells.
  ThinOptions options;
  options.max_per_cell = 1000000;
  EXPECT_EQ(thinned(cloud, options, selection), wanted);
  EXPECT_EQ(ids_of(bin(cloud, selection, BinOptions{}, execution()).cloud), wanted);
}

TEST_P(Semantics, DropsAndCountsWhatIsNotFinite) {
  const double nan = std::nan("");
  for (const CoordinateKind kind : {CoordinateKind::kFloat32, CoordinateKind::kFloat64}) {
    const PointCloud cloud = make_world(
        kind, {{0, 0, 0}, {nan, 0, 0}, {1, 2, 3}, {0, kInfinity, 0}, {4, 5, -kInfinity}, {6, 7, 8}, {0, 0, 1}});
    for (const bool invert : {false, true}) {
      Selection selection;
      selection.invert = invert;
      const CloudResult result = filter(cloud, selection, execution());
      EXPECT_EQ(ids_of(result.cloud), invert ? Ids{} : (Ids{0, 2, 5, 6}));
      EXPECT_EQ(result.report.points_nonfinite, 3U);
      expect_accounts(result.report, 7);
    }
    Selection zeros;
    zeros.drop_zero = true;
    const CloudResult result = filter(cloud, zeros, execution());
    EXPECT_EQ(ids_of(result.cloud), (Ids{2, 5, 6}));
    EXPECT_EQ(result.report.points_nonfinite, 4U);
    for (const std::uint64_t every : {1U, 2U}) {
      zeros.every = every;
      ThinOptions options;
      EXPECT_EQ(thinned(cloud, options, zeros), every == 1 ? (Ids{2, 5, 6}) : (Ids{2, 6}));
      const CloudResult binned = bin(cloud, zeros, BinOptions{}, execution());
      EXPECT_EQ(ids_of(binned.cloud), every == 1 ? (Ids{6, 2, 5}) : (Ids{6, 2}));
      EXPECT_EQ(binned.report.points_nonfinite, 4U);
      expect_accounts(binned.report, 7);
    }
  }
}

// ---- cells

TEST_P(Semantics, CellsOfALatticeAreExact) {
  // 5.300 m at size 0.1 is cell 53, although 5.3 / 0.1 is below 53 in doubles.
  const PointCloud cloud =
      make_lattice({{5300, 5299, -1}, {-5300, -5301, 0}}, Lattice{{0.001, 0.001, 0.001}, {0, 0, 0}});
  BinOptions options;
  options.grid.size = {0.1, 0.1, 0.1};
  std::vector<Cell> rows;
  options.cells = [&](std::span<const CellRow> some) {
    for (const CellRow& row : some) rows.push_back({row.cell[0], row.cell[1], row.cell[2]});
  };
  const CloudResult result = bin(cloud, {}, options, execution());
  EXPECT_THAT(rows, ElementsAre(Cell{53, 52, -1}, Cell{-53, -54, 0}));
  EXPECT_EQ(result.report.cells, 2U);
}

TEST_P(Semantics, BinOrdersByCellAndTellsTheCells) {
  Dice dice(3);
  std::vector<CellSetup> setups = {
      setup_of(kHundredth, {1, -1}), setup_of(kHundredth, {73, -3}, {500000123, -3}),
      setup_of({25, -2}, {1, 0}),    setup_of({-1, -2}, {3, -1}, {7, -1}),
      setup_of({1, -7}, {31, -8}),   setup_of({1, -9}, {123456789, -16}, {1234567890123, -12})};
  CellSetup uneven;
  uneven.scale = {kHundredth, Typed{1, -3}, Typed{2, -2}};
  uneven.offset = {Typed{5, 0}, Typed{-3, -1}, Typed{0, 0}};
  uneven.size = {Typed{5, -1}, Typed{1, 0}, Typed{2, 0}};
  setups.push_back(uneven);
  setups.back().origin = {Typed{123, -3}, Typed{-77, -1}, Typed{1, 1}};
  setups.push_back(setups.back());
  setups.back().use_z = false;
  for (std::size_t s = 0; s < setups.size(); ++s) {
    const CellSetup& setup = setups[s];
    const std::vector<RawPoint> points = random_points(dice, 3000, -300, 300);
    const PointCloud cloud = make_lattice(points, setup.lattice());
    Selection selection;
    selection.where.push_back(parse_where("classification != 3"));
    BinOptions options;
    options.grid = setup.grid();
    std::vector<CellRow> rows;
    options.cells = [&](std::span<const CellRow> some) { rows.insert(rows.end(), some.begin(), some.end()); };
    const CloudResult result = bin(cloud, selection, options, execution());
    // x fastest, then y, then z.
    std::map<Cell, Ids> wanted;
    for (std::uint32_t i = 0; i < points.size(); ++i) {
      if (test::classification_of(i) == 3) continue;
      const Cell cell = setup.cell(points[i]);
      wanted[{cell[2], cell[1], cell[0]}].push_back(i);
    }
    Ids order;
    ASSERT_EQ(rows.size(), wanted.size()) << s;
    EXPECT_EQ(result.report.cells, wanted.size()) << s;
    std::size_t row = 0;
    for (const auto& [cell, members] : wanted) {
      EXPECT_EQ(rows[row].cell[0], cell[2]);
      EXPECT_EQ(rows[row].cell[1], cell[1]);
      EXPECT_EQ(rows[row].cell[2], cell[0]);
      EXPECT_EQ(rows[row].first, order.size());
      EXPECT_EQ(rows[row].count, members.size());
      ++row;
      order.insert(order.end(), members.begin(), members.end());
    }
    EXPECT_EQ(ids_of(result.cloud), order) << s;
    expect_accounts(result.report, points.size());
    if (HasFailure()) return;
  }
}

TEST_P(Semantics, CellsOfFloatsAreTrueDivisions) {
  Dice dice(4);
  std::vector<WorldPoint> points;
  for (int i = 0; i < 3000; ++i) points.push_back({dice.unit() * 6 - 3, dice.unit() * 6 - 3, dice.unit() * 6 - 3});
  for (int i = -20; i <= 20; ++i) points.push_back({i * 0.1, i / 10.0, 0.3});
  for (const CoordinateKind kind : {CoordinateKind::kFloat32, CoordinateKind::kFloat64}) {
    const PointCloud cloud = make_world(kind, points);
    std::map<Cell, Ids> wanted;
    for (std::uint32_t i = 0; i < points.size(); ++i) {
      Cell cell{};
      for (std::size_t d = 0; d < 3; ++d) {
        const double x = kind == CoordinateKind::kFloat32 ? static_cast<float>(points[i][d]) : points[i][d];
        const volatile double shifted = x - 0.05;
        cell[2 - d] = static_cast<std::int64_t>(std::floor(shifted / 0.1));
      }
      wanted[cell].push_back(i);
    }
    Ids order;
    for (const auto& [cell, members] : wanted) order.insert(order.end(), members.begin(), members.end());
    BinOptions options;
    options.grid.size = {0.1, 0.1, 0.1};
    options.grid.origin = {Decimal{5, -2}, Decimal{5, -2}, Decimal{5, -2}};
    const CloudResult result = bin(cloud, {}, options, execution());
    EXPECT_EQ(ids_of(result.cloud), order);
    EXPECT_EQ(result.report.cells, wanted.size());
  }
}

TEST_P(Semantics, CellsDoNotDependOnWhatWasCropped) {
  Dice dice(5);
  const std::vector<RawPoint> points = random_points(dice, 2000, -500, 500);
  const PointCloud cloud = make_lattice(points);
  Selection selection;
  Box box;
  box.min[0] = -1.234;
  box.max[2] = 3.21;
  selection.regions.emplace_back(box);
  BinOptions options;
  options.grid.size = {0.7, 0.7, 0.7};
  const CloudResult crop_first = bin(filter(cloud, selection, execution()).cloud, {}, options, execution());
  const CloudResult crop_last = filter(bin(cloud, {}, options, execution()).cloud, selection, execution());
  EXPECT_EQ(crop_first.cloud.records(), crop_last.cloud.records());
  EXPECT_EQ(crop_first.cloud.records(), bin(cloud, selection, options, execution()).cloud.records());
}

TEST_P(Semantics, OriginMayBeTheSmallestCoordinateOfAllPoints) {
  const PointCloud cloud =
      make_lattice({{5, 100, 7}, {-33, 50, 9}, {900, 777, -2}}, Lattice{{0.01, -0.01, 0.001}, {1, 2, 3}});
  Selection selection;  // does not hold the smallest ones
  selection.where.push_back(parse_where("x > 5"));
  BinOptions options;
  options.grid.origin_at_minimum = true;
  std::vector<Cell> rows;
  options.cells = [&](std::span<const CellRow> some) {
    for (const CellRow& row : some) rows.push_back({row.cell[0], row.cell[1], row.cell[2]});
  };
  for (const bool by_every : {false, true}) {
    rows.clear();
    selection.every = by_every ? 2 : 1;
    const CloudResult result = bin(cloud, selection, options, execution());
    // 1 - 0.33, 2 - 7.77, 3 - 0.002
    EXPECT_EQ(result.report.origin[0].to_double(), 0.67);
    EXPECT_EQ(result.report.origin[1].to_double(), -5.77);
    EXPECT_EQ(result.report.origin[2].to_double(), 2.998);
    EXPECT_THAT(rows, ElementsAre(Cell{9, 0, 0}));
  }
  selection = Selection{};
  const PointCloud world =
      make_world(CoordinateKind::kFloat32, {{1, 1, 1}, {std::nan(""), -9, -9}, {0.1, 2, 3}, {0, 0, 0}});
  selection.drop_zero = true;
  options.grid.use_z = false;
  const CloudResult result = bin(world, selection, options, execution());
  EXPECT_EQ(result.report.origin[0].to_double(), static_cast<double>(0.1F));
  EXPECT_EQ(result.report.origin[1].to_double(), 1.0);
  EXPECT_EQ(result.report.origin[2].to_double(), 0.0);
}

TEST_P(Semantics, MortonInterleavesFromTheLowerCorner) {
  Dice dice(6);
  const CellSetup setup = setup_of(kHundredth, {1, 0});
  for (const auto& limits : {std::array<std::int32_t, 3>{900, 900, 900}, {6000, 300, 50}, {100, 25500, 900}}) {
    std::vector<RawPoint> points;
    for (int i = 0; i < 2000; ++i) {
      RawPoint p;
      for (std::size_t d = 0; d < 3; ++d) p[d] = static_cast<std::int32_t>(dice.between(-250, limits[d]));
      points.push_back(p);
    }
    Cell low = {0, 0, 0};
    Cell high = {0, 0, 0};
    for (const RawPoint& p : points) {
      const Cell cell = setup.cell(p);
      for (std::size_t d = 0; d < 3; ++d) {
        low[d] = std::min(low[d], cell[d]);
        high[d] = std::max(high[d], cell[d]);
      }
    }
    int bits = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      for (std::int64_t last = high[d] - low[d]; last != 0; last /= 2) ++bits;
    }
    // All axes with as many bits as any, most significant first, z before y before x: the same order.
    const auto key = [&](const RawPoint& p) {
      const Cell cell = setup.cell(p);
      std::uint64_t out = 0;
      for (int level = 20; level >= 0; --level) {
        for (std::size_t d = 3; d-- > 0;) {
          out = out * 2 + ((static_cast<std::uint64_t>(cell[d] - low[d]) >> level) & 1);
        }
      }
      return out;
    };
    Ids wanted(points.size());
    std::iota(wanted.begin(), wanted.end(), 0U);
    std::stable_sort(wanted.begin(), wanted.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return key(points[a]) < key(points[b]); });
    BinOptions options;
    options.order = CellOrder::kMorton;
    const CloudResult result = bin(make_lattice(points), {}, options, execution());
    EXPECT_EQ(ids_of(result.cloud), wanted);
    EXPECT_EQ(result.report.key_bits, bits);
  }
}

TEST_P(Semantics, HilbertNeighboursTouch) {
  for (const bool use_z : {true, false}) {
    std::vector<RawPoint> points;
    const std::int32_t edge = use_z ? 8 : 16;
    for (std::int32_t x = 0; x < edge; ++x) {
      for (std::int32_t y = 0; y < edge; ++y) {
        for (std::int32_t z = 0; z < (use_z ? edge : 1); ++z) points.push_back({x * 100 - 300, y * 100 + 50, z * 100});
      }
    }
    BinOptions options;
    options.order = CellOrder::kHilbert;
    options.grid.use_z = use_z;
    std::vector<Cell> rows;
    options.cells = [&](std::span<const CellRow> some) {
      for (const CellRow& row : some) rows.push_back({row.cell[0], row.cell[1], row.cell[2]});
    };
    const CloudResult result = bin(make_lattice(points), {}, options, execution());
    ASSERT_EQ(rows.size(), points.size());
    for (std::size_t i = 1; i < rows.size(); ++i) {
      std::int64_t steps = 0;
      for (std::size_t d = 0; d < 3; ++d) steps += std::abs(rows[i][d] - rows[i - 1][d]);
      ASSERT_EQ(steps, 1) << i;
    }
    EXPECT_EQ(result.report.key_bits, use_z ? 9 : 8);
    // Records lie in the cells that the rows name.
    for (std::uint64_t i = 0; i < result.cloud.count(); ++i) {
      EXPECT_EQ(setup_of(kHundredth, {1, 0}).cell({get_field<std::int32_t>(result.cloud, "x", i), 0, 0})[0],
                rows[i][0]);
    }
  }
}

TEST_P(Semantics, KeysThatDoNotFitAreRefusedWithASizeThatDoes) {
  const std::int32_t low = std::numeric_limits<std::int32_t>::min();
  const std::int32_t high = std::numeric_limits<std::int32_t>::max();
  for (const bool flat : {false, true}) {
    const PointCloud cloud = make_lattice({{low, low, flat ? 0 : low}, {high, high, flat ? 0 : high}});
    for (const CellOrder order : {CellOrder::kRowMajor, CellOrder::kMorton, CellOrder::kHilbert}) {
      BinOptions options;
      options.order = order;
      options.grid.size = {0.0001, 0.0001, 0.0001};
      std::string message;
      try {
        (void)bin(cloud, {}, options, execution());
      } catch (const Unsupported& error) {
        message = error.what();
      }
      ASSERT_THAT(message, HasSubstr("64"));
      ASSERT_THAT(message, HasSubstr("times as large"));
      const auto at = message.find("cells ", message.find("most"));
      ASSERT_NE(at, std::string::npos) << message;
      const double factor = std::atof(message.c_str() + at + 6);
      for (double& size : options.grid.size) size *= factor;
      EXPECT_NO_THROW((void)bin(cloud, {}, options, execution())) << message;
    }
  }
  // A cell number beyond 62 bits.
  const PointCloud far = make_world(CoordinateKind::kFloat64, {{1e30, 0, 0}, {0, 0, 0}});
  EXPECT_THROW((void)bin(far, {}, BinOptions{}, execution()), Unsupported);
  EXPECT_THROW((void)thin(far, {}, ThinOptions{}, execution()), Unsupported);
  BinOptions fine;
  fine.grid.size = {1e-20, 1e-20, 1e-20};
  EXPECT_THROW(
      (void)bin(make_lattice({{1, 0, 0}, {2, 0, 0}}, Lattice{{1000, 1000, 1000}, {0, 0, 0}}), {}, fine, execution()),
      Unsupported);
}

// ---- thinning

TEST_P(Semantics, ThinKeepsWhatItsPolicySays) {
  Dice dice(7);
  std::vector<CellSetup> setups = {setup_of(kHundredth, {1, 0}), setup_of({1, -3}, {33, -3}, {-17, -1}),
                                   setup_of({-1, -2}, {7, -1}), setup_of({3, -9}, {123456789, -15}, {5, -1})};
  setups.push_back(setups.front());
  setups.back().use_z = false;
  setups.back().origin = {Typed{37, -2}, Typed{-1, -2}, Typed{0, 0}};
  for (std::size_t s = 0; s < setups.size(); ++s) {
    const CellSetup& setup = setups[s];
    // Few distinct positions, so that there are ties.
    const std::vector<RawPoint> points = random_points(dice, 3000, -120, 120);
    const PointCloud cloud = make_lattice(points, setup.lattice());
    const Cells cells = cells_of(points, setup);
    const double scale = setup.scale[2].real();
    for (const std::size_t k : {1U, 2U, 5U}) {
      ThinOptions options;
      options.grid = setup.grid();
      options.max_per_cell = static_cast<std::uint32_t>(k);
      options.seed = 99;
      const auto kept = [&](KeepPolicy policy) {
        options.policy = policy;
        return thinned(cloud, options);
      };
      EXPECT_EQ(kept(KeepPolicy::kFirst), best_of(cells, k, [](const Cell&, std::uint32_t) { return 0; })) << s;
      EXPECT_EQ(kept(KeepPolicy::kCenter),
                best_of(cells, k, [&](const Cell&, std::uint32_t i) { return setup.distance(points[i]); }))
          << s;
      EXPECT_EQ(kept(KeepPolicy::kLowest),
                best_of(cells, k, [&](const Cell&, std::uint32_t i) { return points[i][2] * (scale > 0 ? 1 : -1); }))
          << s;
      EXPECT_EQ(kept(KeepPolicy::kHighest),
                best_of(cells, k, [&](const Cell&, std::uint32_t i) { return points[i][2] * (scale > 0 ? -1 : 1); }))
          << s;
      EXPECT_EQ(kept(KeepPolicy::kRandom), best_of(cells, k,
                                                   [&](const Cell& cell, std::uint32_t i) {
                                                     const std::int64_t c[3] = {cell[0], cell[1], cell[2]};
                                                     return counter_random(99, c, i);
                                                   }))
          << s;
      const auto to_centroid = [&](const Cell& cell, std::uint32_t i) {
        const Ids& members = cells.at(cell);
        const auto n = static_cast<std::int64_t>(members.size());
        std::array<double, 3> delta{};
        for (std::size_t d = 0; d < (setup.use_z ? 3U : 2U); ++d) {
          std::int64_t sum = 0;
          for (const std::uint32_t m : members) sum += points[m][d];
          delta[d] = static_cast<double>(n * points[i][d] - sum) * std::fabs(setup.scale[d].real());
        }
        const volatile double xx = delta[0] * delta[0];
        const volatile double yy = delta[1] * delta[1];
        const volatile double zz = delta[2] * delta[2];
        const volatile double level = xx + yy;
        return level + zz;
      };
      EXPECT_EQ(kept(KeepPolicy::kNearestCentroid), best_of(cells, k, to_centroid)) << s;
      if (HasFailure()) return;
    }
  }
}

TEST_P(Semantics, TiesGoToTheLowestIndex) {
  // Four points at the corners of the cell's middle, and copies of the first.
  const PointCloud cloud = make_lattice({{40, 60, 50}, {60, 60, 50}, {60, 40, 50}, {40, 40, 50}, {40, 60, 50}});
  ThinOptions options;
  for (const KeepPolicy policy : {KeepPolicy::kFirst, KeepPolicy::kCenter, KeepPolicy::kLowest, KeepPolicy::kHighest}) {
    options.policy = policy;
    options.max_per_cell = 1;
    EXPECT_EQ(thinned(cloud, options), (Ids{0}));
    options.max_per_cell = 3;
    EXPECT_EQ(thinned(cloud, options), (Ids{0, 1, 2}));
  }
  const PointCloud square = make_lattice({{40, 60, 50}, {60, 60, 50}, {60, 40, 50}, {40, 40, 50}});
  options.max_per_cell = 1;
  options.policy = KeepPolicy::kNearestCentroid;
  EXPECT_EQ(thinned(square, options), (Ids{0}));
}

TEST_P(Semantics, ThinningTwiceChangesNothing) {
  Dice dice(8);
  const PointCloud cloud = make_lattice(random_points(dice, 3000, -300, 300));
  for (const KeepPolicy policy : {KeepPolicy::kFirst, KeepPolicy::kCenter, KeepPolicy::kLowest, KeepPolicy::kHighest,
                                  KeepPolicy::kCentroid, KeepPolicy::kNearestCentroid, KeepPolicy::kRandom}) {
    ThinOptions options;
    options.policy = policy;
    const CloudResult once = thin(cloud, {}, options, execution());
    const CloudResult twice = thin(once.cloud, {}, options, execution());
    EXPECT_EQ(once.cloud.records(), twice.cloud.records());
    EXPECT_GT(once.report.points_merged, 0U);
    EXPECT_EQ(twice.report.points_merged, 0U);
  }
}

TEST_P(Semantics, CentroidsOfALatticeAreRoundedHalfToEven) {
  Dice dice(9);
  const CellSetup setup = setup_of(kHundredth, {1, 0});
  const std::vector<RawPoint> points = random_points(dice, 2500, -500, 500);
  const PointCloud cloud = make_lattice(points);
  ThinOptions options;
  options.policy = KeepPolicy::kCentroid;
  const CloudResult result = thin(cloud, {}, options, execution());
  expect_accounts(result.report, points.size());
  // In the order of the first point of each cell.
  std::map<std::uint32_t, Ids> by_first;
  for (const auto& [cell, members] : cells_of(points, setup)) by_first[members.front()] = members;
  ASSERT_EQ(result.cloud.count(), by_first.size());
  std::uint64_t row = 0;
  int halves = 0;
  for (const auto& [first, members] : by_first) {
    RawPoint mean{};
    std::array<std::int64_t, 3> sum{};
    const auto n = static_cast<std::int64_t>(members.size());
    for (std::size_t d = 0; d < 3; ++d) {
      for (const std::uint32_t m : members) sum[d] += points[m][d];
      halves += (2 * sum[d]) % n == 0 && sum[d] % n != 0 ? 1 : 0;
      mean[d] = static_cast<std::int32_t>(half_even(sum[d], n));
    }
    EXPECT_EQ(get_field<std::int32_t>(result.cloud, "x", row), mean[0]);
    EXPECT_EQ(get_field<std::int32_t>(result.cloud, "y", row), mean[1]);
    EXPECT_EQ(get_field<std::int32_t>(result.cloud, "z", row), mean[2]);
    // Everything else from the record nearest to the centroid.
    std::uint32_t nearest = members.front();
    const auto distance = [&](std::uint32_t m) {
      std::array<double, 3> delta{};
      for (std::size_t d = 0; d < 3; ++d) delta[d] = static_cast<double>(n * points[m][d] - sum[d]) * 0.01;
      const volatile double xx = delta[0] * delta[0];
      const volatile double yy = delta[1] * delta[1];
      const volatile double zz = delta[2] * delta[2];
      const volatile double level = xx + yy;
      return level + zz;
    };
    for (const std::uint32_t m : members) {
      if (distance(m) < distance(nearest)) nearest = m;
    }
    EXPECT_EQ(get_field<std::uint32_t>(result.cloud, "id", row), nearest);
    EXPECT_EQ(get_field<std::uint16_t>(result.cloud, "intensity", row), test::intensity_of(nearest));
    ++row;
  }
  EXPECT_GT(halves, 20);
}

TEST_P(Semantics, CentroidsOfFloatsAreFixedPointSums) {
  Dice dice(10);
  for (const CoordinateKind kind : {CoordinateKind::kFloat32, CoordinateKind::kFloat64}) {
    std::vector<WorldPoint> points;
    for (int i = 0; i < 1500; ++i) points.push_back({dice.unit() * 20 - 10, dice.unit() * 20 - 10, dice.unit() * 6});
    if (kind == CoordinateKind::kFloat32) {
      for (WorldPoint& p : points) {
        for (double& x : p) x = static_cast<float>(x);
      }
    }
    const double size = 1.3;
    std::map<Cell, Ids> cells;
    for (std::uint32_t i = 0; i < points.size(); ++i) {
      Cell cell{};
      for (std::size_t d = 0; d < 3; ++d) cell[d] = static_cast<std::int64_t>(std::floor(points[i][d] / size));
      cells[cell].push_back(i);
    }
    std::map<std::uint32_t, std::pair<Cell, Ids>> by_first;
    for (const auto& entry : cells) by_first[entry.second.front()] = entry;
    ThinOptions options;
    options.policy = KeepPolicy::kCentroid;
    options.grid.size = {size, size, size};
    const CloudResult result = thin(make_world(kind, points), {}, options, execution());
    ASSERT_EQ(result.cloud.count(), by_first.size());
    std::uint64_t row = 0;
    int alone = 0;
    for (const auto& [first, entry] : by_first) {
      const auto& [cell, members] = entry;
      static constexpr const char* kAxes[3] = {"x", "y", "z"};
      for (std::size_t d = 0; d < 3; ++d) {
        double wanted = points[first][d];
        if (members.size() > 1) {
          const volatile double corner = static_cast<double>(cell[d]) * size;
          std::int64_t sum = 0;
          for (const std::uint32_t m : members) {
            const volatile double steps = (points[m][d] - corner) / size * 4294967296.0;
            sum += static_cast<std::int64_t>(std::floor(steps + 0.5));
          }
          const volatile double mean = static_cast<double>(sum) / static_cast<double>(members.size());
          const volatile double inside = mean / 4294967296.0 * size;
          wanted = corner + inside;
        } else {
          ++alone;
        }
        if (kind == CoordinateKind::kFloat32) {
          EXPECT_EQ(get_field<float>(result.cloud, kAxes[d], row), static_cast<float>(wanted));
        } else {
          EXPECT_EQ(get_field<double>(result.cloud, kAxes[d], row), wanted);
        }
      }
      ++row;
    }
    EXPECT_GT(alone, 10);
  }
}

TEST_P(Semantics, AttributesOfCentroidsFollowTheirRules) {
  // One cell of five points and one of a single point.
  PointCloud cloud = make_lattice({{10, 10, 10}, {20, 20, 20}, {30, 30, 30}, {40, 40, 40}, {50, 50, 50}, {510, 0, 0}});
  const std::array<std::uint16_t, 6> intensity = {1, 2, 2, 4, 5, 777};  // mean 2.8
  const std::array<std::uint8_t, 6> number = {1, 2, 3, 4, 6, 7};
  const std::array<std::int16_t, 6> angle = {-5, -5, 3, 3, -1, 9};  // two modes; mean -1
  const std::array<std::uint8_t, 6> classification = {9, 8, 9, 9, 8, 1};
  const std::array<float, 6> warmth = {1.5F, std::nanf(""), -2.0F, 4.0F, 0.0F, std::nanf("")};
  for (std::size_t i = 0; i < 6; ++i) {
    cloud = with_field(cloud, "intensity", i, intensity[i]);
    cloud = with_field(cloud, "return_number", i, static_cast<std::uint8_t>(0xf1U | (number[i] << 1U)));
    cloud = with_field(cloud, "scan_angle", i, angle[i]);
    cloud = with_field(cloud, "classification", i, classification[i]);
    cloud = with_field(cloud, "warmth", i, warmth[i]);
  }
  ThinOptions options;
  options.policy = KeepPolicy::kCentroid;
  options.attributes = {{"intensity", AttributeRule::kMean},  {"Return_Number", AttributeRule::kMax},
                        {"scan_angle", AttributeRule::kMode}, {"classification", AttributeRule::kMin},
                        {"warmth", AttributeRule::kMin},      {"gps_time", AttributeRule::kMean},
                        {"big", AttributeRule::kMean},        {"deep", AttributeRule::kMean}};
  const CloudResult result = thin(cloud, {}, options, execution());
  ASSERT_EQ(result.cloud.count(), 2U);
  EXPECT_EQ(get_field<std::uint16_t>(result.cloud, "intensity", 0), 3);
  EXPECT_EQ(get_field<std::uint8_t>(result.cloud, "return_number", 0), 0xfd);  // 6, and the bits beside it
  EXPECT_EQ(get_field<std::int16_t>(result.cloud, "scan_angle", 0), -5);
  EXPECT_EQ(get_field<std::uint8_t>(result.cloud, "classification", 0), 8);
  EXPECT_EQ(get_field<float>(result.cloud, "warmth", 0), -2.0F);
  EXPECT_EQ(get_field<double>(result.cloud, "gps_time", 0), 1000.5);
  EXPECT_EQ(get_field<std::uint64_t>(result.cloud, "big", 0), 18446744073709551613ULL);
  EXPECT_EQ(get_field<std::int64_t>(result.cloud, "deep", 0), 9007199254740994);
  EXPECT_EQ(get_field<std::uint32_t>(result.cloud, "id", 0), 2U);
  // The single point keeps its record.
  const std::uint32_t bytes = cloud.info().schema.record_bytes;
  EXPECT_TRUE(std::equal(cloud.records().end() - bytes, cloud.records().end(), result.cloud.records().end() - bytes));

  // Means of integers are rounded half to even, below zero too.
  const PointCloud pairs =
      with_field(with_field(make_lattice({{1, 1, 1}, {2, 2, 2}}), "scan_angle", 0, std::int16_t{-3}), "scan_angle", 1,
                 std::int16_t{-2});
  options.attributes = {{"scan_angle", AttributeRule::kMean}};
  EXPECT_EQ(get_field<std::int16_t>(thin(pairs, {}, options, execution()).cloud, "scan_angle", 0), -2);
}

TEST_P(Semantics, RefusesThinOptionsThatMakeNoSense) {
  const PointCloud cloud = make_lattice({{1, 2, 3}});
  const auto refusal = [&](const ThinOptions& options) -> std::string {
    try {
      (void)thin(cloud, {}, options, execution());
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return {};
  };
  ThinOptions options;
  options.max_per_cell = 0;
  EXPECT_THAT(refusal(options), HasSubstr("at least one"));
  options.max_per_cell = 2;
  options.policy = KeepPolicy::kCentroid;
  EXPECT_THAT(refusal(options), HasSubstr("one centroid"));
  options.max_per_cell = 1;
  options.attributes = {{"colour", AttributeRule::kMean}};
  EXPECT_THAT(refusal(options), HasSubstr("no field 'colour'"));
  options.attributes = {{"X", AttributeRule::kMean}};
  EXPECT_THAT(refusal(options), HasSubstr("'x'"));
  options.attributes = {{"intensity", AttributeRule::kMean}, {"INTENSITY", AttributeRule::kMax}};
  EXPECT_THAT(refusal(options), HasSubstr("two rules"));
  options.policy = KeepPolicy::kFirst;
  options.attributes = {{"intensity", AttributeRule::kMean}};
  EXPECT_THAT(refusal(options), HasSubstr("centroids"));
  options.attributes.clear();
  for (const double wrong : {0.0, -1.0, std::nan(""), kInfinity}) {
    options.grid.size[1] = wrong;
    EXPECT_THAT(refusal(options), HasSubstr("positive"));
  }
}

TEST_P(Semantics, EmptyCloudsAndEmptySelectionsGiveEmptyResults) {
  Selection nothing;
  nothing.invert = true;
  for (const CoordinateKind kind : {CoordinateKind::kLattice, CoordinateKind::kFloat32, CoordinateKind::kFloat64}) {
    const bool lattice = kind == CoordinateKind::kLattice;
    for (const std::uint64_t count : {0U, 3U}) {
      const PointCloud cloud =
          lattice ? make_lattice(std::vector<RawPoint>(count)) : make_world(kind, std::vector<WorldPoint>(count));
      EXPECT_EQ(filter(cloud, nothing, execution()).cloud.count(), 0U);
      for (const std::uint64_t every : {1U, 2U}) {
        nothing.every = every;
        ThinOptions options;
        options.grid.origin_at_minimum = true;
        for (const KeepPolicy policy : {KeepPolicy::kFirst, KeepPolicy::kCentroid, KeepPolicy::kNearestCentroid}) {
          options.policy = policy;
          EXPECT_THAT(thinned(cloud, options, nothing), IsEmpty());
        }
        BinOptions bins;
        bool told = false;
        bins.cells = [&](std::span<const CellRow> some) { told = told || !some.empty(); };
        const CloudResult result = bin(cloud, nothing, bins, execution());
        EXPECT_EQ(result.cloud.count(), 0U);
        EXPECT_EQ(result.report.cells, 0U);
        EXPECT_EQ(result.report.key_bits, 0);
        EXPECT_FALSE(told);
        expect_accounts(result.report, count);
      }
    }
  }
}

TEST_P(Semantics, ExtremesOfTheLatticeHaveCellsToo) {
  const std::int32_t low = std::numeric_limits<std::int32_t>::min();
  const std::int32_t high = std::numeric_limits<std::int32_t>::max();
  const CellSetup setup = setup_of({1, -3}, {7, -1}, {123456789, -3});
  const std::vector<RawPoint> points = {{low, 0, 0}, {high, 0, 0}, {0, low, 0}, {0, high, 0}, {0, 0, 0}, {high, 0, 0}};
  BinOptions options;
  options.grid = setup.grid();
  options.grid.use_z = false;
  std::vector<Cell> rows;
  options.cells = [&](std::span<const CellRow> some) {
    for (const CellRow& row : some) rows.push_back({row.cell[0], row.cell[1], row.cell[2]});
  };
  const CloudResult result = bin(make_lattice(points, setup.lattice()), {}, options, execution());
  EXPECT_EQ(ids_of(result.cloud), (Ids{2, 0, 4, 1, 5, 3}));
  CellSetup columns = setup;
  columns.use_z = false;
  EXPECT_THAT(rows, ElementsAre(columns.cell(points[2]), columns.cell(points[0]), columns.cell(points[4]),
                                columns.cell(points[1]), columns.cell(points[3])));
  ThinOptions centroid;
  centroid.policy = KeepPolicy::kCentroid;
  centroid.grid.size = {1e10, 1e10, 1e10};
  centroid.grid.origin = {Decimal{-5, 9}, Decimal{-5, 9}, Decimal{-5, 9}};
  const CloudResult one =
      thin(make_lattice({{high, low, high}, {high, low, high - 1}, {high, low, high - 1}}), {}, centroid, execution());
  EXPECT_EQ(get_field<std::int32_t>(one.cloud, "x", 0), high);
  EXPECT_EQ(get_field<std::int32_t>(one.cloud, "y", 0), low);
  EXPECT_EQ(get_field<std::int32_t>(one.cloud, "z", 0), high - 1);
}

}  // namespace
}  // namespace sluice
