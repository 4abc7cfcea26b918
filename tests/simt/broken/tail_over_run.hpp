// SPDX-License-Identifier: Apache-2.0
/// \file
/// The last tile writes beyond the last item.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct TailOverRun {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  std::uint32_t* out;
  unsigned n;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const unsigned at = simt.block() * kThreads + simt.thread();
    if (!kFixed || at < n) out[at] = at;  // reported
  }
};

}  // namespace sluice::test::broken
