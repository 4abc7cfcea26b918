// SPDX-License-Identifier: Apache-2.0
#include "sluice/core/cell_grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "support/big_int.hpp"

namespace sluice {
namespace {

using test::BigInt;
using test::Fraction;
using test::shortest_decimal;

constexpr std::int32_t kLow = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kHigh = std::numeric_limits<std::int32_t>::max();

CoordinateFrame lattice_frame(double scale, double offset) {
  CoordinateFrame frame;
  frame.kind = CoordinateKind::kLattice;
  for (int d = 0; d < 3; ++d) {
    frame.scale[d] = scale;
    frame.offset[d] = offset;
  }
  return frame;
}

GridSpec cubes(double size, double origin) {
  GridSpec spec;
  for (int d = 0; d < 3; ++d) {
    spec.size[d] = size;
    spec.origin[d] = Decimal::of(origin);
  }
  return spec;
}

/// floor((X * scale + offset - origin) / size) of the decimal numbers, in integers of any size.
class ExactCell {
 public:
  ExactCell(double scale, double offset, double origin, double size) {
    const Fraction parts[4] = {shortest_decimal(scale), shortest_decimal(offset), shortest_decimal(origin),
                               shortest_decimal(size)};
    int unit = parts[0].exponent;
    for (const Fraction& part : parts) unit = std::min(unit, part.exponent);
    scale_ = parts[0].at(unit);
    shift_ = parts[1].at(unit) - parts[2].at(unit);
    size_ = parts[3].at(unit);
  }
  [[nodiscard]] BigInt operator()(std::int32_t raw) const { return floor_div(BigInt(raw) * scale_ + shift_, size_); }
  /// A lattice number near the lower face of the cell of `raw`.
  [[nodiscard]] std::int64_t face(std::int32_t raw) const {
    const BigInt corner = (*this)(raw)*size_ - shift_;
    const BigInt steepness = scale_.sign() < 0 ? -scale_ : scale_;
    const BigInt near = floor_div(scale_.sign() < 0 ? -corner : corner, steepness);
    return near.bits() < 63 ? static_cast<std::int64_t>(near.value()) : raw;
  }

