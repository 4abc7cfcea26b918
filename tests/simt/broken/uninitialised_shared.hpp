// SPDX-License-Identifier: Apache-2.0
/// \file
/// The slots of lanes behind the last item are never set, but read.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct UninitialisedShared {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t slots[kThreads];
  };

  const std::uint32_t* in;
  unsigned n;
  std::uint32_t* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const unsigned at = simt.thread();
    if (at < n) {
      shared.slots[at] = in[at];
    } else if (kFixed) {
      shared.slots[at] = 0;
    }
    simt.block_barrier();
    out[at] = shared.slots[kThreads - 1 - at];  // reported
  }
};

}  // namespace sluice::test::broken
