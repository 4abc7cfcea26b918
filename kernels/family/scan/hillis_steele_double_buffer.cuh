// SPDX-License-Identifier: Apache-2.0
/// \file
/// The steps of `hillis-steele`, each from one buffer into another.
///
/// Nobody writes what somebody still reads, so one barrier a step is enough: log2(b) + 1 instead of 2 log2(b) + 1, for
/// twice the shared memory. The additions are as many: `blelloch` saves those.
///
/// M. Harris, S. Sengupta, J. D. Owens, "Parallel Prefix Sum (Scan) with CUDA", GPU Gems 3, chapter 39, 2007.
#pragma once

#include <cstdint>

#include "kernels/simt/words.hpp"

namespace sluice::kernels::family::scan {

template <typename T, typename OpT>
struct HillisSteeleDoubleBuffer {
  static constexpr unsigned kThreads = 256;
  static constexpr std::uint32_t kTile = kThreads;
  template <unsigned kWarpWidth>
  struct Shared {
    T items[2][kThreads];
  };

  const T* in;
  std::uint64_t n;
  bool inclusive;
  T* out;
  T* sums;  ///< of blocks; may be null

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const unsigned thread = simt.thread();
    const std::uint64_t at = std::uint64_t{simt.block()} * kTile + thread;
    const OpT op;
    T sum = at < n ? in[at] : OpT::template identity<T>();
    unsigned now = 0;
    shared.items[now][thread] = sum;
    simt.block_barrier();
    for (unsigned distance = 1; distance < kThreads; distance *= 2) {
      if (thread >= distance) sum = op(shared.items[now][thread - distance], sum);
      now = 1 - now;
      shared.items[now][thread] = sum;
      simt.block_barrier();
    }
    if (at < n) {
      const T before = thread == 0 ? OpT::template identity<T>() : shared.items[now][thread - 1];
      out[at] = inclusive ? sum : before;
    }
    if (sums != nullptr && thread == kThreads - 1) sums[simt.block()] = sum;
  }
};

}  // namespace sluice::kernels::family::scan
