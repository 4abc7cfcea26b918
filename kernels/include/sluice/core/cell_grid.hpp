// SPDX-License-Identifier: Apache-2.0
/// \file
/// From a position to the cell that holds it: `floor((world - origin) / size)` on each axis, half-open.
///
/// On a lattice the fraction is exact. Scale, offset, origin and size are the decimal numbers that they print as, so
/// per axis there are integers a, b, s with cell = base + floor((a * X + b) / s), 0 <= b < s. Where a * X + b fits 62
/// bits and the quotient 50, it is guessed by a multiplication of doubles and put right by at most one; otherwise
/// divided in 64 or 128 bits. For float clouds it is a true division of doubles.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "sluice/core/decimal.hpp"
#include "sluice/core/error.hpp"
#include "sluice/core/hd.hpp"
#include "sluice/core/int128.hpp"
#include "sluice/core/point_view.hpp"
#include "sluice/core/types.hpp"

namespace sluice {

/// What a user says of a grid.
struct GridSpec {
  double size[3] = {1.0, 1.0, 1.0};  ///< edge of a cell per axis, world units, > 0
  Decimal origin[3] = {};            ///< corner of cell (0,0,0), world units
  bool use_z = true;                 ///< false: columns, every point has iz = 0
};

/// A grid ready for one kind of cloud; plain data, shared by host and device.
struct CellGrid {
  enum class Division : std::uint8_t { kGuess, kInt64, kInt128 };

  struct Axis {
    int128 a = 0, b = 0, s = 1;  ///< lattice: numerator a * X + b, denominator s, reduced
    std::int64_t base = 0;       ///< lattice: added to the quotient
    double inverse = 1.0;        ///< lattice: 1 / s, for the guess
    std::int64_t unit = 0;       ///< lattice: common distance units per reduced unit; 0: too large for exact distances
    double unit_real = 0.0;      ///< lattice: world units per reduced unit
    double origin = 0.0;         ///< float clouds
    double size = 1.0;
    Division division = Division::kGuess;
  };

