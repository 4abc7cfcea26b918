// SPDX-License-Identifier: Apache-2.0
/// \file
/// What binning adds to the passes of select and sort: who is kept for which key, and the table of cells.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/cuda/bodies/compact.hpp"
#include "kernels/cuda/bodies/count_digits.hpp"
#include "kernels/cuda/bodies/fast_cells.hpp"
#include "kernels/cuda/bodies/judges.hpp"
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
template <typename InnerT>
struct InRangeJudge {
  using Record = Record16;
  static constexpr bool kRewrites = false;

  InnerT inner;
  FastCells cells;
  BinCounts* counts;

  template <typename ContextT>
  SLUICE_SIMT Verdict operator()(ContextT& simt, const Record& record, std::uint64_t row) const {
    const Verdict verdict = inner(simt, record, row);
    if (verdict == Verdict::kKept && !cells.holds(record)) return leave_out(simt, counts);
    return verdict;
  }
};

/// The same for any grid, kind of coordinates and order; puts the key in the place of x and y.
template <typename InnerT>
struct KeyJudge {
  using Record = typename InnerT::Record;
  static constexpr bool kRewrites = true;

  InnerT inner;
  CellGrid grid;
  KeyLayout layout;
  BinCounts* counts;

  template <typename ContextT>
  SLUICE_SIMT Verdict operator()(ContextT& simt, Record& record, std::uint64_t row) const {
    const Verdict verdict = inner(simt, record, row);
    if (verdict != Verdict::kKept) return verdict;
    std::int64_t cell[3];
    bool inside = cell_of(grid, position_of(record, grid.kind), cell);
    for (int d = 0; d < 3 && inside; ++d) {
      inside = static_cast<std::uint64_t>(cell[d]) - static_cast<std::uint64_t>(layout.min[d]) < layout.extent[d];
    }
    if (!inside) return leave_out(simt, counts);
    const std::uint64_t key = key_of(layout, cell);
    memcpy(&record, &key, sizeof key);
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

/// What the sinks of binning have in common: the digits of all keys are counted, the states of the first pass cleared.
struct BinSink {
  static constexpr bool kWantsRejected = true;
  struct Shared {
    BlockDigitCounts block;
  };

  DigitPlan plan;
  DigitCounts* digit_counts;  ///< zero before
  BinCounts* counts;          ///< zero before
  std::uint64_t* kept_count;
  std::uint32_t* next_words;
  std::uint64_t next_word_count;

  template <unsigned kThreads, typename ContextT>
  SLUICE_SIMT void begin(ContextT& simt, Shared& shared) const {
    shared.block.clear(simt, kThreads, plan.passes);
    clear_share(simt, kThreads, next_words, next_word_count, simt.block(), simt.blocks());
    simt.block_barrier();
  }
  template <unsigned kRounds, typename ContextT>
  SLUICE_SIMT void masks(ContextT& /*simt*/, std::uint64_t /*first_row*/, std::uint64_t /*count*/,
                         typename ContextT::Mask /*kept*/) const {}
  template <typename ContextT>
  SLUICE_SIMT void rejected(ContextT& /*simt*/, std::uint64_t /*at*/, std::uint64_t /*row*/) const {}
  template <unsigned kThreads, typename ContextT>
  SLUICE_SIMT void end(ContextT& simt, Shared& shared) const {
    simt.block_barrier();
    shared.block.flush(simt, kThreads, plan.passes, digit_counts);
  }
  /// Those not finite follow when all tiles have told who is outside.
  SLUICE_SIMT void totals(std::uint64_t kept, std::uint64_t rejected, std::uint64_t /*count*/) const {
    *kept_count = kept;
    counts->counts.kept = kept;
    counts->counts.rejected = rejected;
  }
};

/// Writes points; a pass over them computes their keys again.
struct PointSink : BinSink {
  FastCells cells;
  Record16* out;

  template <typename ContextT>
  SLUICE_SIMT void judged(ContextT& simt, Shared& shared, const Record16& record, std::uint64_t /*row*/,
                          Verdict verdict) const {
    if (verdict == Verdict::kKept) shared.block.add(simt, plan, cells.key(record));
  }
  template <typename ContextT>
  SLUICE_SIMT void kept(ContextT& simt, std::uint64_t at, const Record16& record, std::uint64_t /*row*/) const {
    simt.store_streaming(out + at, record);
  }
};

/// Writes keys with the numbers of their points.
template <typename KeyT>
struct KeySink : BinSink {
  KeyT* keys;
  std::uint32_t* indices;

  template <typename ContextT, typename RecordT>
  SLUICE_SIMT void judged(ContextT& simt, Shared& shared, const RecordT& record, std::uint64_t /*row*/,
                          Verdict verdict) const {
    if (verdict == Verdict::kKept) shared.block.add(simt, plan, static_cast<KeyT>(key_in(record)));
  }
  template <typename ContextT, typename RecordT>
  SLUICE_SIMT void kept(ContextT& /*simt*/, std::uint64_t at, const RecordT& record, std::uint64_t row) const {
    keys[at] = static_cast<KeyT>(key_in(record));
    indices[at] = static_cast<std::uint32_t>(row);
  }
};

/// Keeps the first item of each run of equal keys.
template <typename KeyT>
struct KeyRunJudge {
  using Record = KeyT;
  static constexpr bool kRewrites = false;

  const KeyT* keys;

  template <typename ContextT>
  SLUICE_SIMT Verdict operator()(ContextT& /*simt*/, KeyT key, std::uint64_t row) const {
    return row == 0 || keys[row - 1] != key ? Verdict::kKept : Verdict::kRejected;
  }
  SLUICE_SIMT std::uint64_t key_of_record(KeyT key) const { return key; }
};

/// The same for points by the keys of their cells.
struct PointRunJudge {
  using Record = Record16;
  static constexpr bool kRewrites = false;

  const Record16* points;
  FastCells cells;

  template <typename ContextT>
  SLUICE_SIMT Verdict operator()(ContextT& simt, const Record16& point, std::uint64_t row) const {
    return row == 0 || cells.key(simt.load_vector(points + (row - 1))) != cells.key(point) ? Verdict::kKept
                                                                                            : Verdict::kRejected;
  }
  SLUICE_SIMT std::uint64_t key_of_record(const Record16& point) const { return cells.key(point); }
};

/// Writes the table of cells, and makes the counts of a binning complete.
template <typename JudgeT>
struct TableSink : KeptSink {
  JudgeT judge;
  BinCounts* counts;
  std::uint64_t points;  ///< of the input
  std::uint64_t* cell_keys;
  std::uint32_t* cell_first;

  template <unsigned kThreads, typename ContextT>
  SLUICE_SIMT void begin(ContextT& simt, Shared& /*shared*/) const {
    if (simt.block() != 0 || simt.thread() != 0) return;
    counts->counts.nonfinite = points - counts->counts.kept - counts->counts.rejected - counts->outside;
  }
  template <typename ContextT, typename RecordT>
  SLUICE_SIMT void kept(ContextT& /*simt*/, std::uint64_t at, const RecordT& record, std::uint64_t row) const {
    if (cell_keys != nullptr) cell_keys[at] = judge.key_of_record(record);
    if (cell_first != nullptr) cell_first[at] = static_cast<std::uint32_t>(row);
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
