// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lanes of several blocks count in one word, of which one adds without an atomic.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct PlainCounter {
  static constexpr unsigned kThreads = 128;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  std::uint32_t* count;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    if (kFixed || simt.thread() != 0) {
      simt.template atomic_add<simt::Order::kRelaxed>(count, 1U);
    } else {
      *count += 1;  // reported
    }
  }
};

}  // namespace sluice::test::broken
