// SPDX-License-Identifier: Apache-2.0
/// \file
/// What binning adds to the passes of select and sort: who is kept for which key, and the table of cells.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/cuda/bodies/compact.hpp"
#include "kernels/cuda/bodies/count_digits.hpp"
#include "kernels/cuda/bodies/fast_cells.hpp"
#include "kernels/cuda/bodies/judges.hpp"
#include "kernels/cuda/bodies/radix_items.hpp"
#include "kernels/cuda/bodies/select.hpp"
#include "kernels/simt/words.hpp"
#include "sluice/core/cell_grid.hpp"
#include "sluice/core/cell_key.hpp"
#include "sluice/kernels/operations.hpp"

namespace sluice::kernels::bodies {

/// Counts points that are kept but have no cell in the range; they are judged as if they were not finite.
template <typename ContextT>
SLUICE_SIMT Verdict leave_out(ContextT& simt, BinCounts* counts) {
  simt.template atomic_add<simt::Order::kRelaxed>(&counts->outside, std::uint64_t{1});
  return Verdict::kNonFinite;
}

/// Keeps what another judge keeps, where its cell is in a range.
///
/// \tparam kSure  all that the other keeps is in the range
template <typename InnerT, bool kSure>
struct InRangeJudge {
  static constexpr bool kRewrites = false;
  using State = SingleState;

  InnerT inner;
  FastCells cells;
  BinCounts* counts;

  SLUICE_SIMT State begin(std::uint64_t /*first_row*/, std::uint64_t /*count*/) const { return {}; }
  template <typename ContextT, typename PointT>
  SLUICE_SIMT Verdict operator()(ContextT& simt, State& state, const PointT& point, std::uint64_t row,
                                 bool exists) const {
    const Verdict verdict = inner(simt, state, point, row, exists);
    if (!kSure && verdict == Verdict::kKept && !cells.holds(point)) return leave_out(simt, counts);
    return verdict;
  }
};

/// The same for any grid, kind of coordinates and order; puts the key in the place of x and y.
template <typename InnerT>
struct KeyJudge {
  static constexpr bool kRewrites = true;
  using State = SingleState;

  InnerT inner;
  CellGrid grid;
  KeyLayout layout;
  BinCounts* counts;

  SLUICE_SIMT State begin(std::uint64_t /*first_row*/, std::uint64_t /*count*/) const { return {}; }
  template <typename ContextT, typename PointT>
  SLUICE_SIMT Verdict operator()(ContextT& simt, State& state, PointT& point, std::uint64_t row, bool exists) const {
    const Verdict verdict = inner(simt, state, point, row, exists);
    if (verdict != Verdict::kKept) return verdict;
    std::int64_t cell[3];
    bool inside = cell_of(grid, position_of(point, grid.kind), cell);
    for (int d = 0; d < 3 && inside; ++d) {
      inside = static_cast<std::uint64_t>(cell[d]) - static_cast<std::uint64_t>(layout.min[d]) < layout.extent[d];
    }
    if (!inside) return leave_out(simt, counts);
    const std::uint64_t key = key_of(layout, cell);
    memcpy(&point, &key, sizeof key);
    return verdict;
  }
};

/// Key that a `KeyJudge` has left.
template <typename RecordT>
SLUICE_SIMT std::uint64_t key_in(const RecordT& record) {
  std::uint64_t key;
  memcpy(&key, &record, sizeof key);
  return key;
}

/// What the sinks of binning have in common: digits are counted (all of keys that travel, the first of points), the
/// states of the first pass cleared.
///
/// \tparam kWanted  kCount; or kNothing, where points that are not kept are rejected or outside
/// \tparam BlockCountsT  a `BlockDigitCounts`
template <Rejected kWanted, typename BlockCountsT>
struct BinSink {
  static constexpr Rejected kRejected = kWanted;
  struct Shared {
    BlockCountsT block;
  };

  DigitPlan plan;             ///< of the passes whose digits are counted here
  DigitCounts* digit_counts;  ///< zero before
  bool wide;                  ///< they have a word for each digit
  BinCounts* counts;          ///< zero before; `cells` is left to the last pass
  std::uint32_t* next_words;
  std::uint64_t next_word_count;
  std::uint32_t* dense;  ///< table of where cells start, made empty; may be null
  std::uint64_t dense_count;