 private:
  BigInt scale_;
  BigInt shift_;
  BigInt size_;
};

struct GridCase {
  double scale, offset, origin, size;
};

std::vector<std::int32_t> numbers_to_try(const ExactCell& exact, std::mt19937_64& random, int count) {
  std::vector<std::int32_t> out = {0, 1, -1, kLow, kLow + 1, kHigh, kHigh - 1};
  for (int i = 0; i < count; ++i) {
    const auto raw = static_cast<std::int32_t>(static_cast<std::uint32_t>(random()));
    out.push_back(raw >> (random() % 32));
    const std::int64_t face = exact.face(out.back());
    for (std::int64_t near = face - 1; near <= face + 1; ++near) {
      if (near >= kLow && near <= kHigh) out.push_back(static_cast<std::int32_t>(near));
    }
  }
  return out;
}

TEST(LatticeCells, AreExact) {
  const GridCase cases[] = {
      {0.01, 0.0, 0.0, 0.1},
      {0.001, 500000.0, 0.0, 0.5},
      {0.01, 0.0, 0.0, 0.3},
      {1e-7, -122.123456789, -180.0, 1e-5},
      {7.13160261843867e-08, 339003.737, 0.0, 0.1},
      {7.13160261843867e-08, 0.0, 0.123456789012345, 1.0 / 3.0},
      {-0.01, 10.0, 0.0, 0.25},
      {-7.13160261843867e-08, 5.0, 1.0, 0.7},
      {1.0, 0.0, 0.0, 1e-9},
      {100.0, 0.0, 0.0, 1e9},
      {0.0001, 1e7, 3.7, 12345.678},
      {3.0517578125e-05, 0.1, 0.2, 7.3},
      {123456.789, 0.0, 0.0, 0.001},
      {1e-3, 1e-12, 0.0, 1e3},
  };
  std::mt19937_64 random(4);
  bool seen[3] = {false, false, false};
  for (const GridCase& one : cases) {
    const CellGrid grid = make_cell_grid(cubes(one.size, one.origin), lattice_frame(one.scale, one.offset));
    seen[static_cast<int>(grid.axis[0].division)] = true;
    const ExactCell exact(one.scale, one.offset, one.origin, one.size);
    for (const std::int32_t raw : numbers_to_try(exact, random, 300)) {
      Position position{};
      for (std::int32_t& coordinate : position.raw) coordinate = raw;
      std::int64_t cell[3];
      ASSERT_TRUE(cell_of(grid, position, cell));
      ASSERT_TRUE(BigInt(cell[0]) == exact(raw)) << "scale " << one.scale << " size " << one.size << " X " << raw;
      ASSERT_EQ(cell[0], cell[1]);
      ASSERT_EQ(cell[0], cell[2]);
    }
  }
  EXPECT_TRUE(seen[0]) << "no grid was guessed";
  EXPECT_TRUE(seen[2]) << "no grid needed 128 bits";
}

TEST(LatticeCells, AreExactForRandomGrids) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> digits(1.0, 10.0);
  bool seen[3] = {false, false, false};
  int tried = 0;
  while (tried < 400) {
    const auto number = [&](int low, int high, int places) {
      char text[64];
      const int exponent = low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
      std::snprintf(text, sizeof text, "%.*fe%d", places, digits(random), exponent);
      return std::strtod(text, nullptr);
    };
    const int places = static_cast<int>(random() % 15);
    const GridCase one = {number(-8, 1, places) * (random() % 4 == 0 ? -1 : 1), number(-3, 6, 3), number(-3, 6, 2),
                          number(-3, 3, static_cast<int>(random() % 15))};
    CellGrid grid;
    try {
      grid = make_cell_grid(cubes(one.size, one.origin), lattice_frame(one.scale, one.offset));
    } catch (const Unsupported&) {
      continue;
    }
    ++tried;
    seen[static_cast<int>(grid.axis[0].division)] = true;
    const ExactCell exact(one.scale, one.offset, one.origin, one.size);
    for (const std::int32_t raw : numbers_to_try(exact, random, 10)) {
      Position position{};
      position.raw[0] = raw;
      std::int64_t cell[3];
      const BigInt expected = exact(raw);
      if (cell_of(grid, position, cell)) {
        ASSERT_TRUE(BigInt(cell[0]) == expected) << one.scale << ' ' << one.size << ' ' << raw;
      }
    }
  }
  EXPECT_TRUE(seen[0] && seen[2]);
}

// The guess is put right by at most one, so a wrong one would show in millions of numbers, most of them near a face.
TEST(LatticeCells, GuessIsPutRight) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 40; ++round) {
    CellGrid::Axis axis;
    const unsigned a_bits = 1 + static_cast<unsigned>(random() % 30);
    axis.a = static_cast<std::int64_t>(1 + (random() >> (64 - a_bits)));
    if (random() % 2 == 0) axis.a = -axis.a;
    const unsigned s_bits = 1 + static_cast<unsigned>(random() % 60);
    axis.s = static_cast<std::int64_t>(1 + (random() >> (64 - s_bits)));
    const int128 steepness = axis.a < 0 ? -axis.a : axis.a;
    const int128 largest = steepness * (int128{1} << 31) + axis.s;
    if (largest >= (int128{1} << 62) || largest / axis.s >= (int128{1} << 50)) continue;
    axis.b = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(axis.s));
    axis.inverse = 1.0 / static_cast<double>(axis.s);
    axis.division = CellGrid::Division::kGuess;
    for (int i = 0; i < 100000; ++i) {
      auto raw = static_cast<std::int32_t>(static_cast<std::uint32_t>(random()));
      if (i < 4) raw = i < 2 ? kLow + i : kHigh - i + 2;
      if (i % 2 == 0 && i >= 4) {
        // The number whose numerator lies next to a multiple of s.
        const int128 numerator = axis.a * raw + axis.b;
        const int128 near = (numerator / axis.s * axis.s - axis.b) / axis.a;
        if (near > kLow && near < kHigh) raw = static_cast<std::int32_t>(near);
      }
      const int128 numerator = axis.a * raw + axis.b;
      int128 quotient = numerator / axis.s;
      if (numerator % axis.s < 0) --quotient;
      const detail::LatticeCell cell = detail::divide_lattice(axis, raw);
      ASSERT_TRUE(cell.quotient == quotient);
      ASSERT_TRUE(cell.rest == numerator - quotient * axis.s);
    }
  }
}

