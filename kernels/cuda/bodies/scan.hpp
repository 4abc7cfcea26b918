// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reduce-then-scan: the sum of every tile, an exclusive scan of those sums, then every tile again with its offset.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::kernels::bodies {

inline constexpr unsigned kScanThreads = 256;
inline constexpr unsigned kScanItems = 16;  ///< per thread
inline constexpr unsigned kScanTile = kScanThreads * kScanItems;

/// sums[t] = sum of tile t; one block a tile.
template <typename InT>
struct SumTiles {
  static constexpr unsigned kThreads = kScanThreads;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint64_t warp_sums[kThreads / kWarpWidth];
  };

  const InT* in;
  std::uint64_t n;
  std::uint64_t* sums;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const std::uint64_t first = std::uint64_t{simt.block()} * kScanTile + simt.thread();
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < kScanItems; ++i) {
      const std::uint64_t at = first + std::uint64_t{i} * kThreads;
      if (at < n) sum += in[at];
    }
    sum = simt::block_reduce(simt, sum, shared.warp_sums, simt::Plus{});
    if (simt.thread() == 0) sums[simt.block()] = sum;
  }
};

/// Exclusive sums within every tile plus the tile's offset; one block a tile. May run in place.
template <typename InT, typename OutT>
struct ScanTiles {
  static constexpr unsigned kThreads = kScanThreads;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint64_t items[kScanTile + kScanTile / 16];
    std::uint64_t warp_sums[kThreads / kWarpWidth];
  };

  const InT* in;
  std::uint64_t n;
  const std::uint64_t* offsets;  ///< per tile; null: all zero
  OutT* out;
  std::uint64_t* total;  ///< of everything; may be null

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const std::uint64_t first = std::uint64_t{simt.block()} * kScanTile;
    for (unsigned i = 0; i < kScanItems; ++i) {
      const unsigned slot = i * kThreads + simt.thread();
      shared.items[padded(slot)] = first + slot < n ? std::uint64_t{in[first + slot]} : 0;
    }
    simt.block_barrier();
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < kScanItems; ++i) sum += shared.items[padded(simt.thread() * kScanItems + i)];
    std::uint64_t tile_total = 0;
    std::uint64_t before = simt::block_exclusive_sum(simt, sum, shared.warp_sums, tile_total);
    const std::uint64_t offset = offsets == nullptr ? 0 : offsets[simt.block()];
    before += offset;
    for (unsigned i = 0; i < kScanItems; ++i) {
      std::uint64_t& item = shared.items[padded(simt.thread() * kScanItems + i)];
      const std::uint64_t value = item;
      item = before;
      before += value;
    }
    simt.block_barrier();
    for (unsigned i = 0; i < kScanItems; ++i) {
      const unsigned slot = i * kThreads + simt.thread();
      if (first + slot < n) out[first + slot] = static_cast<OutT>(shared.items[padded(slot)]);
    }
    if (total != nullptr && simt.thread() == 0 && simt.block() + 1 == simt.blocks()) *total = offset + tile_total;
  }

 private:
  // One word is left free after every 16, so that threads which each walk their own 16 do not meet in one bank.
  SLUICE_SIMT static unsigned padded(unsigned slot) { return slot + slot / 16; }
};

}  // namespace sluice::kernels::bodies
