// SPDX-License-Identifier: Apache-2.0
/// \file
/// Points marked in a mask, and where the marks are.
#pragma once

#include <cstdint>

#include "kernels/cuda/bodies/look_back.hpp"
#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::kernels::bodies {

/// Sets the bit of a point in a mask that starts at zero: bit n % 32 of word n / 32.
template <typename ContextT>
SLUICE_SIMT void mark_point(ContextT& simt, std::uint32_t* mask, std::uint32_t number) {
  simt.template atomic_or<simt::Order::kRelaxed>(&mask[number / 32], std::uint32_t{1} << (number % 32));
}

/// Marked points, with how many are marked before each word.
struct RankedMask {
  std::uint32_t* words;
  std::uint32_t* before;

  /// How many points before a point are marked.
  template <typename ContextT>
  [[nodiscard]] SLUICE_SIMT std::uint32_t rank(ContextT& simt, std::uint32_t number) const {
    const std::uint32_t below = words[number / 32] & ((std::uint32_t{1} << (number % 32)) - 1);
    return before[number / 32] + simt.population(below);
  }
};

/// Counts the marked points before each word of a mask and lists all of them, in one pass; one block a tile.
struct ListMarked {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kRounds = 4;  ///< words of a thread
  static constexpr unsigned kTile = kThreads * kRounds;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t tile;
    std::uint64_t before;
    std::uint32_t warp_sums[kThreads / kWarpWidth];
  };

  TileStates states;
  const std::uint32_t* words;
  std::uint64_t count;    ///< of words
  std::uint32_t* before;  ///< of each word; may be null
  std::uint32_t* marked;  ///< ascending numbers of points; may be null
  std::uint64_t* total;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    if (simt.thread() == 0) shared.tile = states.ticket.draw(simt);
    simt.block_barrier();
    const std::uint32_t tile = shared.tile;
    const std::uint64_t tile_first = std::uint64_t{tile} * kTile;
    const std::uint64_t first = tile_first + simt.warp() * (kRounds * kWidth) + simt.lane();
    std::uint32_t some[kRounds];
    std::uint32_t ahead[kRounds];  // marked points of the warp before the word
    std::uint32_t sum = 0;
    SLUICE_UNROLL
    for (unsigned i = 0; i < kRounds; ++i) {
      const std::uint64_t at = first + i * kWidth;
      some[i] = at < count ? words[at] : 0;
    }
    SLUICE_UNROLL
    for (unsigned i = 0; i < kRounds; ++i) {
      const std::uint32_t mine = simt.population(some[i]);
      const std::uint32_t inclusive = simt::warp_inclusive_sum(simt, mine);
      ahead[i] = sum + inclusive - mine;
      sum += simt.shuffle(inclusive, kWidth - 1);
    }
    std::uint32_t all = 0;
    std::uint32_t of_warps = 0;
    if (simt.lane() == 0) shared.warp_sums[simt.warp()] = sum;
    simt.block_barrier();
    for (unsigned w = 0; w < kThreads / kWidth; ++w) {
      if (w == simt.warp()) of_warps = all;
      all += shared.warp_sums[w];
    }
    if (simt.warp() == 0) {
      const std::uint64_t prefix = states.look_back(simt, tile, all);
      if (simt.lane() == 0) {
        shared.before = prefix;
        if (tile_first + kTile >= count) *total = prefix + all;
      }
    }
    simt.block_barrier();
    const std::uint32_t base = static_cast<std::uint32_t>(shared.before) + of_warps;
    SLUICE_UNROLL
    for (unsigned i = 0; i < kRounds; ++i) {
      const std::uint64_t at = first + i * kWidth;
      if (before != nullptr && at < count) before[at] = base + ahead[i];
      if (marked != nullptr) list_row(simt, at - simt.lane(), some[i], base + ahead[i]);
    }
  }

 private:
  /// Writes the marked points of a word for each lane; the lanes work on one word at a time.
  template <typename ContextT>
  SLUICE_SIMT void list_row(ContextT& simt, std::uint64_t first, std::uint32_t word, std::uint32_t to) const {
    auto left = simt.ballot(word != 0);
    while (left != 0) {
      const unsigned of = simt.lowest(left);
      left &= left - 1;
      const std::uint32_t bits = simt.shuffle(word, of);
      const std::uint32_t begin = simt.shuffle(to, of);
      SLUICE_UNROLL
      for (unsigned bit = simt.lane(); bit < 32; bit += ContextT::kWarpWidth) {
        if (((bits >> bit) & 1) == 0) continue;
        const std::uint32_t below = bits & ((std::uint32_t{1} << bit) - 1);
        marked[begin + simt.population(below)] = static_cast<std::uint32_t>((first + of) * 32 + bit);
      }
    }
  }
};

}  // namespace sluice::kernels::bodies