TEST(LatticeCells, DecimalsAreTakenAsTheyPrint) {
  // 5.300 m at 0.1 m: doubles say 52.
  const CellGrid grid = make_cell_grid(cubes(0.1, 0.0), lattice_frame(0.001, 0.0));
  Position position{};
  position.raw[0] = 5300;
  std::int64_t cell[3];
  ASSERT_TRUE(cell_of(grid, position, cell));
  EXPECT_EQ(cell[0], 53);
  EXPECT_EQ(std::floor(5300 * 0.001 / 0.1), 52.0);
}

TEST(LatticeCells, RefuseNumbersThatDoNotFit) {
  EXPECT_THROW(make_cell_grid(cubes(0.0, 0.0), lattice_frame(0.01, 0.0)), InvalidArgument);
  EXPECT_THROW(make_cell_grid(cubes(-1.0, 0.0), lattice_frame(0.01, 0.0)), InvalidArgument);
  EXPECT_THROW(make_cell_grid(cubes(HUGE_VAL, 0.0), lattice_frame(0.01, 0.0)), InvalidArgument);
  EXPECT_THROW(make_cell_grid(cubes(1e-30, 0.0), lattice_frame(1e15, 0.0)), Unsupported);
  // The numbers fit 128 bits here, but the cells of most points do not fit 62.
  const CellGrid grid = make_cell_grid(cubes(1.0, 0.0), lattice_frame(1e12, 0.0));
  Position position{};
  std::int64_t cell[3];
  for (const std::int32_t raw : {kLow, kHigh, 1 << 26, -(1 << 26), 4611687, -4611687}) {
    position.raw[0] = raw;
    EXPECT_FALSE(cell_of(grid, position, cell)) << raw;
  }
  for (const std::int32_t raw : {0, 4611686, -4611686}) {
    position.raw[0] = raw;
    EXPECT_TRUE(cell_of(grid, position, cell)) << raw;
  }
  // A quotient of more than 64 bits whose lower ones are zero.
  const CellGrid wide = make_cell_grid(cubes(1.0, 0.0), lattice_frame(36893488147419103232.0, 0.0));
  position.raw[0] = 1;
  EXPECT_FALSE(cell_of(wide, position, cell));
}

TEST(FloatCells, AreTheFloorOfADivision) {
  CoordinateFrame frame;
  frame.kind = CoordinateKind::kFloat64;
  const CellGrid grid = make_cell_grid(cubes(0.1, 0.25), frame);
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> coordinates(-1000.0, 1000.0);
  for (int i = 0; i < 10000; ++i) {
    Position position{};
    for (double& x : position.world) x = coordinates(random);
    std::int64_t cell[3];
    ASSERT_TRUE(cell_of(grid, position, cell));
    for (int d = 0; d < 3; ++d) {
      ASSERT_EQ(static_cast<double>(cell[d]), std::floor((position.world[d] - 0.25) / 0.1));
    }
  }
  Position far{};
  std::int64_t cell[3];
  far.world[1] = 1e18;
  EXPECT_FALSE(cell_of(grid, far, cell));
  far.world[1] = -1e308;
  EXPECT_FALSE(cell_of(grid, far, cell));
}

TEST(FloatCells, FacesBelongToTheHigherCell) {
  CoordinateFrame frame;
  frame.kind = CoordinateKind::kFloat32;
  const CellGrid grid = make_cell_grid(cubes(0.5, 0.0), frame);
  const double xs[5] = {0.5, std::nextafter(0.5, 0.0), -0.5, std::nextafter(-0.5, -1.0), -0.0};
  const std::int64_t cells[5] = {1, 0, -1, -2, 0};
  for (int i = 0; i < 5; ++i) {
    Position position{};
    position.world[0] = xs[i];
    std::int64_t cell[3];
    ASSERT_TRUE(cell_of(grid, position, cell));
    EXPECT_EQ(cell[0], cells[i]) << xs[i];
  }
}

