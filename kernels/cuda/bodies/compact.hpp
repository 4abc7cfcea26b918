// SPDX-License-Identifier: Apache-2.0
/// \file
/// Compaction in two looks at the flags: how many each tile keeps, then (after a scan of those counts) where each goes.
#pragma once

#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"
#include "sluice/core/hd.hpp"

namespace sluice::kernels::bodies {

inline constexpr unsigned kCompactThreads = 256;
inline constexpr unsigned kCompactRounds = 16;  ///< flags per thread
inline constexpr unsigned kCompactTile = kCompactThreads * kCompactRounds;

/// Which flag bytes count as set.
struct FlagTest {
  std::uint8_t value = 0;
  bool equal = false;  ///< true: those equal to `value`; false: all others

  SLUICE_HD static FlagTest not_zero() { return FlagTest{0, false}; }
  SLUICE_HD static FlagTest equals(std::uint8_t value) { return FlagTest{value, true}; }
  SLUICE_HD bool operator()(std::uint8_t flag) const { return (flag == value) == equal; }
};

/// Items as compaction moves them.
struct alignas(16) Item16 {
  std::uint64_t parts[2];
};
struct alignas(16) Item32 {
  std::uint64_t parts[4];
};

/// counts[t] = set flags of tile t; one block a tile.
struct CountFlags {
  static constexpr unsigned kThreads = kCompactThreads;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t warp_sums[kThreads / kWarpWidth];
  };

  const std::uint8_t* flags;
  std::uint64_t n;
  FlagTest test;
  std::uint32_t* counts;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const std::uint64_t first = std::uint64_t{simt.block()} * kCompactTile + simt.thread();
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < kCompactRounds; ++i) {
      const std::uint64_t at = first + std::uint64_t{i} * kThreads;
      if (at < n && test(flags[at])) ++sum;
    }
    sum = simt::block_reduce(simt, sum, shared.warp_sums, simt::Plus{});
    if (simt.thread() == 0) counts[simt.block()] = sum;
  }
};

/// Bit i % 32 of words[i / 32] tells whether flag i is set; the bits after the last flag are zero.
struct PackFlags {
  static constexpr unsigned kThreads = kCompactThreads;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const std::uint8_t* flags;
  std::uint64_t n;
  FlagTest test;
  std::uint32_t* words;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    static_assert(ContextT::kWarpWidth % 32 == 0);
    const std::uint64_t at = std::uint64_t{simt.block()} * kThreads + simt.thread();
    const auto set = simt.ballot(at < n && test(flags[at]));
    if (at < n && simt.lane() % 32 == 0) words[at / 32] = static_cast<std::uint32_t>(set >> simt.lane());
  }
};

/// Takes items from memory.
template <typename ItemT>
struct ItemsOf {
  using Item = ItemT;
  const ItemT* items;
  template <typename ContextT>
  SLUICE_SIMT ItemT at(ContextT& simt, std::uint64_t index) const {
    return simt.load_vector(items + index);
  }
};

/// The items are their own numbers.
struct IndexItems {
  using Item = std::uint32_t;
  template <typename ContextT>
  SLUICE_SIMT std::uint32_t at(ContextT& /*simt*/, std::uint64_t index) const {
    return static_cast<std::uint32_t>(index);
  }
};

/// Writes every item whose flag is set to its place, and with `kPartition` the others behind them; one block a tile.
template <typename SourceT, bool kPartition>
struct ScatterFlagged {
  static constexpr unsigned kThreads = kCompactThreads;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t warp_counts[kThreads / kWarpWidth];
  };

  SourceT source;
  const std::uint8_t* flags;
  std::uint64_t n;
  FlagTest test;
  const std::uint64_t* offsets;  ///< set flags before each tile
  const std::uint64_t* total;    ///< set flags of all tiles; read by a partition
  typename SourceT::Item* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    // A warp takes consecutive flags, so that ranks follow from its own masks and one count per warp.
    const std::uint64_t first =
        std::uint64_t{simt.block()} * kCompactTile + simt.warp() * (kCompactRounds * kWidth) + simt.lane();
    typename ContextT::Mask masks[kCompactRounds];
    std::uint32_t kept = 0;
    for (unsigned i = 0; i < kCompactRounds; ++i) {
      const std::uint64_t at = first + std::uint64_t{i} * kWidth;
      masks[i] = simt.ballot(at < n && test(flags[at]));
      kept += simt.population(masks[i]);
    }
    if (simt.lane() == 0) shared.warp_counts[simt.warp()] = kept;
    simt.block_barrier();
    std::uint64_t before = offsets[simt.block()];
    for (unsigned w = 0; w < simt.warp(); ++w) before += shared.warp_counts[w];
    const std::uint64_t all = kPartition ? *total : 0;
    for (unsigned i = 0; i < kCompactRounds; ++i) {
      const std::uint64_t at = first + std::uint64_t{i} * kWidth;
      const std::uint64_t rank = before + simt.population(masks[i] & simt.lanes_below());
      if (((masks[i] >> simt.lane()) & 1) != 0) {
        out[rank] = source.at(simt, at);
      } else if (kPartition && at < n) {
        out[all + (at - rank)] = source.at(simt, at);
      }
      before += simt.population(masks[i]);
    }
  }
};

}  // namespace sluice::kernels::bodies
