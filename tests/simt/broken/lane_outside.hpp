// SPDX-License-Identifier: Apache-2.0
/// \file
/// A shuffle that asks for the lane behind the last one.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct LaneOutside {
  static constexpr unsigned kThreads = 128;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  std::uint32_t* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const unsigned next = simt.lane() + 1;
    out[simt.thread()] = simt.shuffle(simt.thread(), kFixed ? next % ContextT::kWarpWidth : next);  // reported
  }
};

}  // namespace sluice::test::broken
