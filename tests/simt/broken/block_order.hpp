// SPDX-License-Identifier: Apache-2.0
/// \file
/// A block waits for the one whose number is one lower, which may not have started: nothing says in which order blocks
/// start. With numbers drawn when blocks run it is right.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct BlockOrder {
  static constexpr unsigned kThreads = 128;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  std::uint32_t* ticket;
  std::uint32_t* flags;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    if (simt.thread() != 0) return;
    std::uint32_t tile = simt.block();
    if constexpr (kFixed) tile = simt.template atomic_add<simt::Order::kRelaxed>(ticket, 1U);
    if (tile != 0) {
      while (simt.template atomic_load<simt::Order::kRelaxed>(&flags[tile - 1]) == 0) {
        simt.pause();  // reported
      }
    }
    simt.template atomic_store<simt::Order::kRelaxed>(&flags[tile], 1U);
  }
};

}  // namespace sluice::test::broken
