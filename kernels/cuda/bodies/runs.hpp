// SPDX-License-Identifier: Apache-2.0
/// \file
/// Runs of equal neighbouring keys.
#pragma once

#include <cstdint>

#include "kernels/simt/words.hpp"

namespace sluice::kernels::bodies {

/// heads[i] = 1 where a run starts, else 0.
template <typename KeyT>
struct MarkHeads {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const KeyT* keys;
  std::uint64_t n;
  std::uint8_t* heads;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t at = std::uint64_t{simt.block()} * kThreads + simt.thread();
    if (at < n) heads[at] = at == 0 || keys[at] != keys[at - 1] ? 1 : 0;
  }
};

/// run_keys[r] = keys[run_first[r]], widened, for the runs that were counted. Blocks stride over the runs.
template <typename KeyT>
struct TakeRunKeys {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const KeyT* keys;
  const std::uint32_t* run_first;
  const std::uint64_t* runs;
  std::uint64_t* run_keys;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t count = *runs;
    const std::uint64_t stride = std::uint64_t{simt.blocks()} * kThreads;
    for (std::uint64_t r = std::uint64_t{simt.block()} * kThreads + simt.thread(); r < count; r += stride) {
      run_keys[r] = keys[run_first[r]];
    }
  }
};

/// sums[r] = prefix at the end of run r, less prefix at its start; exact modulo 2^64. Blocks stride over the runs.
struct DifferencePrefixes {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const std::uint64_t* prefixes;  ///< exclusive
  const std::uint64_t* total;
  const std::uint32_t* run_first;
  const std::uint64_t* runs;
  std::int64_t* sums;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t count = *runs;
    const std::uint64_t stride = std::uint64_t{simt.blocks()} * kThreads;
    for (std::uint64_t r = std::uint64_t{simt.block()} * kThreads + simt.thread(); r < count; r += stride) {
      const std::uint64_t end = r + 1 < count ? prefixes[run_first[r + 1]] : *total;
      sums[r] = static_cast<std::int64_t>(end - prefixes[run_first[r]]);
    }
  }
};

}  // namespace sluice::kernels::bodies
