// SPDX-License-Identifier: Apache-2.0
/// \file
/// Compaction by flags: judges and sinks for one pass over items and flags, and a partition in two looks at the flags:
/// how many each tile keeps, then (after a scan of those counts) where each goes.
#pragma once

#include <cstdint>

#include "kernels/cuda/bodies/select.hpp"
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
    const std::uint64_t at = std::uint64_t{simt.block()} * kThreads + simt.thread();
    const auto set = simt.ballot(at < n && test(flags[at]));
    if (simt.lane() == 0) store_mask<ContextT>(words, at, n, set);
  }
};

/// Judges items by their flags.
template <typename ItemT>
struct FlagJudge {
  using Record = ItemT;
  using State = SingleState;
  static constexpr bool kRewrites = false;

  const std::uint8_t* flags;
  FlagTest test;

  SLUICE_SIMT State begin(std::uint64_t /*first_row*/, std::uint64_t /*count*/) const { return {}; }
  template <typename ContextT>
  SLUICE_SIMT Verdict operator()(ContextT& /*simt*/, State& /*state*/, const ItemT& /*item*/, std::uint64_t row,
                                 bool exists) const {
    return exists && test(flags[row]) ? Verdict::kKept : Verdict::kRejected;
  }
};

/// Judges the flags themselves.
struct OwnFlagJudge {
  using Record = std::uint8_t;
  using State = SingleState;
  static constexpr bool kRewrites = false;

  FlagTest test;

  SLUICE_SIMT State begin(std::uint64_t /*first_row*/, std::uint64_t /*count*/) const { return {}; }
  template <typename ContextT>
  SLUICE_SIMT Verdict operator()(ContextT& /*simt*/, State& /*state*/, std::uint8_t flag, std::uint64_t /*row*/,
                                 bool exists) const {
    return exists && test(flag) ? Verdict::kKept : Verdict::kRejected;
  }
};

/// What sinks that only want those kept have in common.
struct KeptSink {
  static constexpr Rejected kRejected = Rejected::kNothing;
  struct Shared {};

  std::uint64_t* count;

  template <unsigned kThreads, typename ContextT>
  SLUICE_SIMT void begin(ContextT& /*simt*/, Shared& /*shared*/) const {}
  template <unsigned kThreads, typename ContextT>
  SLUICE_SIMT void loading(ContextT& /*simt*/) const {}
  template <typename ContextT, typename RecordT>
  SLUICE_SIMT void judged(ContextT& /*simt*/, Shared& /*shared*/, const RecordT& /*record*/, std::uint64_t /*row*/,
                          Verdict /*verdict*/) const {}
  template <typename ContextT>
  SLUICE_SIMT void masks(ContextT& /*simt*/, std::uint64_t /*first_row*/, std::uint64_t /*count*/, unsigned /*rounds*/,
                         typename ContextT::Mask /*kept*/) const {}
  template <unsigned kThreads, typename ContextT>
  SLUICE_SIMT void end(ContextT& /*simt*/, Shared& /*shared*/) const {}
  SLUICE_SIMT void totals(std::uint64_t kept, std::uint64_t /*rejected*/, std::uint64_t /*count*/) const {
    *count = kept;
  }
};

/// Writes the items.
template <typename ItemT>
struct ItemSink : KeptSink {
  ItemT* out;

  template <typename ContextT>
  SLUICE_SIMT void kept(ContextT& simt, std::uint64_t at, const ItemT& item, std::uint64_t /*row*/) const {
    simt.store_streaming(out + at, item);
  }
};

/// Writes the numbers of the items.
struct IndexSink : KeptSink {
  std::uint32_t* out;

  template <typename ContextT, typename RecordT>
  SLUICE_SIMT void kept(ContextT& /*simt*/, std::uint64_t at, const RecordT& /*record*/, std::uint64_t row) const {
    out[at] = static_cast<std::uint32_t>(row);
  }
};

/// Writes every item whose flag is set to its place, and the others behind them; one block a tile.
template <typename ItemT>
struct PartitionFlagged {
  static constexpr unsigned kThreads = kCompactThreads;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t warp_counts[kThreads / kWarpWidth];
  };

  const ItemT* items;
  const std::uint8_t* flags;
  std::uint64_t n;
  FlagTest test;
  const std::uint64_t* offsets;  ///< set flags before each tile
  const std::uint64_t* total;    ///< set flags of all tiles
  ItemT* out;

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
    const std::uint64_t all = *total;
    for (unsigned i = 0; i < kCompactRounds; ++i) {
      const std::uint64_t at = first + std::uint64_t{i} * kWidth;
      const std::uint64_t rank = before + simt.population(masks[i] & simt.lanes_below());
      if (((masks[i] >> simt.lane()) & 1) != 0) {
        out[rank] = simt.load_vector(items + at);
      } else if (at < n) {
        out[all + (at - rank)] = simt.load_vector(items + at);
      }
      before += simt.population(masks[i]);
    }
  }
};

}  // namespace sluice::kernels::bodies
