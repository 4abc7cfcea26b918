// SPDX-License-Identifier: Apache-2.0
/// \file
/// A counter in memory of the host, for an atomic.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct HostCounter {
  static constexpr unsigned kThreads = 128;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  std::uint32_t* host;
  std::uint32_t* count;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    simt.template atomic_add<simt::Order::kRelaxed>(kFixed ? count : host, 1U);  // reported
  }
};

}  // namespace sluice::test::broken
