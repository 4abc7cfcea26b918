// SPDX-License-Identifier: Apache-2.0
/// \file
/// Offsets within a block used as global ones: the first block is right, the others are short of what comes before.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct OffsetOfScan {
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
    std::uint32_t all = 0;
    const std::uint32_t before = simt::block_exclusive_sum(simt, in[at], shared.warp_sums, all);
    const std::uint32_t offset = kFixed ? block_offsets[simt.block()] : 0;
    out[at] = offset + before;  // reported
  }
};

}  // namespace sluice::test::broken