  Axis axis[3];
  CoordinateKind kind = CoordinateKind::kFloat64;
  bool use_z = true;
  bool exact_distance = false;  ///< lattice: squared distances to a centre fit 64-bit integers
};

/// Float points of columns lie below this height, in world units: `cell_of` returns false for others.
inline constexpr double kMaxColumnZ = 2199023255552.0;

/// Cells beyond this magnitude are refused: `cell_of` returns false.
inline constexpr std::int64_t kMaxCell = std::int64_t{1} << 62;

/// Prepares a grid for clouds of one frame.
/// \throws InvalidArgument for a size that is not positive and finite, or an origin beyond all doubles
/// \throws Unsupported where the exact integers of a lattice need more than 128 bits
inline CellGrid make_cell_grid(const GridSpec& spec, const CoordinateFrame& frame) {
  CellGrid grid;
  grid.kind = frame.kind;
  grid.use_z = spec.use_z;
  const int axes = spec.use_z ? 3 : 2;
  for (int d = 0; d < axes; ++d) {
    if (!(spec.size[d] > 0.0) || !std::isfinite(spec.size[d])) {
      throw InvalidArgument("a cell's size must be positive and finite");
    }
    grid.axis[d].size = spec.size[d];
    grid.axis[d].origin = spec.origin[d].to_double();
    if (!std::isfinite(grid.axis[d].origin)) throw InvalidArgument("the origin of the cells must be finite");
  }
  if (frame.kind != CoordinateKind::kLattice) return grid;

  int unit_exponent[3] = {0, 0, 0};
  int128 factor[3] = {1, 1, 1};
  for (int d = 0; d < axes; ++d) {
    CellGrid::Axis& axis = grid.axis[d];
    const Decimal scale = Decimal::of(frame.scale[d]);
    const Decimal size = Decimal::of(spec.size[d]);
    Decimal origin = spec.origin[d];
    origin.digits = -origin.digits;
    const Decimal shift = Decimal::of(frame.offset[d]) + origin;
    int unit = scale.exponent < size.exponent ? scale.exponent : size.exponent;
    if (shift.digits != 0 && shift.exponent < unit) unit = shift.exponent;
    axis.a = scale.digits_at(unit);
    axis.s = size.digits_at(unit);
    const int128 b = shift.digits_at(unit);
    const int128 g = detail::gcd(detail::gcd(axis.a, b), axis.s);
    axis.a /= g;
    axis.s /= g;
    const int128 base = detail::floor_div(b / g, axis.s);
    axis.b = b / g - base * axis.s;
    if (base > kMaxCell || base < -kMaxCell) throw Unsupported("the cell size is too small for these coordinates");
    axis.base = static_cast<std::int64_t>(base);
    unit_exponent[d] = unit;
    factor[d] = g;
    axis.unit_real = Decimal{g, unit}.to_double();

    const int128 steepness = axis.a < 0 ? -axis.a : axis.a;
    const int128 largest = detail::checked_add(detail::checked_mul(steepness, int128{1} << 31), axis.s);
    axis.inverse = 1.0 / static_cast<double>(axis.s);
    const int128 one = 1;
    if (largest < (one << 62)) {
      const bool guessable = largest / axis.s < (one << 50);
      axis.division = guessable ? CellGrid::Division::kGuess : CellGrid::Division::kInt64;
    } else {
      axis.division = CellGrid::Division::kInt128;
      if (largest >= (one << 126)) throw Unsupported("cells of this size need more than 128 bits");
    }
  }
  // Squared distances compare as integers when twice the edge, in one unit for all axes, stays below 2^31.
  int common = unit_exponent[0];
  for (int d = 1; d < axes; ++d) common = unit_exponent[d] < common ? unit_exponent[d] : common;
  grid.exact_distance = true;
  for (int d = 0; d < axes; ++d) {
    const int up = unit_exponent[d] - common;
    if (up > 18 || factor[d] >= (int128{1} << 31)) {
      grid.exact_distance = false;
      break;
    }
    const int128 unit = factor[d] * detail::power_of_ten(up);
    const int128 limit = int128{1} << 31;
    if (unit >= limit || grid.axis[d].s >= limit || unit * grid.axis[d].s >= limit) {
      grid.exact_distance = false;
      break;
    }
    grid.axis[d].unit = static_cast<std::int64_t>(unit);
  }
  return grid;
}

namespace detail {

/// floor(value) for |value| < 2^62. On a host without SSE 4.1 `floor` is a call; a device has an instruction.
SLUICE_HD std::int64_t floor_integer(double value) {
#ifdef __CUDA_ARCH__
  return static_cast<std::int64_t>(floor(value));
#else
  const auto toward_zero = static_cast<std::int64_t>(value);
  return toward_zero - (static_cast<double>(toward_zero) > value ? 1 : 0);
#endif
}

/// Quotient and remainder of one lattice axis; 0 <= rest < s.
struct LatticeCell {
  std::int64_t quotient;
  int128 rest;
};

SLUICE_HD LatticeCell divide_lattice(const CellGrid::Axis& axis, std::int32_t raw) {
  if (axis.division == CellGrid::Division::kInt128) {
    const int128 numerator = axis.a * raw + axis.b;
    int128 quotient = numerator / axis.s;
    int128 rest = numerator - quotient * axis.s;
    if (rest < 0) {
      --quotient;
      rest += axis.s;
    }
    // A quotient of more than 64 bits must be refused as well, not cut to one that looks right.
    const int128 limit = static_cast<int128>(kMaxCell) + 1;
    quotient = quotient > limit ? limit : quotient < -limit ? -limit : quotient;
    return {static_cast<std::int64_t>(quotient), rest};
  }
  const auto s = static_cast<std::int64_t>(axis.s);
  const std::int64_t numerator = static_cast<std::int64_t>(axis.a) * raw + static_cast<std::int64_t>(axis.b);
  std::int64_t quotient;
  if (axis.division == CellGrid::Division::kGuess) {
    // The product is within one of the quotient: the quotient has at most 50 bits, the product errs by less than
    // four units in its 53rd.
    quotient = floor_integer(static_cast<double>(numerator) * axis.inverse);
  } else {
    quotient = numerator / s;
  }
  std::int64_t rest = numerator - quotient * s;
  if (rest < 0) {
    --quotient;
    rest += s;
  } else if (rest >= s) {
    ++quotient;
    rest -= s;
  }
  return {quotient, rest};
}

/// Bits of a non-negative double, which order as the double does.
SLUICE_HD std::uint64_t bits_of(double value) {
  std::uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace detail

/// The cell of a finite position.
/// \return false where a cell's number would pass `kMaxCell`; `cell` is then unspecified
SLUICE_HD bool cell_of(const CellGrid& grid, const Position& position, std::int64_t cell[3]) {
  cell[2] = 0;
  const int axes = grid.use_z ? 3 : 2;
  for (int d = 0; d < axes; ++d) {
    const CellGrid::Axis& axis = grid.axis[d];
    if (grid.kind == CoordinateKind::kLattice) {
      const std::int64_t quotient = detail::divide_lattice(axis, position.raw[d]).quotient;
      if (quotient > kMaxCell || quotient < -kMaxCell) return false;
      // |base| <= 2^62 too, so a sum that wraps is far below -kMaxCell.
      cell[d] = static_cast<std::int64_t>(static_cast<std::uint64_t>(axis.base) + static_cast<std::uint64_t>(quotient));
      if (cell[d] > kMaxCell || cell[d] < -kMaxCell) return false;
    } else {
      const double quotient = (position.world[d] - axis.origin) / axis.size;
      if (!(quotient < 4611686018427387904.0 && quotient > -4611686018427387904.0)) return false;
      cell[d] = detail::floor_integer(quotient);
    }
  }
  // The z of a column is averaged in steps of 2^-20, which must fit 64 bits.
  return grid.use_z || grid.kind == CoordinateKind::kLattice ||
         (position.world[2] < kMaxColumnZ && position.world[2] > -kMaxColumnZ);
}

/// A number that orders the points of one cell by their distance to its centre (in x and y only for columns).
/// On a lattice exact integers, unless the cell is so large or fine that 64 bits do not hold them; then, and for float
/// clouds, the bits of the double `(dx*dx + dy*dy) + dz*dz`.
SLUICE_HD std::uint64_t center_score(const CellGrid& grid, const Position& position, const std::int64_t cell[3]) {
  const int axes = grid.use_z ? 3 : 2;
  if (grid.kind == CoordinateKind::kLattice) {
    if (grid.exact_distance) {
      std::uint64_t sum = 0;
      for (int d = 0; d < axes; ++d) {
        const auto rest = static_cast<std::int64_t>(detail::divide_lattice(grid.axis[d], position.raw[d]).rest);
        const std::int64_t twice = (2 * rest - static_cast<std::int64_t>(grid.axis[d].s)) * grid.axis[d].unit;
        sum += static_cast<std::uint64_t>(twice * twice);
      }
      return sum;
    }
    double sum = 0.0;
    for (int d = 0; d < axes; ++d) {
      const int128 rest = detail::divide_lattice(grid.axis[d], position.raw[d]).rest;
      const double twice = to_double(2 * rest - grid.axis[d].s) * grid.axis[d].unit_real;
      sum += twice * twice;
    }
    return detail::bits_of(sum);
  }
  double sum = 0.0;
  for (int d = 0; d < axes; ++d) {
    const CellGrid::Axis& axis = grid.axis[d];
    const double center = axis.origin + (static_cast<double>(cell[d]) + 0.5) * axis.size;
    const double delta = position.world[d] - center;
    sum += delta * delta;
  }
  return detail::bits_of(sum);
}

/// Lower corner of a cell of float points on one axis. Columns have none in z and are measured from zero.
SLUICE_HD double lower_corner(const CellGrid& grid, const std::int64_t cell[3], int d) {
  if (d == 2 && !grid.use_z) return 0.0;
  return grid.axis[d].origin + static_cast<double>(cell[d]) * grid.axis[d].size;
}

/// An offset from the lower corner in steps, raised by half a step, so that its floor is the nearest whole number:
/// steps of size / 2^32, and of 2^-20 world units in z of columns.
SLUICE_HD double raised_steps(const CellGrid& grid, double offset, int d) {
  if (d == 2 && !grid.use_z) return offset * 1048576.0 + 0.5;
  return offset / grid.axis[d].size * 4294967296.0 + 0.5;
}

/// Offset of a float position from the lower corner of its cell on one axis, in steps. Sums need 128 bits for columns.
SLUICE_HD std::int64_t corner_steps(const CellGrid& grid, const Position& position, const std::int64_t cell[3], int d) {
  return static_cast<std::int64_t>(floor(raised_steps(grid, position.world[d] - lower_corner(grid, cell, d), d)));
}

/// World coordinate of the mean of `count` offsets that sum to `steps`.
SLUICE_HD double corner_mean(const CellGrid& grid, const std::int64_t cell[3], int d, int128 steps,
                             std::uint64_t count) {
  const double mean = to_double(steps) / static_cast<double>(count);
  if (d == 2 && !grid.use_z) return mean / 1048576.0;
  return lower_corner(grid, cell, d) + mean / 4294967296.0 * grid.axis[d].size;
}

/// sum / count rounded to the nearest integer, halves to even: the mean of lattice numbers.
SLUICE_HD std::int64_t mean_half_even(std::int64_t sum, std::int64_t count) {
  std::int64_t quotient = sum / count;
  std::int64_t rest = sum - quotient * count;
  if (rest < 0) {
    --quotient;
    rest += count;
  }
  // Compare the rest with what is missing to the next number, so that doubling cannot overflow.
  const std::int64_t missing = count - rest;
  if (rest > missing || (rest == missing && (quotient & 1) != 0)) ++quotient;
  return quotient;
}

}  // namespace sluice
