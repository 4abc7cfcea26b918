// SPDX-License-Identifier: Apache-2.0
/// \file
/// The same in a compaction: blocks write over each other.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct OffsetOfCompaction {
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
    const std::uint32_t value = in[simt.block() * kThreads + simt.thread()];
    const bool kept = value % 2 == 0;
    std::uint32_t all = 0;
    const std::uint32_t rank = simt::block_exclusive_sum(simt, kept ? 1U : 0U, shared.warp_sums, all);
    const std::uint32_t offset = kFixed ? block_offsets[simt.block()] : 0;
    if (kept) out[offset + rank] = value;  // reported
  }
};

}  // namespace sluice::test::broken
