// SPDX-License-Identifier: Apache-2.0
/// \file
/// A balanced tree over the items of a block, in shared memory. Upsweep: every inner node becomes the sum of the items
/// below it. Downsweep: from the root, which becomes the identity, every node hands what comes before it to its left
/// child, and that with the left child's sum to its right one. What the leaves get is the exclusive scan.
///
/// 2 (b - 1) additions on b items instead of b log2(b), in 2 log2(b) steps instead of log2(b), one barrier each. Work
/// grows as that of a loop does; but the upper steps leave nearly all threads idle, and nodes lie 2, 4, 8, ... places
/// apart, so that up to 32 lanes meet in one bank of shared memory. `blelloch-padded` mends the second, `warp-shuffle`
/// both.
///
/// G. E. Blelloch, "Prefix Sums and Their Applications", CMU-CS-90-190, 1990.
#pragma once

#include <cstdint>

#include "kernels/simt/words.hpp"

namespace sluice::kernels::family::scan {

/// \tparam kPadEvery  one place of shared memory stays free after so many; 0: none does
template <typename T, typename OpT, unsigned kPadEvery>
struct BlellochTree {
  static constexpr unsigned kThreads = 256;
  static constexpr std::uint32_t kTile = 2 * kThreads;
  static constexpr unsigned place(unsigned item) { return kPadEvery == 0 ? item : item + item / kPadEvery; }
  template <unsigned kWarpWidth>
  struct Shared {
    T nodes[place(kTile)];
  };

  const T* in;
  std::uint64_t n;
  bool inclusive;
  T* out;
  T* sums;  ///< of blocks; may be null

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const unsigned thread = simt.thread();
    const std::uint64_t first = std::uint64_t{simt.block()} * kTile;
    const OpT op;
    T items[2];
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned item = i * kThreads + thread;
      items[i] = first + item < n ? in[first + item] : OpT::template identity<T>();
      shared.nodes[place(item)] = items[i];
    }
    // The node over `reach` items lies where the last of them does; thread t has the t-th of each level.
    for (unsigned reach = 2; reach <= kTile; reach *= 2) {
      simt.block_barrier();
      const unsigned last = (thread + 1) * reach - 1;
      if (last < kTile) {
        T& node = shared.nodes[place(last)];
        node = op(shared.nodes[place(last - reach / 2)], node);
      }
    }
    if (thread == 0) {
      T& root = shared.nodes[place(kTile - 1)];
      if (sums != nullptr) sums[simt.block()] = root;
      root = OpT::template identity<T>();
    }
    for (unsigned reach = kTile; reach >= 2; reach /= 2) {
      simt.block_barrier();
      const unsigned last = (thread + 1) * reach - 1;
      if (last < kTile) {
        T& left = shared.nodes[place(last - reach / 2)];
        T& right = shared.nodes[place(last)];
        const T before = right;
        right = op(before, left);
        left = before;
      }
    }
    simt.block_barrier();
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned item = i * kThreads + thread;
      const T before = shared.nodes[place(item)];
      if (first + item < n) out[first + item] = inclusive ? op(before, items[i]) : before;
    }
  }
};

template <typename T, typename OpT>
using Blelloch = BlellochTree<T, OpT, 0>;

}  // namespace sluice::kernels::family::scan
