// SPDX-License-Identifier: Apache-2.0
/// \file
/// One pass of a least-significant-digit radix sort that reads its items once: tiles rank their items by digit, look
/// back per digit for how many lie before them, and write runs of equal digits (A. Adinets, D. Merrill, "Onesweep: A
/// Faster Least Significant Digit Radix Sort for GPUs", arXiv 2206.01784). Stable: ties keep their order.
#pragma once

#include <cstdint>

#include "kernels/cuda/bodies/digit_plan.hpp"
#include "kernels/cuda/bodies/look_back.hpp"
#include "kernels/cuda/bodies/select.hpp"
#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::kernels::bodies {

/// The tiles of a pass as far as they have come: a word of a count and `TileNews` for each tile and digit.
///
/// \tparam WordT  has room for two bits more than the number of items
template <typename WordT>
struct DigitStates {
  WordT* words;  ///< all zero when a launch starts
  Ticket ticket;

  template <typename ContextT>
  SLUICE_SIMT void publish(ContextT& simt, std::uint64_t at, WordT value, TileNews news) const {
    simt.template atomic_store<simt::Order::kRelaxed>(&words[at], news_of(value, news));
  }

  /// Where the items of a digit begin that come before `tile`, which is not the first; publishes where those of the
  /// tiles after it begin. A thread for each digit; the tile has published its count.
  template <typename ContextT>
  SLUICE_SIMT WordT look_back(ContextT& simt, std::uint32_t tile, std::uint32_t digits, std::uint32_t digit,
                              WordT count) const {
    // Two tiles at a time: one wait for both, and little is read in vain. No pause: it made no difference.
    constexpr unsigned kWindow = 2;
    WordT before = 0;
    bool done = false;
    for (std::uint32_t next = tile; !done;) {
      WordT seen[kWindow];
      SLUICE_UNROLL
      for (unsigned k = 0; k < kWindow; ++k) {
        seen[k] = 0;
        if (next > k) {
          const WordT* at = &words[std::uint64_t{next - 1 - k} * digits + digit];
          seen[k] = simt.template atomic_load<simt::Order::kRelaxed>(at);
        }
      }
      unsigned used = 0;
      SLUICE_UNROLL
      for (unsigned k = 0; k < kWindow; ++k) {
        if (!done && used == k && news_in(seen[k]) != TileNews::kNone) {
          before += value_in(seen[k]);
          done = news_in(seen[k]) == TileNews::kPrefix;
          ++used;
        }
      }
      next -= used;
    }
    publish(simt, std::uint64_t{tile} * digits + digit, static_cast<WordT>(before + count), TileNews::kPrefix);
    return before;
  }
};

/// Sorts items by one digit; one block a tile.
///
/// ItemsT: `Tile<kItems>`, items in shared memory; `Slot`, a place in a tile, with the digit where that is costly to
/// find again; `fetch(simt, tile, place, at)` starts to bring item `at`, `fetch_row<kRounds>(simt, tile, place, at)` a
/// row of as many for each lane of a warp; `prefetch_ahead<kTile>(simt, at, count)` as that of look_back.hpp;
/// `key(tile, place)`; `sort_digit`, and `next_digit` where `kCountsNext`; `slot_of(place, digit)`, `place_of(slot)`,
/// `digit_of(tile, slot)`; `store(simt, tile, place, at)`; where `kFindsRuns`, `begin_run(tile, order, first, count)`
/// and `follow_run(simt, run, tile, place, to, at, exists)` by whole warps in the order of the output.
///
/// \tparam kDrawsAgain  blocks take tile after tile, so that there may be fewer of them; else one each
template <typename ItemsT, typename WordT, unsigned kThreadCount, unsigned kRounds, unsigned kBits, unsigned kBlocks,
          bool kDrawsAgain>
