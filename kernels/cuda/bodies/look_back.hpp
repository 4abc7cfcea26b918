// SPDX-License-Identifier: Apache-2.0
/// \file
/// Prefix sums over the tiles of one launch, each tile's as soon as those before it are known: every tile publishes its
/// own sum, looks back over the sums of others to the nearest prefix that is complete, and publishes its own prefix
/// (D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA NVR-2016-002).
///
/// A tile waits only for tiles with lower numbers, and numbers are drawn by blocks that run already, so whatever a
/// block waits for is being worked on, in whatever order blocks start and however few run at a time.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::kernels::bodies {

/// What a word that a tile publishes says, in its two lowest bits: word and meaning are read and written at once, so no
/// other memory needs ordering.
enum class TileNews : std::uint32_t { kNone = 0, kSum = 1, kPrefix = 2 };

template <typename WordT>
SLUICE_SIMT WordT news_of(WordT value, TileNews news) {
  return static_cast<WordT>(value << 2 | static_cast<WordT>(news));
}
template <typename WordT>
SLUICE_SIMT TileNews news_in(WordT word) {
  return static_cast<TileNews>(word & 3);
}
template <typename WordT>
SLUICE_SIMT WordT value_in(WordT word) {
  return static_cast<WordT>(word >> 2);
}

/// Numbers of tiles, drawn in order.
struct Ticket {
  std::uint32_t* drawn;  ///< zero when a launch starts

  /// The next tile; called by one thread of a block.
  template <typename ContextT>
  SLUICE_SIMT std::uint32_t draw(ContextT& simt) const {
    return simt.template atomic_add<simt::Order::kRelaxed>(drawn, std::uint32_t{1});
  }
};

/// What the tiles of one launch share; all zero when it starts.
struct TileStates {
  std::uint64_t* words;  ///< one for each tile, of 62 bits and `TileNews`
  Ticket ticket;

  /// Sum over all tiles before `tile`; publishes what that makes for the ones after it. Called by one whole warp. A
  /// sum may be several numbers side by side, if the total of each fits its bits.
  template <typename ContextT>
  SLUICE_SIMT std::uint64_t look_back(ContextT& simt, std::uint32_t tile, std::uint64_t sum) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    publish(simt, tile, sum, tile == 0 ? TileNews::kPrefix : TileNews::kSum);
    if (tile == 0) return 0;
    std::uint64_t before = 0;
    // Lane l looks at the tile l + 1 before `next`.
    for (std::uint32_t next = tile;; next -= kWidth) {
      const unsigned distance = simt.lane() + 1;
      std::uint64_t word = news_of(std::uint64_t{0}, TileNews::kPrefix);
      if (distance <= next) word = load(simt, next - distance);
      for (;;) {
        const auto prefixes = simt.ballot(news_in(word) == TileNews::kPrefix);
        const auto missing = simt.ballot(news_in(word) == TileNews::kNone);
        const unsigned last = prefixes != 0 ? simt.lowest(prefixes) : kWidth - 1;
        if (missing == 0 || simt.lowest(missing) > last) {
          before += sum_of(simt, simt.lane() <= last ? value_in(word) : 0);
          if (prefixes == 0) break;
          publish(simt, tile, before + sum, TileNews::kPrefix);
          return before;
        }
        simt.pause();
        if (news_in(word) == TileNews::kNone) word = load(simt, next - distance);
      }
    }
  }

 private:
  template <typename ContextT>
  SLUICE_SIMT std::uint64_t load(ContextT& simt, std::uint32_t tile) const {
    return simt.template atomic_load<simt::Order::kRelaxed>(&words[tile]);
  }
  template <typename ContextT>
  SLUICE_SIMT void publish(ContextT& simt, std::uint32_t tile, std::uint64_t value, TileNews news) const {
    if (simt.lane() == 0) simt.template atomic_store<simt::Order::kRelaxed>(&words[tile], news_of(value, news));
  }
  /// Over the lanes, in three parts whose sums over a warp of up to 128 lanes fit 32 bits.
  template <typename ContextT>
  SLUICE_SIMT static std::uint64_t sum_of(ContextT& simt, std::uint64_t value) {
    constexpr std::uint64_t kPart = (std::uint64_t{1} << 25) - 1;
    const std::uint64_t low = simt.warp_sum(static_cast<std::uint32_t>(value & kPart));
    const std::uint64_t middle = simt.warp_sum(static_cast<std::uint32_t>(value >> 25 & kPart));
    const std::uint64_t high = simt.warp_sum(static_cast<std::uint32_t>(value >> 50));
    return low + (middle << 25) + (high << 50);
  }
};

/// Asks for the tile that lies about 8 MB after the one at `at`, which the calling block loads itself: blocks then
/// find their items in the cache and wait less, and reading goes on while they work on what they have. More would drive
/// out of the cache what is not read yet. Called by one thread.
///
/// \tparam kTile  items of a tile
/// \tparam kItemBytes  of an item in all the arrays that tiles are loaded from
template <unsigned kTile, unsigned kItemBytes, typename ContextT, typename T>
SLUICE_SIMT void prefetch_ahead(ContextT& simt, const T* items, std::uint64_t at, std::uint64_t count) {
  constexpr std::uint64_t kAhead = (std::uint64_t{8} << 20) / (kTile * kItemBytes) * kTile;
  if (at + kAhead + kTile <= count) simt.prefetch(items + at + kAhead, kTile * static_cast<std::uint32_t>(sizeof(T)));
}

/// Sets this block's share of some words, for a later launch. \param words  may be null
template <typename ContextT, typename WordT>
SLUICE_SIMT void fill_share(ContextT& simt, unsigned threads, WordT* words, std::uint64_t count, WordT value) {
  if (words == nullptr) return;
  const std::uint64_t step = std::uint64_t{simt.blocks()} * threads;
  for (std::uint64_t i = std::uint64_t{simt.block()} * threads + simt.thread(); i < count; i += step) words[i] = value;
}

}  // namespace sluice::kernels::bodies
