// SPDX-License-Identifier: Apache-2.0
/// \file
/// One unsigned number for a cell, whose order is the order of the output. All orders count from the lower corner of
/// their range, so that no more bits are used than the range needs.
///
/// Row-major: ((iz * ny) + iy) * nx + ix, x fastest. Morton: bits of x, y and z interleaved from the lowest, x first;
/// an axis that has no more bits is skipped, which leaves the order as it is. Hilbert: the curve of J. Skilling,
/// "Programming the Hilbert curve", AIP Conf. Proc. 707 (2004), on a cube of as many bits as the longest axis needs.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "sluice/core/error.hpp"
#include "sluice/core/hd.hpp"

namespace sluice {

enum class CellOrder : std::uint8_t { kRowMajor, kMorton, kHilbert };

/// A box of cells, both corners inclusive; plain data, shared by host and device. Columns have iz = 0.
struct CellRange {
  std::int64_t min[3];
  std::int64_t max[3];
};

SLUICE_HD bool contains(const CellRange& range, const std::int64_t cell[3]) {
  for (int d = 0; d < 3; ++d) {
    if (cell[d] < range.min[d] || cell[d] > range.max[d]) return false;
  }
  return true;
}

/// How cells of one range become keys; plain data, shared by host and device.
struct KeyLayout {
  CellOrder order = CellOrder::kRowMajor;
  bool use_z = true;
  std::int64_t min[3] = {0, 0, 0};      ///< lower corner of the range, inclusive
  std::uint64_t extent[3] = {1, 1, 1};  ///< cells per axis
  std::uint8_t bits[3] = {0, 0, 0};     ///< bits that hold extent - 1
  std::uint8_t curve_bits = 0;          ///< Hilbert: bits per axis
  std::uint8_t key_bits = 0;            ///< bits that hold the largest key; 0 for a single cell
};

namespace detail {

/// Fills in what a layout derives from its range.
/// \return bits that hold the largest key
inline unsigned measure_keys(KeyLayout& layout, const std::int64_t max[3]) {
  unsigned sum_bits = 0;
  unsigned most_bits = 0;
  uint128 cells = 1;
  const uint128 limit = static_cast<uint128>(1) << 64;
  for (int d = 0; d < 3; ++d) {
    const std::uint64_t last = static_cast<std::uint64_t>(max[d]) - static_cast<std::uint64_t>(layout.min[d]);
    layout.extent[d] = last + 1;  // |cell| <= 2^62, so this fits
    layout.bits[d] = static_cast<std::uint8_t>(std::bit_width(last));
    sum_bits += layout.bits[d];
    if (layout.bits[d] > most_bits) most_bits = layout.bits[d];
    if (cells <= limit) cells *= layout.extent[d];
  }
  layout.curve_bits = 0;
  switch (layout.order) {
    case CellOrder::kRowMajor:
      if (cells > limit) return sum_bits > 64 ? sum_bits : 65;
      return static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(cells - 1)));
    case CellOrder::kMorton:
      return sum_bits;
    default:
      layout.curve_bits = static_cast<std::uint8_t>(most_bits);
      return most_bits * (layout.use_z ? 3U : 2U);
  }
}

}  // namespace detail

/// The layout of the keys of all cells from `min` to `max`, both inclusive.
/// \throws Unsupported where a key needs more than 64 bits; the message names the factor by which cells must grow
inline KeyLayout make_key_layout(CellOrder order, bool use_z, const std::int64_t min[3], const std::int64_t max[3]) {
  KeyLayout layout;
  layout.order = order;
  layout.use_z = use_z;
  for (int d = 0; d < 3; ++d) layout.min[d] = min[d];
  const unsigned needed = detail::measure_keys(layout, max);
  if (needed > 64) {
    // Cells 2^n times as large, from the same origin, are numbered floor(cell / 2^n).
    KeyLayout larger = layout;
    std::int64_t last[3] = {max[0], max[1], max[2]};
    unsigned growth = 0;
    unsigned bits = needed;
    while (bits > 64) {
      ++growth;
      for (int d = 0; d < 3; ++d) {
        larger.min[d] = min[d] >> growth;
        last[d] = max[d] >> growth;
      }
      bits = detail::measure_keys(larger, last);
    }
    throw Unsupported("the range of " + std::to_string(layout.extent[0]) + " x " + std::to_string(layout.extent[1]) +
                      " x " + std::to_string(layout.extent[2]) + " cells needs keys of " + std::to_string(needed) +
                      " bits, 64 are the most; cells " + std::to_string(std::uint64_t{1} << growth) +
                      " times as large on every axis would fit");
  }
  layout.key_bits = static_cast<std::uint8_t>(needed);
  return layout;
}