TEST(Columns, IgnoreHeightButForItsLimit) {
  GridSpec spec = cubes(1.0, 0.0);
  spec.use_z = false;
  CoordinateFrame frame;
  const CellGrid grid = make_cell_grid(spec, frame);
  Position position{};
  position.world[2] = 77.0;
  std::int64_t cell[3];
  ASSERT_TRUE(cell_of(grid, position, cell));
  EXPECT_EQ(cell[2], 0);
  position.world[2] = kMaxColumnZ;
  EXPECT_FALSE(cell_of(grid, position, cell));
  position.world[2] = -kMaxColumnZ;
  EXPECT_FALSE(cell_of(grid, position, cell));
}

/// The squared distance to the centre of a cell times a common factor, as a number of any size.
TEST(CenterScore, OrdersAsTheExactDistance) {
  GridSpec spec;
  spec.size[0] = 0.3;
  spec.size[1] = 0.7;
  spec.size[2] = 0.11;
  CoordinateFrame frame = lattice_frame(0.01, 0.0);
  frame.scale[1] = 0.001;
  const CellGrid grid = make_cell_grid(spec, frame);
  ASSERT_TRUE(grid.exact_distance);
  std::mt19937_64 random(8);
  std::vector<std::pair<std::uint64_t, std::int64_t>> scores;
  for (int i = 0; i < 500; ++i) {
    Position position{};
    position.raw[0] = static_cast<std::int32_t>(random() % 30);
    position.raw[1] = static_cast<std::int32_t>(random() % 700);
    position.raw[2] = static_cast<std::int32_t>(random() % 11);
    std::int64_t cell[3];
    ASSERT_TRUE(cell_of(grid, position, cell));
    // In steps of 0.5 mm: twice the offset from the centre.
    const std::int64_t dx = position.raw[0] * 20 - 300;
    const std::int64_t dy = position.raw[1] * 2 - 700;
    const std::int64_t dz = position.raw[2] * 20 - 110;
    scores.emplace_back(center_score(grid, position, cell), dx * dx + dy * dy + dz * dz);
  }
  for (const auto& a : scores) {
    for (const auto& b : scores) ASSERT_EQ(a.first < b.first, a.second < b.second);
  }
}

TEST(CenterScore, OfFloatsIsTheDoubleOfTheDistance) {
  CoordinateFrame frame;
  GridSpec spec = cubes(2.0, 0.0);
  for (const bool use_z : {true, false}) {
    spec.use_z = use_z;
    const CellGrid grid = make_cell_grid(spec, frame);
    Position position{};
    position.world[0] = 0.25;
    position.world[1] = 3.5;
    position.world[2] = 1.75;
    std::int64_t cell[3];
    ASSERT_TRUE(cell_of(grid, position, cell));
    const double expected = 0.75 * 0.75 + 0.5 * 0.5 + (use_z ? 0.75 * 0.75 : 0.0);
    EXPECT_EQ(center_score(grid, position, cell), detail::bits_of(expected));
  }
}

TEST(MeanHalfEven, RoundsAsRationalsDo) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 200000; ++i) {
    const auto count = static_cast<std::int64_t>(1 + (random() >> (33 + random() % 31)));
    auto sum = static_cast<std::int64_t>(random()) >> (1 + random() % 63);
    if (i % 3 == 0) sum = count / 2 * (i % 100) + (count % 2 == 0 ? 0 : 1);
    const std::int64_t mean = mean_half_even(sum, count);
    // |2 * (sum - mean * count)| <= count, and the mean is even where equal.
    const int128 twice = 2 * (static_cast<int128>(sum) - static_cast<int128>(mean) * count);
    const int128 distance = twice < 0 ? -twice : twice;
    ASSERT_TRUE(distance < count || (distance == count && mean % 2 == 0)) << sum << " / " << count;
  }
  EXPECT_EQ(mean_half_even(5, 2), 2);
  EXPECT_EQ(mean_half_even(7, 2), 4);
  EXPECT_EQ(mean_half_even(-5, 2), -2);
  EXPECT_EQ(mean_half_even(-7, 2), -4);
}

}  // namespace
}  // namespace sluice
