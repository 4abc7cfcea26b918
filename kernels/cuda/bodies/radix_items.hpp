// SPDX-License-Identifier: Apache-2.0
/// \file
/// What radix passes sort: keys alone, keys with values, and points by the key of their cell.
#pragma once

#include <cstdint>

#include "kernels/cuda/bodies/digit_plan.hpp"
#include "kernels/cuda/bodies/fast_cells.hpp"
#include "kernels/simt/words.hpp"
#include "sluice/core/types.hpp"

namespace sluice::kernels::bodies {

/// Keys with values, and keys alone. (A member of no size would do, but for compilers that disagree about its place.)
template <typename KeyT, bool kValues, unsigned kItems>
struct KeyTile {
  KeyT keys[kItems];
  std::uint32_t values[kItems];
};
template <typename KeyT, unsigned kItems>
struct KeyTile<KeyT, false, kItems> {
  KeyT keys[kItems];
};

/// Keys of 32 or 64 bits, with or without a 32-bit value each.
template <typename KeyT, bool kValues>
struct KeyItems {
  using Key = KeyT;
  using Slot = std::uint16_t;
  template <unsigned kItems>
  using Tile = KeyTile<KeyT, kValues, kItems>;

  const KeyT* keys;
  const std::uint32_t* values;  ///< with `kValues`
  KeyT* keys_out;
  std::uint32_t* values_out;
  Digit sort_digit;

  template <typename ContextT, typename TileT>
  SLUICE_SIMT void fetch(ContextT& simt, TileT& tile, unsigned place, std::uint64_t at) const {
    simt.start_copy(&tile.keys[place], keys + at);
    if constexpr (kValues) simt.start_copy(&tile.values[place], values + at);
  }
  template <typename TileT>
  SLUICE_SIMT std::uint32_t digit(const TileT& tile, unsigned place) const {
    return sort_digit.of(tile.keys[place]);
  }
  SLUICE_SIMT static Slot slot_of(unsigned place, std::uint32_t /*digit*/) { return static_cast<Slot>(place); }
  SLUICE_SIMT static unsigned place_of(Slot slot) { return slot; }
  template <typename TileT>
  SLUICE_SIMT std::uint32_t digit_of(const TileT& tile, Slot slot) const {
    return sort_digit.of(tile.keys[slot]);
  }
  template <typename ContextT, typename TileT>
  SLUICE_SIMT void store(ContextT& /*simt*/, const TileT& tile, unsigned place, std::uint64_t at) const {
    keys_out[at] = tile.keys[place];
    if constexpr (kValues) values_out[at] = tile.values[place];
  }
};

/// Lattice points by the key of their cell, which is computed anew in each pass: cheaper than to carry it.
struct PointItems {
  using Slot = std::uint32_t;
  template <unsigned kItems>
  struct Tile {
    Record16 points[kItems];
  };

  const Record16* points;
  Record16* points_out;
  FastCells cells;
  Digit sort_digit;

  template <typename ContextT, typename TileT>
  SLUICE_SIMT void fetch(ContextT& simt, TileT& tile, unsigned place, std::uint64_t at) const {
    simt.start_copy(&tile.points[place], points + at);
  }
  template <typename TileT>
  SLUICE_SIMT std::uint32_t digit(const TileT& tile, unsigned place) const {
    return sort_digit.of(cells.key(tile.points[place]));
  }
  SLUICE_SIMT static Slot slot_of(unsigned place, std::uint32_t digit) { return digit << 16 | place; }
  SLUICE_SIMT static unsigned place_of(Slot slot) { return slot & 0xffffU; }
  template <typename TileT>
  SLUICE_SIMT static std::uint32_t digit_of(const TileT& /*tile*/, Slot slot) {
    return slot >> 16;
  }
  template <typename ContextT, typename TileT>
  SLUICE_SIMT void store(ContextT& simt, const TileT& tile, unsigned place, std::uint64_t at) const {
    simt.store_streaming(points_out + at, tile.points[place]);
  }
};

}  // namespace sluice::kernels::bodies
