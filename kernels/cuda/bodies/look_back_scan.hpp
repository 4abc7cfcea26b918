// SPDX-License-Identifier: Apache-2.0
/// \file
/// Exclusive sums in one pass over the items, by look-back.
#pragma once

#include <cstdint>

#include "kernels/cuda/bodies/look_back.hpp"
#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::kernels::bodies {

/// Consecutive items that travel together.
template <typename T, unsigned kCount>
struct alignas(sizeof(T) * kCount) Pack {
  T items[kCount];
};

/// out[i] = in[0] + ... + in[i-1], as OutT holds it; the sum of everything is below 2^62. Input and output may be the
/// same memory.
///
/// \tparam kAligned  both pointers are aligned to 16 bytes
template <typename InT, typename OutT, bool kAligned, unsigned kThreadCount = 512, unsigned kRounds = 6,
          unsigned kBlocks = 2>
struct ScanItems {
  static constexpr unsigned kThreads = kThreadCount;
  static constexpr unsigned kBlocksPerProcessor = kBlocks;
  /// Consecutive items of a thread in a round: no more than one access of 16 bytes loads, and another one stores, so
  /// that what a warp writes at once has no gaps.
  static constexpr unsigned kPerThread = 16 / (sizeof(InT) > sizeof(OutT) ? sizeof(InT) : sizeof(OutT));
  static constexpr unsigned kTile = kThreads * kRounds * kPerThread;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t tile;
    std::uint64_t before;
    std::uint64_t warp_sums[kThreads / kWarpWidth];
  };

  TileStates states;
  const InT* in;
  std::uint64_t n;
  OutT* out;
  std::uint64_t* total;  ///< of everything; may be null

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    if (simt.thread() == 0) shared.tile = states.ticket.draw(simt);
    simt.block_barrier();
    const std::uint32_t tile = shared.tile;
    const std::uint64_t tile_first = std::uint64_t{tile} * kTile;
    const std::uint64_t first = tile_first + (simt.warp() * (kRounds * kWidth) + simt.lane()) * kPerThread;
    constexpr unsigned kStep = kWidth * kPerThread;
    const bool whole = kAligned && tile_first + kTile <= n;
    Pack<InT, kPerThread> packs[kRounds];
    SLUICE_UNROLL
    for (unsigned i = 0; i < kRounds; ++i) {
      const std::uint64_t at = first + i * kStep;
      if (whole) {
        packs[i] = simt.load_streaming(reinterpret_cast<const Pack<InT, kPerThread>*>(in + at));
      } else {
        SLUICE_UNROLL
        for (unsigned k = 0; k < kPerThread; ++k) packs[i].items[k] = at + k < n ? in[at + k] : InT{0};
      }
    }
    if (simt.thread() == 0) prefetch_ahead<kTile, sizeof(InT)>(simt, in, tile_first, n);
    // Sums before each pack of this thread, within the warp.
    OutT before[kRounds];
    std::uint64_t warp_sum = 0;
    SLUICE_UNROLL
    for (unsigned i = 0; i < kRounds; ++i) {
      std::uint64_t sum = 0;
      SLUICE_UNROLL
      for (unsigned k = 0; k < kPerThread; ++k) sum += packs[i].items[k];
      const std::uint64_t inclusive = simt::warp_inclusive_sum(simt, sum);
      before[i] = static_cast<OutT>(warp_sum + inclusive - sum);
      warp_sum += simt.shuffle(inclusive, kWidth - 1);
    }
    if (simt.lane() == 0) shared.warp_sums[simt.warp()] = warp_sum;
    simt.block_barrier();
    if (simt.warp() == 0) {
      const std::uint64_t sum = simt::warp_exclusive_sums(simt, shared.warp_sums);
      const std::uint64_t prefix = states.look_back(simt, tile, sum);
      if (simt.lane() == 0) {
        shared.before = prefix;
        if (total != nullptr && tile_first + kTile >= n) *total = prefix + sum;
      }
    }
    simt.block_barrier();
    const auto base = static_cast<OutT>(shared.before + shared.warp_sums[simt.warp()]);
    SLUICE_UNROLL
    for (unsigned i = 0; i < kRounds; ++i) {
      const std::uint64_t at = first + i * kStep;
      OutT sum = base + before[i];
      Pack<OutT, kPerThread> results;
      SLUICE_UNROLL
      for (unsigned k = 0; k < kPerThread; ++k) {
        results.items[k] = sum;
        if (!whole && at + k < n) out[at + k] = sum;
        sum += packs[i].items[k];
      }
      if (whole) simt.store_streaming(reinterpret_cast<Pack<OutT, kPerThread>*>(out + at), results);
    }
  }
};

}  // namespace sluice::kernels::bodies
