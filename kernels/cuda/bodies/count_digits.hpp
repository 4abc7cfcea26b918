// SPDX-License-Identifier: Apache-2.0
/// \file
/// How often each digit of each pass of a sort occurs, in one look at the keys.
#pragma once

#include <cstdint>

#include "kernels/cuda/bodies/digit_plan.hpp"
#include "kernels/cuda/bodies/look_back.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::kernels::bodies {

/// Counters of one block, for so many passes at most by digits of so many values at most.
template <unsigned kPasses, unsigned kDigits>
struct BlockDigitCounts {
  static_assert(kPasses <= kMostPasses && kDigits <= kMostDigits);
  std::uint32_t counts[kPasses][kDigits];

  /// By the whole block; a barrier follows before the first key.
  template <typename ContextT>
  SLUICE_SIMT void clear(ContextT& simt, unsigned threads, unsigned passes) {
    for (unsigned i = simt.thread(); i < passes * kDigits; i += threads) counts[i / kDigits][i % kDigits] = 0;
  }

  template <typename ContextT, typename KeyT>
  SLUICE_SIMT void add(ContextT& simt, const DigitPlan& plan, KeyT key) {
    SLUICE_UNROLL
    for (unsigned p = 0; p < kPasses; ++p) {
      if (p < plan.passes) {
        simt.template atomic_add<simt::Order::kRelaxed>(&counts[p][plan.digits[p].of(key)], std::uint32_t{1});
      }
    }
  }

  /// By the whole block, after a barrier. \tparam CountT  as in digit_plan.hpp
  template <typename CountT, typename ContextT>
  SLUICE_SIMT void flush(ContextT& simt, unsigned threads, unsigned passes, DigitCounts* to) const {
    for (unsigned p = 0; p < passes; ++p) add_digit_counts<CountT>(simt, threads, counts[p], kDigits, to->words[p]);
  }
};

/// Counts the digits of keys, and clears the states of the pass that follows. A block takes every `blocks`th tile.
template <typename KeyT, typename WordT>
struct CountDigits {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kItems = 16;  ///< keys per thread and tile
  static constexpr unsigned kTile = kThreads * kItems;
  template <unsigned kWarpWidth>
  struct Shared {
    BlockDigitCounts<sizeof(KeyT), kMostKeyDigits> block;
  };

  const KeyT* keys;
  std::uint64_t n;
  DigitPlan plan;
  DigitCounts* counts;  ///< zero before
  WordT* next_words;
  std::uint64_t next_word_count;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    shared.block.clear(simt, kThreads, plan.passes);
    fill_share(simt, kThreads, next_words, next_word_count, WordT{0});
    simt.block_barrier();
    for (std::uint64_t first = std::uint64_t{simt.block()} * kTile; first < n;
         first += std::uint64_t{simt.blocks()} * kTile) {
      KeyT some[kItems];
      const std::uint64_t at = first + simt.thread();
      if (first + kTile <= n) {
        SLUICE_UNROLL
        for (unsigned i = 0; i < kItems; ++i) some[i] = simt.load_streaming(keys + at + i * kThreads);
        SLUICE_UNROLL
        for (unsigned i = 0; i < kItems; ++i) shared.block.add(simt, plan, some[i]);
      } else {
        for (unsigned i = 0; i < kItems && at + i * kThreads < n; ++i) {
          shared.block.add(simt, plan, keys[at + i * kThreads]);
        }
      }
    }
    simt.block_barrier();
    shared.block.template flush<WordT>(simt, kThreads, plan.passes, counts);
  }
};

}  // namespace sluice::kernels::bodies
