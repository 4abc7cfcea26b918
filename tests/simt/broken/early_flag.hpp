// SPDX-License-Identifier: Apache-2.0
/// \file
/// The flag is released before the value that it guards is written.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::test::broken {

template <bool kFixed>
struct EarlyFlag {
  static constexpr unsigned kThreads = 128;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  std::uint32_t* ticket;
  std::uint32_t* flag;
  std::uint32_t* value;
  std::uint32_t* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    if (simt.thread() != 0) return;
    if (simt.template atomic_add<simt::Order::kRelaxed>(ticket, 1U) == 0) {
      if constexpr (kFixed) *value = 7;
      simt.template atomic_store<simt::Order::kRelease>(flag, 1U);
      if constexpr (!kFixed) *value = 7;
    } else {
      while (simt.template atomic_load<simt::Order::kAcquire>(flag) == 0) simt.pause();
      out[simt.block()] = *value;  // reported
    }
  }
};

}  // namespace sluice::test::broken
