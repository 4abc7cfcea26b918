// SPDX-License-Identifier: Apache-2.0
/// \file
/// An address far from all that there is, as an index makes that nobody has set.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct FarAway {
  static constexpr unsigned kThreads = 128;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const std::uint32_t* in;
  std::uint64_t index;
  std::uint32_t* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    out[simt.thread()] = in[kFixed ? simt.thread() : index];  // reported
  }
};

}  // namespace sluice::test::broken
