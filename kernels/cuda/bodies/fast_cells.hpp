// SPDX-License-Identifier: Apache-2.0
/// \file
/// Row-major keys of lattice points by 32-bit arithmetic, for ranges of cells that are narrow enough.
#pragma once

#include <cstdint>
#include <optional>

#include "sluice/core/cell_grid.hpp"
#include "sluice/core/cell_key.hpp"
#include "sluice/core/hd.hpp"
#include "sluice/core/types.hpp"

namespace sluice::kernels::bodies {

/// One axis: cell - min = (a * (raw - first) + b) / s, where raw lies in [first, first + span].
struct FastAxis {
  std::int32_t first;      ///< least lattice number in the range of cells
  std::uint32_t span;      ///< greatest - least
  std::uint32_t a;
  std::uint32_t b;         ///< less than s, so that `first` is in the lowest cell
  std::uint64_t inverse;   ///< ceil(2^64 / s): n * inverse / 2^64 is n / s for all n < 2^32 (D. Lemire, O. Kaser,
                           ///< N. Kurz, "Faster remainder by direct computation", 2019); 0: s is 1
  std::uint32_t stride;    ///< of the key

  [[nodiscard]] SLUICE_HD bool holds(std::int32_t raw) const {
    return static_cast<std::uint32_t>(raw) - static_cast<std::uint32_t>(first) <= span;
  }
  [[nodiscard]] SLUICE_HD std::uint32_t cell(std::int32_t raw) const {
    const std::uint32_t n = a * (static_cast<std::uint32_t>(raw) - static_cast<std::uint32_t>(first)) + b;
    if (inverse == 0) return n;
#ifdef __CUDA_ARCH__
    return static_cast<std::uint32_t>(__umul64hi(n, inverse));
#else
    return static_cast<std::uint32_t>(static_cast<uint128>(n) * inverse >> 64);
#endif
  }
};

/// A grid and a range of its cells, for keys of at most 32 bits.
struct FastCells {
  FastAxis axis[3];

  /// True where the point's cell is in the range.
  [[nodiscard]] SLUICE_HD bool holds(const Record16& p) const {
    return axis[0].holds(p.x) && axis[1].holds(p.y) && axis[2].holds(p.z);
  }
  /// Key of a point whose cell is in the range.
  [[nodiscard]] SLUICE_HD std::uint32_t key(const Record16& p) const {
    return axis[0].cell(p.x) + axis[1].stride * axis[1].cell(p.y) + axis[2].stride * axis[2].cell(p.z);
  }
};

namespace detail {

inline std::optional<FastAxis> fast_axis(const CellGrid::Axis& axis, std::int64_t min, std::int64_t max) {
  if (axis.a <= 0 || axis.a >= (int128{1} << 32) || axis.s >= (int128{1} << 32)) return std::nullopt;
  const auto least_in = [&](std::int64_t cell) {  // least number whose cell is `cell` or above
    const int128 wanted = (static_cast<int128>(cell) - axis.base) * axis.s - axis.b;
    return -sluice::detail::floor_div(-wanted, axis.a);
  };
  constexpr int128 kLeast = INT32_MIN;
  constexpr int128 kMost = INT32_MAX;
  int128 first = least_in(min);
  int128 last = least_in(max + 1) - 1;
  if (first < kLeast) first = kLeast;
  if (last > kMost) last = kMost;
  FastAxis out{};
  if (first > last) {
    // No lattice number is in the range: one that is none of them, and a span that only it has, will not do. Rare
    // enough to leave to the general way.
    return std::nullopt;
  }
  // The quotient counts from the lowest cell of the range, which the least number may lie above.
  const int128 rest = axis.a * first + axis.b - (static_cast<int128>(min) - axis.base) * axis.s;
  const int128 greatest = axis.a * (last - first) + rest;
  if (greatest >= (int128{1} << 32)) return std::nullopt;
  out.first = static_cast<std::int32_t>(first);
  out.span = static_cast<std::uint32_t>(last - first);
  out.a = static_cast<std::uint32_t>(axis.a);
  out.b = static_cast<std::uint32_t>(rest);
  const auto s = static_cast<std::uint64_t>(axis.s);
  out.inverse = s == 1 ? 0 : ~std::uint64_t{0} / s + 1;
  out.stride = 1;
  return out;
}

}  // namespace detail

/// The 32-bit arithmetic of a layout, where it has one: row-major keys of at most 32 bits on a lattice.
inline std::optional<FastCells> fast_cells(const CellGrid& grid, const KeyLayout& layout) {
  if (grid.kind != CoordinateKind::kLattice || layout.order != CellOrder::kRowMajor || layout.key_bits > 32) {
    return std::nullopt;
  }
  FastCells out{};
  std::uint64_t stride = 1;
  for (int d = 0; d < 3; ++d) {
    const std::int64_t max = layout.min[d] + static_cast<std::int64_t>(layout.extent[d] - 1);
    if (d == 2 && !grid.use_z) {
      if (layout.min[d] > 0 || max < 0) return std::nullopt;  // all points are outside
      // Every z is in column 0.
      out.axis[d] = FastAxis{INT32_MIN, UINT32_MAX, 0, static_cast<std::uint32_t>(-layout.min[d]), 0, 1};
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
