// SPDX-License-Identifier: Apache-2.0
/// \file
/// Items by index.
#pragma once

#include <cstdint>

#include "kernels/simt/words.hpp"

namespace sluice::kernels::bodies {

/// out[i] = items[indices[i]] for items of `units` UnitT each; one thread for each unit, so that writes are dense
/// whatever the size of an item.
template <typename UnitT>
struct GatherUnits {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const UnitT* items;
  const std::uint32_t* indices;
  std::uint64_t n;
  std::uint32_t units;
  UnitT* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t at = std::uint64_t{simt.block()} * kThreads + simt.thread();
    if (units == 1) {
      if (at < n) out[at] = simt.load_vector(items + indices[at]);
      return;
    }
    if (at >= n * units) return;
    // Divisions of 32 bits are several times as fast as those of 64.
    const std::uint64_t item = (at >> 32) == 0 ? static_cast<std::uint32_t>(at) / units : at / units;
    const std::uint64_t unit = at - item * units;
    out[at] = simt.load_vector(items + std::uint64_t{indices[item]} * units + unit);
  }
};

}  // namespace sluice::kernels::bodies
