// SPDX-License-Identifier: Apache-2.0
/// \file
/// A block's tile of items, cut so that the rank of an item among those kept follows from ballots: a warp takes
/// consecutive items, a round of its lanes after the other.
#pragma once

#include <cstdint>

#include "kernels/simt/words.hpp"

namespace sluice::kernels::family::compact {

inline constexpr unsigned kTileThreads = 256;
inline constexpr unsigned kRounds = 8;  ///< items of a thread
inline constexpr unsigned kTile = kTileThreads * kRounds;

/// Place in the tile of this thread's item of the first round; that of the next one is a warp's width further.
template <typename ContextT>
SLUICE_SIMT unsigned first_place(ContextT& simt) {
  return simt.warp() * (kRounds * ContextT::kWarpWidth) + simt.lane();
}

/// Items kept by the warps before this one. Called by the whole block.
/// \param warp_counts  shared, one for each warp; free again after the next barrier
/// \param total  receives the items kept by the block
template <unsigned kWarps, typename ContextT>
SLUICE_SIMT std::uint32_t kept_before_warp(ContextT& simt, std::uint32_t kept_by_warp,
                                           std::uint32_t (&warp_counts)[kWarps], std::uint32_t& total) {
  if (simt.lane() == 0) warp_counts[simt.warp()] = kept_by_warp;
  simt.block_barrier();
  std::uint32_t before = 0;
  total = 0;
  for (unsigned w = 0; w < kWarps; ++w) {
    if (w == simt.warp()) before = total;
    total += warp_counts[w];
  }
  return before;
}

}  // namespace sluice::kernels::family::compact
