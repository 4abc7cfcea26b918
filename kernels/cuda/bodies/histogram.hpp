// SPDX-License-Identifier: Apache-2.0
/// \file
/// How often each value of a digit occurs.
#pragma once

#include <cstdint>

#include "kernels/simt/words.hpp"

namespace sluice::kernels::bodies {

inline constexpr unsigned kHistogramThreads = 256;
inline constexpr unsigned kSharedHistogramBits = 12;  ///< most bits whose counters a block keeps to itself

/// Counts in shared memory and adds up at the end; for digits of up to kSharedHistogramBits bits. Blocks stride over
/// the keys. `counts` starts at zero.
template <typename KeyT>
struct CountDigitsShared {
  static constexpr unsigned kThreads = kHistogramThreads;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t counts[1U << kSharedHistogramBits];  // a block sees fewer than 2^32 keys
  };

  const KeyT* keys;
  std::uint64_t n;
  unsigned begin_bit;
  unsigned bits;
  std::uint64_t* counts;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const std::uint32_t values = 1U << bits;
    for (std::uint32_t d = simt.thread(); d < values; d += kThreads) shared.counts[d] = 0;
    simt.block_barrier();
    const std::uint64_t stride = std::uint64_t{simt.blocks()} * kThreads;
    for (std::uint64_t at = std::uint64_t{simt.block()} * kThreads + simt.thread(); at < n; at += stride) {
      const auto digit = static_cast<std::uint32_t>(keys[at] >> begin_bit) & (values - 1);
      simt.template atomic_add<simt::Order::kRelaxed>(&shared.counts[digit], std::uint32_t{1});
    }
    simt.block_barrier();
    for (std::uint32_t d = simt.thread(); d < values; d += kThreads) {
      const std::uint32_t count = shared.counts[d];
      if (count != 0) simt.template atomic_add<simt::Order::kRelaxed>(&counts[d], std::uint64_t{count});
    }
  }
};

/// Counts in global memory, one addition for all lanes of a warp that hold the same digit; for wider digits.
template <typename KeyT>
struct CountDigitsGlobal {
  static constexpr unsigned kThreads = kHistogramThreads;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const KeyT* keys;
  std::uint64_t n;
  unsigned begin_bit;
  unsigned bits;
  std::uint64_t* counts;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint32_t values = 1U << bits;
    const std::uint64_t stride = std::uint64_t{simt.blocks()} * kThreads;
    // Whole warps go round, because they match.
    for (std::uint64_t base = std::uint64_t{simt.block()} * kThreads; base < n; base += stride) {
      const std::uint64_t at = base + simt.thread();
      const std::uint32_t digit = at < n ? static_cast<std::uint32_t>(keys[at] >> begin_bit) & (values - 1) : values;
      const auto peers = simt.match(digit);
      if (digit < values && simt.lowest(peers) == simt.lane()) {
        simt.template atomic_add<simt::Order::kRelaxed>(&counts[digit], std::uint64_t{simt.population(peers)});
      }
    }
  }
};

}  // namespace sluice::kernels::bodies
