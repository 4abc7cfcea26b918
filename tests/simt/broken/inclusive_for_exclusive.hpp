// SPDX-License-Identifier: Apache-2.0
/// \file
/// A scan that counts each item among those before it.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct InclusiveForExclusive {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t warp_sums[kThreads / kWarpWidth];
  };

  const std::uint32_t* in;
  const std::uint32_t* block_offsets;
  std::uint32_t* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const unsigned at = simt.block() * kThreads + simt.thread();
    const std::uint32_t value = in[at];
    std::uint32_t all = 0;
    const std::uint32_t before = simt::block_exclusive_sum(simt, value, shared.warp_sums, all);
    out[at] = block_offsets[simt.block()] + before + (kFixed ? 0 : value);  // reported
  }
};

}  // namespace sluice::test::broken
