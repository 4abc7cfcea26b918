// SPDX-License-Identifier: Apache-2.0
/// \file
/// Scans of warps in registers, then of the sums of warps.
///
/// The lanes of a warp run together and read each other's registers, so the steps of `hillis-steele` need neither
/// barrier nor shared memory there; of a block of b items and w lanes a warp, b / w sums go through shared memory
/// behind one barrier, and every thread adds up those before its own. b log2(w) additions, of which shuffles hide the
/// most. What is left is a single item for each thread and the second visit of `block_sums.cuh`: `lookback` does
/// without both.
///
/// S. Sengupta, M. Harris, M. Garland, "Efficient Parallel Scan Algorithms for GPUs", NVIDIA NVR-2008-003.
#pragma once

#include <cstdint>

#include "kernels/simt/words.hpp"

namespace sluice::kernels::family::scan {

/// `value` of the lanes up to this one.
template <typename ContextT, typename T, typename OpT>
SLUICE_SIMT T warp_inclusive_scan(ContextT& simt, T value, OpT op) {
  for (unsigned distance = 1; distance < ContextT::kWarpWidth; distance *= 2) {
    const T below = simt.shuffle_up(value, distance);
    if (simt.lane() >= distance) value = op(below, value);
  }
  return value;
}

/// What a thread learns of its block.
template <typename T>
struct BlockScan {
  T before;  ///< `value` of the threads before this one
  T total;   ///< of all
};

/// \param warp_sums  shared, one for each warp; not free again before the next barrier
template <unsigned kWarps, typename ContextT, typename T, typename OpT>
SLUICE_SIMT BlockScan<T> block_exclusive_scan(ContextT& simt, T value, OpT op, T (&warp_sums)[kWarps]) {
  const T inclusive = warp_inclusive_scan(simt, value, op);
  const T below = simt.shuffle_up(inclusive, 1);
  if (simt.lane() == ContextT::kWarpWidth - 1) warp_sums[simt.warp()] = inclusive;
  simt.block_barrier();
  BlockScan<T> out{OpT::template identity<T>(), OpT::template identity<T>()};
  for (unsigned w = 0; w < kWarps; ++w) {
    if (w == simt.warp()) out.before = out.total;
    out.total = op(out.total, warp_sums[w]);
  }
  if (simt.lane() != 0) out.before = op(out.before, below);
  return out;
}

template <typename T, typename OpT>
struct WarpShuffle {
  static constexpr unsigned kThreads = 256;
  static constexpr std::uint32_t kTile = kThreads;
  template <unsigned kWarpWidth>
  struct Shared {
    T warp_sums[kThreads / kWarpWidth];
  };

  const T* in;
  std::uint64_t n;
  bool inclusive;
  T* out;
  T* sums;  ///< of blocks; may be null

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const std::uint64_t at = std::uint64_t{simt.block()} * kTile + simt.thread();
    const OpT op;
    const T item = at < n ? in[at] : OpT::template identity<T>();
    const BlockScan<T> sum = block_exclusive_scan(simt, item, op, shared.warp_sums);
    if (at < n) out[at] = inclusive ? op(sum.before, item) : sum.before;
    if (sums != nullptr && simt.thread() == 0) sums[simt.block()] = sum.total;
  }
};

}  // namespace sluice::kernels::family::scan