  template <unsigned kThreads, typename ContextT>
  SLUICE_SIMT void begin(ContextT& simt, Shared& shared) const {
    shared.block.clear(simt, kThreads, plan.passes);
  }
  template <unsigned kThreads, typename ContextT>
  SLUICE_SIMT void loading(ContextT& simt) const {
    fill_share(simt, kThreads, next_words, next_word_count, std::uint32_t{0});
    fill_share(simt, kThreads, dense, dense_count, kNoPoint);
  }
  template <typename ContextT>
  SLUICE_SIMT void masks(ContextT& /*simt*/, std::uint64_t /*first_row*/, std::uint64_t /*count*/, unsigned /*rounds*/,
                         typename ContextT::Mask /*kept*/) const {}
  template <unsigned kThreads, typename ContextT>
  SLUICE_SIMT void end(ContextT& simt, Shared& shared) const {
    simt.block_barrier();
    if (wide) {
      shared.block.template flush<std::uint64_t>(simt, kThreads, plan.passes, digit_counts);
    } else {
      shared.block.template flush<std::uint32_t>(simt, kThreads, plan.passes, digit_counts);
    }
  }
  /// The others follow when all tiles have told who is outside.
  SLUICE_SIMT void totals(std::uint64_t kept, std::uint64_t rejected, std::uint64_t /*count*/) const {
    counts->counts.kept = kept;
    if (kRejected != Rejected::kNothing) counts->counts.rejected = rejected;
  }
};

/// Writes points; a pass over them computes their keys again, and counts the digits of the next pass.
template <Rejected kWanted>
struct PointSink : BinSink<kWanted, BlockDigitCounts<1, kMostDigits>> {
  using Shared = typename PointSink::BinSink::Shared;

  FastCells cells;
  Record16* out;
  bool numbered;  ///< `w` becomes the number of the point; always so where points are bare

  template <typename ContextT, typename PointT>
  SLUICE_SIMT void judged(ContextT& simt, Shared& shared, const PointT& point, std::uint64_t /*row*/,
                          Verdict verdict) const {
    if (verdict == Verdict::kKept) shared.block.add(simt, this->plan, cells.key(point));
  }
  template <typename ContextT, typename PointT>
  SLUICE_SIMT void kept(ContextT& simt, std::uint64_t at, const PointT& point, std::uint64_t row) const {
    Record16 written{point.x, point.y, point.z, 0};
    if constexpr (std::is_same_v<PointT, Record16>) written.w = point.w;
    if (numbered) written.w = static_cast<std::uint32_t>(row);
    simt.store_streaming(out + at, written);
  }
};

/// Writes keys with the numbers of their points.
template <typename KeyT>
struct KeySink : BinSink<Rejected::kCount, BlockDigitCounts<sizeof(KeyT), kMostKeyDigits>> {
  using Shared = typename KeySink::BinSink::Shared;

  KeyT* keys;
  std::uint32_t* indices;

  template <typename ContextT, typename RecordT>
  SLUICE_SIMT void judged(ContextT& simt, Shared& shared, const RecordT& record, std::uint64_t /*row*/,
                          Verdict verdict) const {
    if (verdict == Verdict::kKept) shared.block.add(simt, this->plan, static_cast<KeyT>(key_in(record)));
  }
  template <typename ContextT, typename RecordT>
  SLUICE_SIMT void kept(ContextT& /*simt*/, std::uint64_t at, const RecordT& record, std::uint64_t row) const {
    keys[at] = static_cast<KeyT>(key_in(record));
    indices[at] = static_cast<std::uint32_t>(row);
  }
};

/// Keeps the first one of each run of equal keys.
template <typename KeyT>
struct KeyRunJudge {
  using Record = KeyT;
  static constexpr bool kRewrites = false;
  struct State {
    KeyT before;  ///< the key before the row of a warp's lanes
  };

  const KeyT* keys;

