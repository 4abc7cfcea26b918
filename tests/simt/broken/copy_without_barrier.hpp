// SPDX-License-Identifier: Apache-2.0
/// \file
/// A lane has waited for its own copy, but reads what another has copied.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct CopyWithoutBarrier {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t items[kThreads];
  };

  const std::uint32_t* in;
  std::uint32_t* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const unsigned at = simt.thread();
    simt.start_copy(&shared.items[at], in + at);
    simt.copies_done();
    if constexpr (kFixed) simt.block_barrier();
    out[at] = shared.items[kThreads - 1 - at];  // reported
  }
};

}  // namespace sluice::test::broken
