// SPDX-License-Identifier: Apache-2.0
/// \file
/// One pass of a least-significant-digit radix sort (Knuth, TAOCP 3, 5.2.5): a histogram of the digit for every tile, a
/// scan of all of them by digit and then tile, and a scatter that ranks equal digits in input order.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::kernels::bodies {

inline constexpr unsigned kSortThreads = 256;
inline constexpr unsigned kSortItems = 16;  ///< keys per thread
inline constexpr unsigned kSortTile = kSortThreads * kSortItems;
inline constexpr unsigned kMostDigitBits = 8;
inline constexpr unsigned kMostDigits = 1U << kMostDigitBits;
static_assert(kMostDigits <= kSortThreads, "a thread takes care of each digit");

struct Digit {
  unsigned begin_bit;
  unsigned bits;

  [[nodiscard]] SLUICE_SIMT std::uint32_t values() const { return 1U << bits; }
  template <typename KeyT>
  [[nodiscard]] SLUICE_SIMT std::uint32_t of(KeyT key) const {
    return static_cast<std::uint32_t>(key >> begin_bit) & (values() - 1);
  }
};

/// table[digit * tiles + tile] = how often the digit occurs in the tile; one block a tile.
template <typename KeyT>
struct CountTileDigits {
  static constexpr unsigned kThreads = kSortThreads;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t counts[kMostDigits];
  };

  const KeyT* keys;
  std::uint64_t n;
  Digit digit;
  std::uint32_t* table;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    shared.counts[simt.thread()] = 0;
    simt.block_barrier();
    const std::uint64_t first = std::uint64_t{simt.block()} * kSortTile + simt.thread();
    for (unsigned i = 0; i < kSortItems; ++i) {
      const std::uint64_t at = first + std::uint64_t{i} * kThreads;
      if (at < n) simt.template atomic_add<simt::Order::kRelaxed>(&shared.counts[digit.of(keys[at])], std::uint32_t{1});
    }
    simt.block_barrier();
    if (simt.thread() < digit.values()) {
      table[std::uint64_t{simt.thread()} * simt.blocks() + simt.block()] = shared.counts[simt.thread()];
    }
  }
};

/// Moves keys, and with `kValues` a value beside each, to their places; one block a tile.
///
/// Each warp takes consecutive keys in rounds of one key a lane. Within a round lanes of equal digits find each other
/// by `match`; a counter for each warp and digit carries the rank from round to round. So ranks follow the input order,
/// and the sort is stable. Keys are then put in digit order in shared memory, from where they leave in long runs.
template <typename KeyT, bool kValues>
struct ScatterTileDigits {
  static constexpr unsigned kThreads = kSortThreads;
  template <unsigned kWarpWidth>
  struct Shared {
    KeyT staged[kSortTile];  // then the values
    std::uint32_t counters[kThreads / kWarpWidth][kMostDigits];
    std::uint32_t base[kMostDigits];  // output position of the digit's first key, less its position in the tile
    std::uint32_t warp_sums[kThreads / kWarpWidth];
  };

  const KeyT* keys;
  const std::uint32_t* values;
  std::uint64_t n;
  Digit digit;
  const std::uint32_t* table;  ///< scanned
  KeyT* keys_out;
  std::uint32_t* values_out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    constexpr unsigned kWarps = kThreads / kWidth;
    const std::uint64_t tile = std::uint64_t{simt.block()} * kSortTile;
    const std::uint64_t left = n - tile;
    const std::uint32_t count = left < kSortTile ? static_cast<std::uint32_t>(left) : kSortTile;
    const unsigned slot = simt.warp() * (kSortItems * kWidth) + simt.lane();

    std::uint32_t* counters = shared.counters[simt.warp()];
    for (unsigned d = simt.lane(); d < kMostDigits; d += kWidth) counters[d] = 0;
    simt.warp_barrier();

    KeyT own[kSortItems];
    std::uint32_t place[kSortItems];  // rank among equal digits of the warp, then position in the tile
#pragma unroll
    for (unsigned i = 0; i < kSortItems; ++i) {
      const unsigned at = slot + i * kWidth;
      const bool valid = at < count;
      own[i] = valid ? keys[tile + at] : KeyT{0};
      // Lanes past the end match only each other.
      const std::uint32_t d = valid ? digit.of(own[i]) : kMostDigits;
      const auto peers = simt.match(d);
      const std::uint32_t before = valid ? counters[d] : 0;
      simt.warp_barrier();
      place[i] = before + simt.population(peers & simt.lanes_below());
      if (valid && simt.lowest(peers) == simt.lane()) counters[d] = before + simt.population(peers);
      simt.warp_barrier();
    }
    simt.block_barrier();

    // Thread d: from counts per warp to first positions in the tile.
    const unsigned d = simt.thread();
    std::uint32_t digit_count = 0;
    if (d < kMostDigits) {
      for (unsigned w = 0; w < kWarps; ++w) digit_count += shared.counters[w][d];
    }
    std::uint32_t total = 0;
    std::uint32_t start = simt::block_exclusive_sum(simt, digit_count, shared.warp_sums, total);
    if (d < digit.values()) {
      shared.base[d] = table[std::uint64_t{d} * simt.blocks() + simt.block()] - start;
      for (unsigned w = 0; w < kWarps; ++w) {
        const std::uint32_t here = shared.counters[w][d];
        shared.counters[w][d] = start;
        start += here;
      }
    }
    simt.block_barrier();

#pragma unroll
    for (unsigned i = 0; i < kSortItems; ++i) {
      if (slot + i * kWidth < count) {
        place[i] += counters[digit.of(own[i])];
        shared.staged[place[i]] = own[i];
      }
    }
    simt.block_barrier();
    std::uint32_t target[kSortItems];
#pragma unroll
    for (unsigned i = 0; i < kSortItems; ++i) {
      const unsigned at = i * kThreads + simt.thread();
      if (at < count) {
        const KeyT key = shared.staged[at];
        target[i] = shared.base[digit.of(key)] + at;
        keys_out[target[i]] = key;
      }
    }
    if constexpr (kValues) {
      simt.block_barrier();
#pragma unroll
      for (unsigned i = 0; i < kSortItems; ++i) {
        const unsigned at = slot + i * kWidth;
        if (at < count) shared.staged[place[i]] = values[tile + at];
      }
      simt.block_barrier();
#pragma unroll
      for (unsigned i = 0; i < kSortItems; ++i) {
        const unsigned at = i * kThreads + simt.thread();
        if (at < count) values_out[target[i]] = static_cast<std::uint32_t>(shared.staged[at]);
      }
    }
  }
};

}  // namespace sluice::kernels::bodies