  SLUICE_SIMT State begin(std::uint64_t first_row, std::uint64_t count) const {
    return {first_row == 0 || first_row >= count ? KeyT{0} : keys[first_row - 1]};
  }
  template <typename ContextT>
  SLUICE_SIMT Verdict operator()(ContextT& simt, State& state, KeyT key, std::uint64_t row, bool exists) const {
    KeyT before = simt.shuffle_up(key, 1);
    if (simt.lane() == 0) before = state.before;
    state.before = simt.shuffle(key, ContextT::kWarpWidth - 1);
    if (!exists) return Verdict::kNonFinite;
    return row == 0 || before != key ? Verdict::kKept : Verdict::kRejected;
  }
};

/// Keeps the occupied cells of a dense table, which holds where the points of each cell start.
struct DenseJudge {
  using Record = std::uint32_t;
  using State = SingleState;
  static constexpr bool kRewrites = false;

  SLUICE_SIMT State begin(std::uint64_t /*first_row*/, std::uint64_t /*count*/) const { return {}; }
  template <typename ContextT>
  SLUICE_SIMT Verdict operator()(ContextT& /*simt*/, State& /*state*/, std::uint32_t first, std::uint64_t /*row*/,
                                 bool exists) const {
    return exists && first != kNoPoint ? Verdict::kKept : Verdict::kRejected;
  }
};

/// What the sinks of the last pass of a binning have in common: the counts are completed and handed out.
struct LastSink : KeptSink {
  const BinCounts* known;  ///< as the sinks of the judging pass have left them
  BinCounts* counts;
  std::uint64_t points;  ///< of the input
  bool knows_rejected;   ///< else points that are neither kept nor outside are rejected
  std::uint64_t* cell_keys;
  std::uint32_t* cell_first;

  template <unsigned kThreads, typename ContextT>
  SLUICE_SIMT void begin(ContextT& simt, Shared& /*shared*/) const {
    if (simt.block() != 0 || simt.thread() != 0) return;
    const SelectCounts& of_judging = known->counts;
    const std::uint64_t others = points - of_judging.kept - known->outside;
    counts->outside = known->outside;
    counts->counts.kept = of_judging.kept;
    counts->counts.rejected = knows_rejected ? of_judging.rejected : others;
    counts->counts.nonfinite = knows_rejected ? others - of_judging.rejected : 0;
  }
  SLUICE_SIMT void put(std::uint64_t at, std::uint64_t key, std::uint64_t first) const {
    if (cell_keys != nullptr) cell_keys[at] = key;
    if (cell_first != nullptr) cell_first[at] = static_cast<std::uint32_t>(first);
  }
};

/// Writes the table of cells from the first keys of runs.
struct TableSink : LastSink {
  template <unsigned kThreads, typename ContextT>
  SLUICE_SIMT void begin(ContextT& simt, Shared& shared) const {
    LastSink::template begin<kThreads>(simt, shared);
    // Without an item there is no tile that tells the number of cells.
    if (simt.block() == 0 && simt.thread() == 0 && known->counts.kept == 0) counts->cells = 0;
  }
  template <typename ContextT, typename KeyT>
  SLUICE_SIMT void kept(ContextT& /*simt*/, std::uint64_t at, KeyT key, std::uint64_t row) const {
    put(at, key, row);
  }
};

/// The same from a dense table.
struct DenseSink : LastSink {
  template <typename ContextT>
  SLUICE_SIMT void kept(ContextT& /*simt*/, std::uint64_t at, std::uint32_t first, std::uint64_t row) const {
    put(at, row, first);
  }
};

/// out[i] = records[indices[i]]; blocks take every `blocks`th piece.
template <typename RecordT>
struct GatherRecords {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const RecordT* records;
  const std::uint32_t* indices;
  ItemCount count;
  RecordT* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t n = count.get();
    const std::uint64_t step = std::uint64_t{simt.blocks()} * kThreads;
    for (std::uint64_t i = std::uint64_t{simt.block()} * kThreads + simt.thread(); i < n; i += step) {
      simt.store_streaming(out + i, simt.load_vector(records + indices[i]));
    }
  }
};

}  // namespace sluice::kernels::bodies
