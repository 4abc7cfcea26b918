// SPDX-License-Identifier: Apache-2.0
/// \file
/// The target of a copy is read before the copy is waited for.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct CopyNotDone {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t items[kThreads];
  };

  const std::uint32_t* in;
  std::uint32_t* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const unsigned at = simt.thread();
    simt.start_copy(&shared.items[at], in + at);
    if constexpr (kFixed) simt.copies_done();
    simt.block_barrier();
    out[at] = shared.items[kThreads - 1 - at];  // reported
    if constexpr (!kFixed) simt.copies_done();
  }
};

}  // namespace sluice::test::broken
