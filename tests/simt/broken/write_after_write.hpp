// SPDX-License-Identifier: Apache-2.0
/// \file
/// A partition that drops the offset of rejected lanes: all of them write the first place behind those kept.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct WriteAfterWrite {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t warp_sums[kThreads / kWarpWidth];
  };

  const std::uint32_t* in;
  std::uint32_t* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const std::uint32_t value = in[simt.thread()];
    const bool kept = value % 2 == 0;
    std::uint32_t all = 0;
    const std::uint32_t rank = simt::block_exclusive_sum(simt, kept ? 1U : 0U, shared.warp_sums, all);
    const std::uint32_t behind = kFixed ? simt.thread() - rank : 0;
    out[kept ? rank : all + behind] = value;  // reported
  }
};

}  // namespace sluice::test::broken
