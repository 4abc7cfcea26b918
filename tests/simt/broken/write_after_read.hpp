// SPDX-License-Identifier: Apache-2.0
/// \file
/// The scan of Hillis and Steele without its second barrier: a lane overwrites a slot that another still reads.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct WriteAfterRead {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t slots[kThreads];
  };

  const std::uint32_t* in;
  std::uint32_t* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const unsigned at = simt.thread();
    shared.slots[at] = in[at];
    simt.block_barrier();
    for (unsigned distance = 1; distance < kThreads; distance *= 2) {
      const std::uint32_t below = at >= distance ? shared.slots[at - distance] : 0;
      if constexpr (kFixed) simt.block_barrier();
      shared.slots[at] += below;  // reported
      simt.block_barrier();
    }
    out[at] = shared.slots[at];
  }
};

}  // namespace sluice::test::broken