namespace detail {

/// Skilling's transform between axes and the transposed Hilbert index, in place, for n axes of b bits.
SLUICE_HD void axes_to_transpose(std::uint64_t* x, int b, int n) {
  if (b == 0) return;
  const std::uint64_t top = std::uint64_t{1} << (b - 1);
  for (std::uint64_t q = top; q > 1; q >>= 1) {
    const std::uint64_t p = q - 1;
    for (int i = 0; i < n; ++i) {
      if ((x[i] & q) != 0) {
        x[0] ^= p;
      } else {
        const std::uint64_t t = (x[0] ^ x[i]) & p;
        x[0] ^= t;
        x[i] ^= t;
      }
    }
  }
  for (int i = 1; i < n; ++i) x[i] ^= x[i - 1];
  std::uint64_t t = 0;
  for (std::uint64_t q = top; q > 1; q >>= 1) {
    if ((x[n - 1] & q) != 0) t ^= q - 1;
  }
  for (int i = 0; i < n; ++i) x[i] ^= t;
}

SLUICE_HD void transpose_to_axes(std::uint64_t* x, int b, int n) {
  if (b == 0) return;
  std::uint64_t t = x[n - 1] >> 1;
  for (int i = n - 1; i > 0; --i) x[i] ^= x[i - 1];
  x[0] ^= t;
  for (int bit = 1; bit < b; ++bit) {
    const std::uint64_t q = std::uint64_t{1} << bit;
    const std::uint64_t p = q - 1;
    for (int i = n - 1; i >= 0; --i) {
      if ((x[i] & q) != 0) {
        x[0] ^= p;
      } else {
        t = (x[0] ^ x[i]) & p;
        x[0] ^= t;
        x[i] ^= t;
      }
    }
  }
}

}  // namespace detail

/// Key of a cell inside the layout's range.
SLUICE_HD std::uint64_t key_of(const KeyLayout& layout, const std::int64_t cell[3]) {
  std::uint64_t at[3];
  for (int d = 0; d < 3; ++d) at[d] = static_cast<std::uint64_t>(cell[d]) - static_cast<std::uint64_t>(layout.min[d]);
  if (layout.order == CellOrder::kRowMajor) {
    return (at[2] * layout.extent[1] + at[1]) * layout.extent[0] + at[0];
  }
  const int axes = layout.use_z ? 3 : 2;
  std::uint64_t key = 0;
  int place = 0;
  if (layout.order == CellOrder::kMorton) {
    for (int level = 0; level < 64; ++level) {
      bool any = false;
      for (int d = 0; d < axes; ++d) {
        if (level < layout.bits[d]) {
          key |= ((at[d] >> level) & 1) << place++;
          any = true;
        }
      }
      if (!any) break;
    }
    return key;
  }
  const int b = layout.curve_bits;
  detail::axes_to_transpose(at, b, axes);
  for (int level = 0; level < b; ++level) {
    for (int d = axes - 1; d >= 0; --d) key |= ((at[d] >> level) & 1) << place++;
  }
  return key;
}

/// Cell of a key: the inverse of `key_of`.
SLUICE_HD void cell_of_key(const KeyLayout& layout, std::uint64_t key, std::int64_t cell[3]) {
  std::uint64_t at[3] = {0, 0, 0};
  const int axes = layout.use_z ? 3 : 2;
  int place = 0;
  if (layout.order == CellOrder::kRowMajor) {
    at[0] = key % layout.extent[0];
    const std::uint64_t rest = key / layout.extent[0];
    at[1] = rest % layout.extent[1];
    at[2] = rest / layout.extent[1];
  } else if (layout.order == CellOrder::kMorton) {
    for (int level = 0; level < 64; ++level) {
      bool any = false;
      for (int d = 0; d < axes; ++d) {
        if (level < layout.bits[d]) {
          at[d] |= ((key >> place++) & 1) << level;
          any = true;
        }
      }
      if (!any) break;
    }
  } else {
    const int b = layout.curve_bits;
    for (int level = 0; level < b; ++level) {
      for (int d = axes - 1; d >= 0; --d) at[d] |= ((key >> place++) & 1) << level;
    }
    detail::transpose_to_axes(at, b, axes);
  }
  for (int d = 0; d < 3; ++d) {
    cell[d] = static_cast<std::int64_t>(at[d] + static_cast<std::uint64_t>(layout.min[d]));
  }
}

}  // namespace sluice
