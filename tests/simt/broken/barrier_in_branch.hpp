// SPDX-License-Identifier: Apache-2.0
/// \file
/// A block barrier that only half of the threads come to.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct BarrierInBranch {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t half[kThreads / 2];
  };

  std::uint32_t* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const unsigned at = simt.thread();
    if (at < kThreads / 2) {
      shared.half[at] = at;
      if constexpr (!kFixed) simt.block_barrier();  // reported
    }
    if constexpr (kFixed) simt.block_barrier();
    if (at < kThreads / 2) out[at] = shared.half[kThreads / 2 - 1 - at];
  }
};

}  // namespace sluice::test::broken
