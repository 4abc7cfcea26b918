// SPDX-License-Identifier: Apache-2.0
/// \file
/// A kernel is given memory of the host.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct HostMemory {
  static constexpr unsigned kThreads = 128;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const std::uint32_t* host;
  const std::uint32_t* in;
  std::uint32_t* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    out[simt.thread()] = (kFixed ? in : host)[simt.thread()];  // reported
  }
};

}  // namespace sluice::test::broken
