// SPDX-License-Identifier: Apache-2.0
/// \file
/// Row-major keys of lattice points by 32-bit arithmetic, for ranges of cells that are narrow enough.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "sluice/core/cell_grid.hpp"
#include "sluice/core/cell_key.hpp"
#include "sluice/core/hd.hpp"
#include "sluice/core/types.hpp"

namespace sluice::kernels::bodies {

/// One axis: cell - min = (a * raw + b) / s for the lattice numbers of the range, where the sum, taken modulo 2^32, is
/// below 2^31.
struct FastAxis {
  std::int32_t first;  ///< least lattice number in the range of cells
  std::uint32_t span;  ///< greatest - least
  std::uint32_t a;
  std::uint32_t b;
  /// ceil(2^(32 + shift) / s) with 2^(32 + shift) >= 2^31 * s: n * inverse / 2^(32 + shift) is n / s for all n < 2^31
  /// (T. Granlund, P. Montgomery, "Division by Invariant Integers using Multiplication", PLDI 1994).
  std::uint32_t inverse;
  std::uint32_t shift;
  std::uint32_t stride;  ///< of the key

  [[nodiscard]] SLUICE_HD bool holds(std::int32_t raw) const {
    return static_cast<std::uint32_t>(raw) - static_cast<std::uint32_t>(first) <= span;
  }
  [[nodiscard]] SLUICE_HD std::uint32_t cell(std::int32_t raw) const {
    const std::uint32_t n = a * static_cast<std::uint32_t>(raw) + b;
    return static_cast<std::uint32_t>(std::uint64_t{n} * inverse >> 32) >> shift;
  }
};

/// A grid and a range of its cells, for keys of at most 32 bits.
struct FastCells {
  FastAxis axis[3];
  bool use_z;

  /// True where the point's cell is in the range.
  template <typename PointT>
  [[nodiscard]] SLUICE_HD bool holds(const PointT& p) const {
    return axis[0].holds(p.x) && axis[1].holds(p.y) && axis[2].holds(p.z);
  }
  /// Key of a point whose cell is in the range.
  template <typename PointT>
  [[nodiscard]] SLUICE_HD std::uint32_t key(const PointT& p) const {
    std::uint32_t key = axis[0].cell(p.x) + axis[1].stride * axis[1].cell(p.y);
    if (use_z) key += axis[2].stride * axis[2].cell(p.z);
    return key;
  }
};

namespace detail {

inline std::optional<FastAxis> fast_axis(const CellGrid::Axis& axis, std::int64_t min, std::int64_t max) {
  // Below 2^31 no quotient passes what `cell_of` takes.
  if (axis.a <= 0 || axis.a >= (int128{1} << 31) || axis.s >= (int128{1} << 32)) return std::nullopt;
  const auto least_in = [&](std::int64_t cell) {  // least number whose cell is `cell` or above
    const int128 wanted = (static_cast<int128>(cell) - axis.base) * axis.s - axis.b;
    return -sluice::detail::floor_div(-wanted, axis.a);
  };
  const int128 first = std::max(least_in(min), int128{INT32_MIN});
  const int128 last = std::min(least_in(max + 1) - 1, int128{INT32_MAX});
  // A range without any lattice number is rare enough to be left to the general way.
  if (first > last) return std::nullopt;
  // The quotient counts from the lowest cell of the range, which the least number may lie above. By one nothing is
  // divided, but 2^(32 + shift) would be too small.
  const int128 factor = axis.s == 1 ? 2 : 1;
  const int128 a = axis.a * factor;
  const int128 s = axis.s * factor;
  const int128 b = (axis.b - (static_cast<int128>(min) - axis.base) * axis.s) * factor;
  if (a * last + b >= (int128{1} << 31)) return std::nullopt;
  std::uint32_t shift = 0;
  while ((int128{1} << (shift + 1)) < s) ++shift;
  const int128 inverse = ((int128{1} << (32 + shift)) + s - 1) / s;
  return FastAxis{static_cast<std::int32_t>(first),
                  static_cast<std::uint32_t>(last - first),
                  static_cast<std::uint32_t>(a),
                  static_cast<std::uint32_t>(b),
                  static_cast<std::uint32_t>(inverse),
                  shift,
                  1};
}

}  // namespace detail

/// The 32-bit arithmetic of a layout, where it has one: row-major keys of at most 32 bits on a lattice.
inline std::optional<FastCells> fast_cells(const CellGrid& grid, const KeyLayout& layout) {
  if (grid.kind != CoordinateKind::kLattice || layout.order != CellOrder::kRowMajor || layout.key_bits > 32) {
    return std::nullopt;
  }
  FastCells out{};
  out.use_z = grid.use_z;
  std::uint64_t stride = 1;
  for (int d = 0; d < 3; ++d) {
    const std::int64_t max = layout.min[d] + static_cast<std::int64_t>(layout.extent[d] - 1);
    if (d == 2 && !grid.use_z) {
      // Every z is in column 0. Layouts that count from another one are left to the general way.
      if (layout.min[d] != 0) return std::nullopt;
      out.axis[d] = FastAxis{INT32_MIN, UINT32_MAX, 0, 0, 0, 0, 0};
    } else {
      const std::optional<FastAxis> axis = detail::fast_axis(grid.axis[d], layout.min[d], max);
      if (!axis) return std::nullopt;
      out.axis[d] = *axis;
    }
    // Keys fit 32 bits, so a stride that does not is never used but with cell 0.
    out.axis[d].stride = static_cast<std::uint32_t>(stride);
    stride *= layout.extent[d];
  }
  return out;
}

}  // namespace sluice::kernels::bodies