struct RadixPass {
  static constexpr unsigned kThreads = kThreadCount;
  static constexpr unsigned kBlocksPerProcessor = kBlocks;
  static constexpr unsigned kTile = kThreads * kRounds;
  static constexpr unsigned kDigits = 1U << kBits;
  static constexpr unsigned kDigitsPerThread = (kDigits + kThreads - 1) / kThreads;
  static_assert(kTile < (1U << 16) && kBits <= kMostDigitBits);

  template <unsigned kWarpWidth>
  struct Shared {
    typename ItemsT::template Tile<kTile> in;  ///< as they come
    typename ItemsT::Slot order[kTile];        ///< by digit
    /// Items by warp and digit; later where in `order` a warp's first one goes.
    std::uint16_t counts[kThreads / kWarpWidth][kDigits];
    WordT base[kDigits];
    WordT wide_sums[kThreads / kWarpWidth];
    std::uint32_t warp_sums[kThreads / kWarpWidth];
    std::uint32_t next_counts[ItemsT::kCountsNext ? kDigits : 1];
    std::uint32_t tile;
    std::uint32_t only;
  };

  ItemsT items;
  DigitStates<WordT> states;
  const std::uint64_t* digit_counts;  ///< of all items, as in `DigitCounts`
  ItemCount item_count;
  /// States of the pass that follows, cleared as far as this pass has states itself. May be null.
  WordT* next_words;
  std::uint64_t* next_counts;  ///< with `kCountsNext`: of the digits of the next pass, which are no wider; zero before

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    const std::uint64_t count = item_count.get();
    // Where the count is not known to the host there may be more blocks than tiles.
    if (std::uint64_t{simt.block()} * kTile >= count) return;
    // Another warp than the one that draws the tile, so that nobody waits for both.
    if (simt.warp() == 1) {
      const unsigned only = only_digit(simt, count);
      if (simt.lane() == 0) shared.only = only;
    }
    if constexpr (ItemsT::kCountsNext) {
      for (unsigned d = simt.thread(); d < kDigits; d += kThreads) shared.next_counts[d] = 0;
    }
    for (;;) {
      if (simt.thread() == 0) shared.tile = states.ticket.draw(simt);
      for (unsigned d = simt.lane(); d < kDigits; d += kWidth) shared.counts[simt.warp()][d] = 0;
      simt.block_barrier();
      const std::uint64_t first = std::uint64_t{shared.tile} * kTile;
      if (kDrawsAgain && first >= count) break;
      if (first + kTile <= count) {
        sort_tile<true>(simt, shared, count);
      } else {
        sort_tile<false>(simt, shared, count);
      }
      if (!kDrawsAgain || std::uint64_t{simt.blocks()} * kTile >= count) break;
      simt.block_barrier();
    }
    if constexpr (ItemsT::kCountsNext) {
      // All items were counted before the last barrier.
      add_digit_counts<WordT>(simt, kThreads, shared.next_counts, kDigits, next_counts);
    }
  }

 private:
  /// \tparam kWhole  the tile has all its items
  template <bool kWhole, typename ContextT, typename SharedT>
  SLUICE_SIMT void sort_tile(ContextT& simt, SharedT& shared, std::uint64_t count) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    const std::uint32_t tile = shared.tile;
    // A warp takes consecutive items: their order is that of rounds, and of lanes within a round.
    const std::uint64_t tile_first = std::uint64_t{tile} * kTile;
    const unsigned first = simt.warp() * (kRounds * kWidth) + simt.lane();
    const auto exists = [&](unsigned i) { return kWhole || tile_first + first + i * kWidth < count; };
    if (kWhole) {
      items.template fetch_row<kRounds>(simt, shared.in, first - simt.lane(), tile_first + first - simt.lane());
    } else {
      for (unsigned i = 0; i < kRounds; ++i) {
        if (exists(i)) items.fetch(simt, shared.in, first + i * kWidth, tile_first + first + i * kWidth);
      }
    }
    if (simt.thread() == 0) items.template prefetch_ahead<kTile>(simt, tile_first, count);
    if (next_words != nullptr) {
      for (unsigned d = simt.thread(); d < kDigits; d += kThreads) next_words[std::uint64_t{tile} * kDigits + d] = 0;
    }
    const unsigned only = shared.only;
    simt.copies_done();
    if (only == kDigits) {
      simt.warp_barrier();
      order_tile<kWhole>(simt, shared, exists);
    } else {
      // Everything stays where it is.
      SLUICE_UNROLL
      for (unsigned i = 0; i < kRounds; ++i) {
        shared.order[first + i * kWidth] = items.slot_of(first + i * kWidth, only);
      }
      if constexpr (ItemsT::kCountsNext) {
        simt.warp_barrier();
        SLUICE_UNROLL
        for (unsigned i = 0; i < kRounds; ++i) {
          if (exists(i)) count_next(simt, shared, items.key(shared.in, first + i * kWidth));
        }
      }
      if (simt.thread() == 0) shared.base[only] = static_cast<WordT>(tile_first);
    }
    simt.block_barrier();
    const auto all = kWhole ? kTile : static_cast<std::uint32_t>(count - tile_first);
    const auto at_of = [&](unsigned to) {
      // A base may lie below zero, where a digit begins later in the tile than in the output; the sum never does.
      return static_cast<WordT>(shared.base[items.digit_of(shared.in, shared.order[to])] + to);
    };
    if constexpr (ItemsT::kFindsRuns) {
      // A warp writes consecutive items, so that it sees where runs of equal keys begin.
      auto run = items.begin_run(shared.in, shared.order, first - simt.lane(), all);
      SLUICE_UNROLL
      for (unsigned i = 0; i < kRounds; ++i) {
        const unsigned to = first + i * kWidth;
        const bool here = kWhole || to < all;
        const unsigned place = items.place_of(shared.order[here ? to : 0]);
        const WordT at = here ? at_of(to) : 0;
        if (here) items.store(simt, shared.in, place, at);
        items.follow_run(simt, run, shared.in, place, to, at, here);
      }
    } else {
      // Warps side by side: a little faster, as runs of digits are longer than what a warp writes at once.
      SLUICE_UNROLL
      for (unsigned i = 0; i < kRounds; ++i) {
        const unsigned to = i * kThreads + simt.thread();
        if (kWhole || to < all) items.store(simt, shared.in, items.place_of(shared.order[to]), at_of(to));
      }
    }
  }

  template <typename ContextT, typename SharedT, typename KeyT>
  SLUICE_SIMT void count_next(ContextT& simt, SharedT& shared, KeyT key) const {
    if constexpr (ItemsT::kCountsNext) {
      simt.template atomic_add<simt::Order::kRelaxed>(&shared.next_counts[items.next_digit.of(key)], std::uint32_t{1});
    }
  }

  /// The digit that all items of the pass have, or kDigits. Called by whole warps.
  template <typename ContextT>
  SLUICE_SIMT unsigned only_digit(ContextT& simt, std::uint64_t count) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    unsigned mine = kDigits;
    SLUICE_UNROLL
    for (unsigned i = 0; i < kDigits / kWidth; ++i) {
      if (count_of_digit<WordT>(digit_counts, i * kWidth + simt.lane()) == count) mine = i * kWidth + simt.lane();
    }
    const auto found = simt.ballot(mine != kDigits);
    return found == 0 ? kDigits : simt.shuffle(mine, simt.lowest(found));
  }

  /// Sets `order`, and for each digit what must be added to a place there to have the place in the output. Items are
  /// there for the warps that fetched them.
  ///
  /// \param exists  whether the item of this thread in a round does
  template <bool kWhole, typename ContextT, typename SharedT, typename ExistsT>
  SLUICE_SIMT void order_tile(ContextT& simt, SharedT& shared, const ExistsT& exists) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    constexpr unsigned kWarps = kThreads / kWidth;
    const std::uint32_t tile = shared.tile;
    const unsigned first = simt.warp() * (kRounds * kWidth) + simt.lane();
    std::uint16_t* mine = shared.counts[simt.warp()];
    std::uint32_t found[kRounds];  // the digit, and above it how many items of the warp and the digit come before
    SLUICE_UNROLL
    for (unsigned i = 0; i < kRounds; ++i) {
      std::uint32_t digit = 0;
      if (exists(i)) {
        const auto key = items.key(shared.in, first + i * kWidth);
        digit = items.sort_digit.of(key);
        count_next(simt, shared, key);
      }
      auto same = simt.template match_bits<kBits>(digit);
      if (!kWhole) same &= simt.ballot(exists(i));
      const unsigned below = simt.population(same & simt.lanes_below());
      const std::uint32_t before = mine[digit];
      simt.warp_barrier();
      if (below == 0 && exists(i)) mine[digit] = static_cast<std::uint16_t>(before + simt.population(same));
      simt.warp_barrier();
      found[i] = (before + below) << 16 | digit;
    }
    simt.block_barrier();
    // A thread for each digit, or for a few neighbours.
    const unsigned first_digit = simt.thread() * kDigitsPerThread;
    std::uint32_t totals[kDigitsPerThread];
    std::uint32_t sum = 0;
    SLUICE_UNROLL
    for (unsigned k = 0; k < kDigitsPerThread; ++k) {
      totals[k] = 0;
      if (first_digit + k < kDigits) {
        SLUICE_UNROLL
        for (unsigned w = 0; w < kWarps; ++w) totals[k] += shared.counts[w][first_digit + k];
        const std::uint64_t word = std::uint64_t{tile} * kDigits + first_digit + k;
        if (tile != 0) states.publish(simt, word, totals[k], TileNews::kSum);
      }
      sum += totals[k];
    }
    std::uint32_t all = 0;
    const std::uint32_t local_first = simt::block_exclusive_sum(simt, sum, shared.warp_sums, all);
    std::uint32_t local = local_first;
    SLUICE_UNROLL
    for (unsigned k = 0; k < kDigitsPerThread; ++k) {
      if (first_digit + k < kDigits) {
        SLUICE_UNROLL
        for (unsigned w = 0; w < kWarps; ++w) {
          const std::uint32_t of_warp = shared.counts[w][first_digit + k];
          shared.counts[w][first_digit + k] = static_cast<std::uint16_t>(local);
          local += of_warp;
        }
      }
    }
    simt.block_barrier();
    SLUICE_UNROLL
    for (unsigned i = 0; i < kRounds; ++i) {
      const std::uint32_t digit = found[i] & 0xffff;
      if (exists(i)) shared.order[mine[digit] + (found[i] >> 16)] = items.slot_of(first + i * kWidth, digit);
    }
    find_bases(simt, shared, tile, first_digit, totals, local_first);
  }

  /// Sets what must be added to a place in `order` to have the place in the output, for each digit.
  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void find_bases(ContextT& simt, SharedT& shared, std::uint32_t tile, unsigned first_digit,
                              const std::uint32_t (&totals)[kDigitsPerThread], std::uint32_t local) const {
    WordT begin = 0;  // of the first tile's digits: only it needs to know where digits begin
    if (tile == 0) {
      WordT sum = 0;
      SLUICE_UNROLL
      for (unsigned k = 0; k < kDigitsPerThread; ++k) {
        if (first_digit + k < kDigits) sum += count_of_digit<WordT>(digit_counts, first_digit + k);
      }
      WordT all = 0;
      begin = simt::block_exclusive_sum(simt, sum, shared.wide_sums, all);
    }
    SLUICE_UNROLL
    for (unsigned k = 0; k < kDigitsPerThread; ++k) {
      const unsigned digit = first_digit + k;
      if (digit >= kDigits) continue;
      WordT before = begin;
      if (tile == 0) {
        states.publish(simt, digit, static_cast<WordT>(before + totals[k]), TileNews::kPrefix);
        begin += count_of_digit<WordT>(digit_counts, digit);
      } else {
        before = states.look_back(simt, tile, kDigits, digit, totals[k]);
      }
      shared.base[digit] = before - local;
      local += totals[k];
    }
  }
};

}  // namespace sluice::kernels::bodies
