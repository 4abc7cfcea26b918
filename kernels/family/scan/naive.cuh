// SPDX-License-Identifier: Apache-2.0
/// \file
/// A thread for each item, which sums everything before it.
///
/// n (n - 1) / 2 additions where n - 1 are needed, no step that depends on another thread, no shared memory and no
/// barrier. The lanes of a warp read the same item at the same time, so it is the additions that take the time, not the
/// memory. `hillis-steele` lets threads use each other's sums.
#pragma once

#include <cstdint>

#include "kernels/simt/words.hpp"

namespace sluice::kernels::family::scan {

/// Input and output must not overlap.
template <typename T, typename OpT>
struct Naive {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const T* in;
  std::uint64_t n;
  bool inclusive;
  T* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t at = std::uint64_t{simt.block()} * kThreads + simt.thread();
    if (at >= n) return;
    const OpT op;
    T sum = OpT::template identity<T>();
    const std::uint64_t end = inclusive ? at + 1 : at;
    for (std::uint64_t i = 0; i < end; ++i) sum = op(sum, in[i]);
    out[at] = sum;
  }
};

}  // namespace sluice::kernels::family::scan
