// SPDX-License-Identifier: Apache-2.0
/// \file
/// A block barrier in a loop whose number of rounds is another for each lane.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct BarrierInLoop {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t sum;
  };

  std::uint32_t* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    if (simt.thread() == 0) shared.sum = 0;
    simt.block_barrier();
    const unsigned rounds = kFixed ? 4 : 1 + simt.thread() % 4;
    for (unsigned i = 0; i < rounds; ++i) {
      simt.template atomic_add<simt::Order::kRelaxed>(&shared.sum, 1U);
      simt.block_barrier();  // reported
    }
    out[simt.thread()] = simt.template atomic_load<simt::Order::kRelaxed>(&shared.sum);
  }
};

}  // namespace sluice::test::broken
