// SPDX-License-Identifier: Apache-2.0
/// \file
/// A lane reads its neighbour's slot with no barrier after the neighbour's write.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct ReadAfterWrite {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t slots[kThreads];
  };

  std::uint32_t* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    shared.slots[simt.thread()] = simt.thread();
    if constexpr (kFixed) simt.block_barrier();
    out[simt.thread()] = shared.slots[(simt.thread() + 1) % kThreads];  // reported
  }
};

}  // namespace sluice::test::broken
