// SPDX-License-Identifier: Apache-2.0
/// \file
/// What radix passes sort: keys alone, keys with values, and points by the key of their cell.
#pragma once

#include <cstdint>

#include "kernels/cuda/bodies/digit_plan.hpp"
#include "kernels/cuda/bodies/fast_cells.hpp"
#include "kernels/cuda/bodies/look_back.hpp"
#include "kernels/simt/words.hpp"
#include "sluice/core/types.hpp"

namespace sluice::kernels::bodies {

/// Starts to bring `kRounds` items for each lane of a warp from a row in memory, 16 bytes at a time where the row is
/// aligned to them.
template <unsigned kRounds, typename ContextT, typename T>
SLUICE_SIMT void start_row(ContextT& simt, T* to, const T* from) {
  constexpr unsigned kWidth = ContextT::kWarpWidth;
  struct alignas(16) Part {
    T items[16 / sizeof(T)];
  };
  constexpr unsigned kParts = kRounds * sizeof(T) / sizeof(Part);
  if (kParts * sizeof(Part) == kRounds * sizeof(T) && reinterpret_cast<std::uintptr_t>(from) % sizeof(Part) == 0) {
    auto* parts_to = reinterpret_cast<Part*>(to) + simt.lane();
    const auto* parts = reinterpret_cast<const Part*>(from) + simt.lane();
    SLUICE_UNROLL
    for (unsigned i = 0; i < kParts; ++i) simt.start_copy(parts_to + i * kWidth, parts + i * kWidth);
  } else {
    SLUICE_UNROLL
    for (unsigned i = 0; i < kRounds; ++i) {
      simt.start_copy(to + i * kWidth + simt.lane(), from + i * kWidth + simt.lane());
    }
  }
}

/// Keys with values, and keys alone. (A member of no size would do, but for compilers that disagree about its place.)
template <typename KeyT, bool kValues, unsigned kItems>
struct KeyTile {
  alignas(16) KeyT keys[kItems];
  alignas(16) std::uint32_t values[kItems];
};
template <typename KeyT, unsigned kItems>
struct KeyTile<KeyT, false, kItems> {
  alignas(16) KeyT keys[kItems];
};

/// Keys of 32 or 64 bits, with or without a 32-bit value each.
template <typename KeyT, bool kValues>
struct KeyItems {
  static constexpr bool kFindsRuns = false;
  static constexpr bool kCountsNext = false;
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
  template <unsigned kRounds, typename ContextT, typename TileT>
  SLUICE_SIMT void fetch_row(ContextT& simt, TileT& tile, unsigned place, std::uint64_t at) const {
    start_row<kRounds>(simt, &tile.keys[place], keys + at);
    if constexpr (kValues) start_row<kRounds>(simt, &tile.values[place], values + at);
  }
  template <unsigned kTile, typename ContextT>
  SLUICE_SIMT void prefetch_ahead(ContextT& simt, std::uint64_t at, std::uint64_t count) const {
    constexpr unsigned kItemBytes = sizeof(KeyT) + (kValues ? sizeof(std::uint32_t) : 0);
    bodies::prefetch_ahead<kTile, kItemBytes>(simt, keys, at, count);
    if constexpr (kValues) bodies::prefetch_ahead<kTile, kItemBytes>(simt, values, at, count);
  }
  template <typename TileT>
  SLUICE_SIMT KeyT key(const TileT& tile, unsigned place) const {
    return tile.keys[place];
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

/// Where the points of a cell start, for cells without any.
inline constexpr std::uint32_t kNoPoint = 0xffffffffU;

/// What a pass over points leaves behind for the table of cells.
enum class PassTable : std::uint8_t {
  kNone,    ///< it is not the last one
  kFirsts,  ///< where the points of each cell start: within a tile those of a cell are together in the last pass
  kKeys,    ///< the key of each point, which is less to read again than the points
};

/// Lattice points by the key of their cell, which is computed anew in each pass: cheaper than to carry it.
template <PassTable kTable>
struct PointItems {
  static constexpr bool kFindsRuns = kTable == PassTable::kFirsts;
  static constexpr bool kCountsNext = kTable == PassTable::kNone;
  using Slot = std::uint32_t;
  template <unsigned kItems>
  struct Tile {
    Record16 points[kItems];
  };

  const Record16* points;
  Record16* points_out;
  FastCells cells;
  Digit sort_digit;
  Digit next_digit;           ///< with `kNone`, which another pass follows
  std::uint32_t* cell_first;  ///< for each key, kNoPoint before; with `kFirsts`
  std::uint32_t* keys_out;    ///< with `kKeys`

  template <typename ContextT, typename TileT>
  SLUICE_SIMT void fetch(ContextT& simt, TileT& tile, unsigned place, std::uint64_t at) const {
    simt.start_copy(&tile.points[place], points + at);
  }
  template <unsigned kRounds, typename ContextT, typename TileT>
  SLUICE_SIMT void fetch_row(ContextT& simt, TileT& tile, unsigned place, std::uint64_t at) const {
    start_row<kRounds>(simt, &tile.points[place], points + at);
  }
  template <unsigned kTile, typename ContextT>
  SLUICE_SIMT void prefetch_ahead(ContextT& simt, std::uint64_t at, std::uint64_t count) const {
    bodies::prefetch_ahead<kTile, sizeof(Record16)>(simt, points, at, count);
  }
  template <typename TileT>
  SLUICE_SIMT std::uint32_t key(const TileT& tile, unsigned place) const {
    return cells.key(tile.points[place]);
  }
  SLUICE_SIMT static Slot slot_of(unsigned place, std::uint32_t digit) { return digit << 16 | place; }
  SLUICE_SIMT static unsigned place_of(Slot slot) { return slot & 0xffffU; }
  template <typename TileT>
  SLUICE_SIMT static std::uint32_t digit_of(const TileT& /*tile*/, Slot slot) {
    return slot >> 16;
  }
  template <typename ContextT, typename TileT>
  SLUICE_SIMT void store(ContextT& simt, const TileT& tile, unsigned place, std::uint64_t at) const {
    const Record16 point = tile.points[place];
    simt.store_streaming(points_out + at, point);
    if constexpr (kTable == PassTable::kKeys) keys_out[at] = cells.key(point);
  }

  struct Run {
    std::uint32_t before;  ///< key of the point before the row of a warp's lanes
  };
  template <typename TileT>
  SLUICE_SIMT Run begin_run(const TileT& tile, const Slot* order, unsigned first, std::uint32_t count) const {
    return {first != 0 && first <= count ? cells.key(tile.points[place_of(order[first - 1])]) : 0};
  }
  template <typename ContextT, typename TileT>
  SLUICE_SIMT void follow_run(ContextT& simt, Run& run, const TileT& tile, unsigned place, unsigned to,
                              std::uint64_t at, bool exists) const {
    const std::uint32_t key = cells.key(tile.points[place]);
    std::uint32_t before = simt.shuffle_up(key, 1);
    if (simt.lane() == 0) before = run.before;
    run.before = simt.shuffle(key, ContextT::kWarpWidth - 1);
    if (exists && (to == 0 || before != key)) {
      simt.template atomic_min<simt::Order::kRelaxed>(&cell_first[key], static_cast<std::uint32_t>(at));
    }
  }
};

}  // namespace sluice::kernels::bodies
