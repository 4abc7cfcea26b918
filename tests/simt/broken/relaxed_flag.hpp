// SPDX-License-Identifier: Apache-2.0
/// \file
/// A block looks at the flag of the one before it and then reads what the flag guards; neither releases nor acquires.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct RelaxedFlag {
  static constexpr unsigned kThreads = 128;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t tile;
    std::uint32_t before;
  };

  std::uint32_t* ticket;
  std::uint32_t* flags;
  std::uint32_t* sums;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    constexpr simt::Order kPublish = kFixed ? simt::Order::kRelease : simt::Order::kRelaxed;
    constexpr simt::Order kLook = kFixed ? simt::Order::kAcquire : simt::Order::kRelaxed;
    if (simt.thread() == 0) {
      const std::uint32_t tile = simt.template atomic_add<simt::Order::kRelaxed>(ticket, 1U);
      shared.tile = tile;
      shared.before = 0;
      if (tile != 0) {
        while (simt.template atomic_load<kLook>(&flags[tile - 1]) == 0) simt.pause();
        shared.before = sums[tile - 1];  // reported
      }
      sums[tile] = shared.before + kThreads;
      simt.template atomic_store<kPublish>(&flags[tile], 1U);
    }
    simt.block_barrier();
  }
};

}  // namespace sluice::test::broken
