// SPDX-License-Identifier: Apache-2.0
/// \file
/// A shuffle that the odd lanes of a warp do not come to.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct PartialWarp {
  static constexpr unsigned kThreads = 128;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  std::uint32_t* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    std::uint32_t value = simt.thread();
    if constexpr (kFixed) value = simt.shuffle(value, 0);
    if (!kFixed && simt.lane() % 2 == 0) {
      value = simt.shuffle(value, 0);  // reported
    }
    out[simt.thread()] = value;
  }
};

}  // namespace sluice::test::broken
