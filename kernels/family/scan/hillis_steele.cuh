// SPDX-License-Identifier: Apache-2.0
/// \file
/// Every item adds the one 1, 2, 4, ... places before it, in shared memory.
///
/// log2(b) steps on b items of a block, b log2(b) additions where b - 1 are needed, and two barriers a step: one so
/// that all have read before anybody writes, one so that all have written before anybody reads again. The next variant
/// saves one of them by a second buffer, `blelloch` most of the additions.
///
/// W. D. Hillis, G. L. Steele, "Data Parallel Algorithms", Communications of the ACM 29 (12), 1986.
#pragma once

#include <cstdint>

#include "kernels/simt/words.hpp"

namespace sluice::kernels::family::scan {

template <typename T, typename OpT>
struct HillisSteele {
  static constexpr unsigned kThreads = 256;
  static constexpr std::uint32_t kTile = kThreads;
  template <unsigned kWarpWidth>
  struct Shared {
    T items[kThreads];
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
    shared.items[thread] = sum;
    simt.block_barrier();
    for (unsigned distance = 1; distance < kThreads; distance *= 2) {
      if (thread >= distance) sum = op(shared.items[thread - distance], sum);
      simt.block_barrier();
      shared.items[thread] = sum;
      simt.block_barrier();
    }
    if (at < n) {
      const T before = thread == 0 ? OpT::template identity<T>() : shared.items[thread - 1];
      out[at] = inclusive ? sum : before;
    }
    if (sums != nullptr && thread == kThreads - 1) sums[simt.block()] = sum;
  }
};

}  // namespace sluice::kernels::family::scan
