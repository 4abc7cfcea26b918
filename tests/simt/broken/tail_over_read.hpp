// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lanes behind the last item vote by what they read there.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct TailOverRead {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const std::uint32_t* in;
  unsigned n;
  std::uint32_t* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const unsigned at = simt.block() * kThreads + simt.thread();
    std::uint32_t value = 0;
    if (!kFixed || at < n) value = in[at];  // reported
    const unsigned odd = simt.population(simt.ballot(value % 2 != 0));
    if (at < n) out[at] = odd;
  }
};

}  // namespace sluice::test::broken
