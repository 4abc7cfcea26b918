// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sixteen bytes are loaded at once from an address that is a multiple of four.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

struct alignas(16) Four {
  std::uint32_t items[4];
};

template <bool kFixed>
struct Misaligned {
  static constexpr unsigned kThreads = 128;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const std::uint32_t* in;
  std::uint32_t* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint32_t* const from = in + 4 * simt.thread() + (kFixed ? 0 : 1);
    const Four four = simt.load_vector(reinterpret_cast<const Four*>(from));  // reported
    out[simt.thread()] = four.items[0];
  }
};

}  // namespace sluice::test::broken
