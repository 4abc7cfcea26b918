// SPDX-License-Identifier: Apache-2.0
/// \file
/// Judging and compaction in one pass over the points.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/bodies/look_back.hpp"
#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"
#include "sluice/core/predicate.hpp"
#include "sluice/core/types.hpp"
#include "sluice/kernels/operations.hpp"

namespace sluice::kernels::bodies {

/// What a sink wants of rejected points.
enum class Rejected : std::uint8_t { kNothing, kCount, kIndices };

/// How many of some tiles were kept, and side by side with it how many were rejected, in 62 bits; rejected ones only
/// where somebody wants them: together each has 31 bits, alone those kept have 62.
template <bool kBoth>
struct SelectedCounts {
  static constexpr unsigned kBits = 31;

  SLUICE_SIMT static std::uint64_t of(std::uint32_t kept, std::uint32_t rejected) {
    return kBoth ? std::uint64_t{rejected} << kBits | kept : kept;
  }
  SLUICE_SIMT static std::uint64_t kept(std::uint64_t word) {
    return kBoth ? word & ((std::uint64_t{1} << kBits) - 1) : word;
  }
  SLUICE_SIMT static std::uint64_t rejected(std::uint64_t word) { return kBoth ? word >> kBits : 0; }
};
static_assert(kMaxPoints < (std::uint64_t{1} << SelectedCounts<true>::kBits));

/// State of judges that look at one point at a time.
struct SingleState {};

/// A number of items that the host knows, or that an earlier launch has left in memory.
struct ItemCount {
  std::uint64_t known = 0;
  const std::uint64_t* at = nullptr;

  [[nodiscard]] SLUICE_SIMT std::uint64_t get() const { return at != nullptr ? *at : known; }
};

/// How many points a tile has, and where a block keeps them until it knows their places: the more points are under way
/// the better waiting for other tiles is hidden, so large tiles fill registers and shared memory alike.
///
/// \tparam kInRegisters, kInShared  rounds, of a point for each thread
/// \tparam kAsksAhead  points of later tiles are asked for: pays where a tile is long at work, or small
template <unsigned kThreadCount, unsigned kInRegistersCount, unsigned kInSharedCount, unsigned kBlocks,
          bool kAsksAhead = false>
struct TileShape {
  static constexpr bool kPrefetches = kAsksAhead;
  static constexpr unsigned kThreads = kThreadCount;
  static constexpr unsigned kInRegisters = kInRegistersCount;
  static constexpr unsigned kInShared = kInSharedCount;
  static constexpr unsigned kBlocksPerProcessor = kBlocks;
};

/// The masks of a warp's rounds: lane i keeps those of rounds i, i + lanes and so on.
template <typename MaskT, unsigned kRounds, unsigned kLanes>
struct RoundMasks {
  static constexpr unsigned kWords = (kRounds + kLanes - 1) / kLanes;

  MaskT words[kWords] = {};

  template <typename ContextT>
  SLUICE_SIMT void keep(ContextT& simt, unsigned round, MaskT mask) {
    if (simt.lane() == lane_of(round)) words[word_of(round)] = mask;
  }
  template <typename ContextT>
  [[nodiscard]] SLUICE_SIMT MaskT of(ContextT& simt, unsigned round) const {
    return simt.shuffle(words[word_of(round)], lane_of(round));
  }

 private:
  // One word stays in a register, whoever asks for which round.
  SLUICE_SIMT static unsigned word_of(unsigned round) { return kWords == 1 ? 0 : round / kLanes; }
  SLUICE_SIMT static unsigned lane_of(unsigned round) { return kWords == 1 ? round : round % kLanes; }
};

/// Stores the mask of a warp's rows, from `first_row` on, as bits of `words`; those after the last of `count` rows, up
/// to the end of a word, are zero.
template <typename ContextT>
SLUICE_SIMT void store_mask(std::uint32_t* words, std::uint64_t first_row, std::uint64_t count,
                            typename ContextT::Mask mask) {
  // Warps of fewer lanes than a word has bits share it.
  using Part = std::conditional_t<(ContextT::kWarpWidth < 32), unsigned char, std::uint32_t>;
  constexpr unsigned kBits = 8 * sizeof(Part);
  const std::uint64_t end = kBits == 32 ? count : (count + 31) / 32 * 32;
  for (unsigned p = 0; p < ContextT::kWarpWidth / kBits; ++p) {
    const std::uint64_t at = first_row / kBits + p;
    if (at * kBits < end) reinterpret_cast<Part*>(words)[at] = static_cast<Part>(mask >> (kBits * p));
  }
}

/// Items in one array.
template <typename ItemT>
struct ItemArray {
  using Item = ItemT;

  const ItemT* items;

  template <typename ContextT>
  SLUICE_SIMT ItemT load(ContextT& simt, std::uint64_t row) const {
    return simt.load_streaming(items + row);
  }
  template <typename ContextT>
  SLUICE_SIMT void start_copy(ContextT& simt, ItemT* to_shared, std::uint64_t row) const {
    simt.start_copy(to_shared, items + row);
  }
  template <unsigned kTile, typename ContextT>
  SLUICE_SIMT void prefetch_ahead(ContextT& simt, std::uint64_t at, std::uint64_t count) const {
    bodies::prefetch_ahead<kTile, sizeof(ItemT)>(simt, items, at, count);
  }
};

/// Judges tiles of points, and hands those kept to a sink with their places in input order; one block a tile.
///
/// SourceT: where points are read, once each: `Item`, what they are then; `load`; `start_copy` to shared memory;
/// `prefetch_ahead<kTile>` as that of look_back.hpp.
///
/// JudgeT: `Record`, what it judges, unless a source says so; `kRewrites`; `State`, of a thread over the rounds of its
/// warp, `begin(first_row, count)` for it; a call with (simt, state, record, row, exists) by the whole warp, round
/// after round, that gives a verdict, and may put something else into the record for the sink where `kRewrites`; lanes
/// beyond the last point are not kept.
///
/// SinkT: `Shared`; `begin<kThreads>(simt, shared)`, before a barrier of the block; `loading<kThreads>(simt)` when
/// points are on their way; `judged(simt, shared, record, row, verdict)` for each point; `masks(simt, first_row, count,
/// rounds, kept)` for each warp and as many rounds as it has lanes, lane i with the mask of round i, which is that of
/// the rows from first_row + i * lanes on; `kept(simt, at, record, row)`; `kRejected`, and for their indices
/// `rejected(simt, at, row)`;
/// `end<kThreads>(simt, shared)`; `totals(kept, rejected, count)`, called once.
template <typename JudgeT, typename SinkT, typename ShapeT, typename SourceT = ItemArray<typename JudgeT::Record>>
struct SelectPoints {
  static constexpr unsigned kThreads = ShapeT::kThreads;
  static constexpr unsigned kBlocksPerProcessor = ShapeT::kBlocksPerProcessor;
  static constexpr unsigned kRounds = ShapeT::kInRegisters + ShapeT::kInShared;
  static constexpr unsigned kTile = kThreads * kRounds;
  using Record = typename SourceT::Item;
  using Counts = SelectedCounts<SinkT::kRejected != Rejected::kNothing>;

  template <unsigned kWarpWidth>
  struct Shared {
    alignas(alignof(Record) < 16
                ? 16
                : alignof(Record)) Record records[ShapeT::kInShared == 0 ? 1 : kThreads * ShapeT::kInShared];
    std::uint64_t warp_counts[kThreads / kWarpWidth];
    std::uint64_t before;
    std::uint32_t tile;
    typename SinkT::Shared sink;
  };

  JudgeT judge;
  SinkT sink;
  TileStates states;
  SourceT source;
  ItemCount items;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const std::uint64_t count = items.get();
    // Where the count is not known to the host there are more blocks than tiles.
    const bool has_tile = std::uint64_t{simt.block()} * kTile < count;
    if (has_tile && simt.thread() == 0) shared.tile = states.ticket.draw(simt);
    sink.template begin<kThreads>(simt, shared.sink);
    if (!has_tile) return sink.template loading<kThreads>(simt);
    simt.block_barrier();
    const std::uint64_t first = std::uint64_t{shared.tile} * kTile;
    if (first + kTile <= count) {
      take_tile<true>(simt, shared, first, count);
    } else {
      take_tile<false>(simt, shared, first, count);
    }
    sink.template end<kThreads>(simt, shared.sink);
  }

 private:
  template <bool kWhole, typename ContextT, typename SharedT>
  SLUICE_SIMT void take_tile(ContextT& simt, SharedT& shared, std::uint64_t tile_first, std::uint64_t count) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    constexpr unsigned kInRegisters = ShapeT::kInRegisters;
    constexpr unsigned kInShared = ShapeT::kInShared;
    using Mask = typename ContextT::Mask;
    // A warp takes consecutive points, so that ranks follow from its own masks and one count for each warp.
    const unsigned offset = simt.warp() * (kRounds * kWidth) + simt.lane();
    const std::uint64_t first = tile_first + offset;
    Record* mine = shared.records + simt.warp() * (kInShared * kWidth) + simt.lane();
    // Points of a tile that is not whole, from this lane's first on: one register, however many rounds ask.
    const int left = kWhole ? 0 : static_cast<int>(count - tile_first) - static_cast<int>(offset);
    const auto exists = [=](unsigned i) { return kWhole || static_cast<int>(i * kWidth) < left; };
    Record records[kInRegisters == 0 ? 1 : kInRegisters];
    if constexpr (kInRegisters != 0) {
      SLUICE_UNROLL
      for (unsigned i = 0; i < kInRegisters; ++i) {
        if (exists(i)) records[i] = source.load(simt, first + i * kWidth);
      }
    }
    if constexpr (kInShared != 0) {
      SLUICE_UNROLL
      for (unsigned i = 0; i < kInShared; ++i) {
        const unsigned round = kInRegisters + i;
        if (exists(round)) source.start_copy(simt, mine + i * kWidth, first + round * kWidth);
      }
    }
    if constexpr (ShapeT::kPrefetches) {
      if (simt.thread() == 0) source.template prefetch_ahead<kTile>(simt, tile_first, count);
    }
    sink.template loading<kThreads>(simt);
    auto state = judge.begin(first - simt.lane(), count);
    RoundMasks<Mask, kRounds, kWidth> kept;
    RoundMasks<Mask, kRounds, kWidth> rejected;
    std::uint32_t kept_count = 0;
    std::uint32_t rejected_count = 0;
    const auto look_at = [&](unsigned i, Record& record) {
      const Verdict verdict = judge(simt, state, record, first + i * kWidth, exists(i));
      if (exists(i)) sink.judged(simt, shared.sink, record, first + i * kWidth, verdict);
      const Mask now_kept = simt.ballot(verdict == Verdict::kKept);
      kept.keep(simt, i, now_kept);
      kept_count += simt.population(now_kept);
      if constexpr (SinkT::kRejected != Rejected::kNothing) {
        const Mask now_rejected = simt.ballot(exists(i) && verdict == Verdict::kRejected);
        if constexpr (SinkT::kRejected == Rejected::kIndices) rejected.keep(simt, i, now_rejected);
        rejected_count += simt.population(now_rejected);
      }
    };
    if constexpr (kInRegisters != 0) {
      SLUICE_UNROLL
      for (unsigned i = 0; i < kInRegisters; ++i) look_at(i, records[i]);
    }
    if constexpr (kInShared != 0) {
      simt.copies_done();
      SLUICE_UNROLL_BY(1)
      for (unsigned i = 0; i < kInShared; ++i) {
        Record record;
        if (exists(kInRegisters + i)) record = mine[i * kWidth];
        look_at(kInRegisters + i, record);
        if (JudgeT::kRewrites && exists(kInRegisters + i)) mine[i * kWidth] = record;
      }
    }
    SLUICE_UNROLL
    for (unsigned w = 0; w < kept.kWords; ++w) {
      const unsigned round = w * kWidth;
      sink.masks(simt, first - simt.lane() + round * kWidth, count, std::min(kRounds - round, kWidth), kept.words[w]);
    }
    if (simt.lane() == 0) shared.warp_counts[simt.warp()] = Counts::of(kept_count, rejected_count);
    simt.block_barrier();
    if (simt.warp() == 0) {
      const std::uint64_t sum = simt::warp_exclusive_sums(simt, shared.warp_counts);
      const std::uint64_t before = states.look_back(simt, shared.tile, sum);
      if (simt.lane() == 0) {
        shared.before = before;
        if (tile_first + kTile >= count) {
          sink.totals(Counts::kept(before + sum), Counts::rejected(before + sum), count);
        }
      }
    }
    simt.block_barrier();
    const std::uint64_t before = shared.before + shared.warp_counts[simt.warp()];
    std::uint64_t at = Counts::kept(before);
    const auto put = [&](unsigned i, const Record& record) {
      const Mask of_round = kept.of(simt, i);
      if (((of_round >> simt.lane()) & 1) != 0) {
        sink.kept(simt, at + simt.population(of_round & simt.lanes_below()), record, first + i * kWidth);
      }
      at += simt.population(of_round);
    };
    if constexpr (kInRegisters != 0) {
      SLUICE_UNROLL
      for (unsigned i = 0; i < kInRegisters; ++i) put(i, records[i]);
    }
    if constexpr (kInShared != 0) {
      SLUICE_UNROLL_BY(2)
      for (unsigned i = 0; i < kInShared; ++i) put(kInRegisters + i, mine[i * kWidth]);
    }
    if constexpr (SinkT::kRejected == Rejected::kIndices) {
      std::uint64_t rejected_at = Counts::rejected(before);
      for (unsigned i = 0; i < kRounds; ++i) {
        const Mask of_round = rejected.of(simt, i);
        if (((of_round >> simt.lane()) & 1) != 0) {
          sink.rejected(simt, rejected_at + simt.population(of_round & simt.lanes_below()), first + i * kWidth);
        }
        rejected_at += simt.population(of_round);
      }
    }
  }
};

/// Counts, points, indices, verdicts and mask, as far as they are wanted.
///
/// \tparam kWanted  kNothing: no rejected index is wanted, and points are either kept or rejected
template <Rejected kWanted>
struct SelectSink {
  static constexpr Rejected kRejected = kWanted;
  struct Shared {};

  SelectOutputs outputs;

  template <unsigned kThreads, typename ContextT>
  SLUICE_SIMT void begin(ContextT& /*simt*/, Shared& /*shared*/) const {}
  template <unsigned kThreads, typename ContextT>
  SLUICE_SIMT void loading(ContextT& /*simt*/) const {}
  template <typename ContextT, typename PointT>
  SLUICE_SIMT void judged(ContextT& /*simt*/, Shared& /*shared*/, const PointT& /*point*/, std::uint64_t row,
                          Verdict verdict) const {
    if (outputs.verdicts != nullptr) outputs.verdicts[row] = static_cast<std::uint8_t>(verdict);
  }
  template <typename ContextT>
  SLUICE_SIMT void masks(ContextT& simt, std::uint64_t first_row, std::uint64_t count, unsigned rounds,
                         typename ContextT::Mask kept) const {
    if (outputs.mask == nullptr || simt.lane() >= rounds) return;
    store_mask<ContextT>(outputs.mask, first_row + simt.lane() * ContextT::kWarpWidth, count, kept);
  }
  template <typename ContextT, typename PointT>
  SLUICE_SIMT void kept(ContextT& simt, std::uint64_t at, const PointT& point, std::uint64_t row) const {
    if constexpr (std::is_same_v<PointT, Record16> || std::is_same_v<PointT, Record32>) {
      if (outputs.records != nullptr) simt.store_streaming(static_cast<PointT*>(outputs.records) + at, point);
    }
    put(simt, 0, at, point.x);
    put(simt, 1, at, point.y);
    put(simt, 2, at, point.z);
    if (outputs.kept != nullptr) outputs.kept[at] = static_cast<std::uint32_t>(row);
  }
  template <typename ContextT>
  SLUICE_SIMT void rejected(ContextT& /*simt*/, std::uint64_t at, std::uint64_t row) const {
    if (outputs.rejected != nullptr) outputs.rejected[at] = static_cast<std::uint32_t>(row);
  }
  template <unsigned kThreads, typename ContextT>
  SLUICE_SIMT void end(ContextT& /*simt*/, Shared& /*shared*/) const {}
  SLUICE_SIMT void totals(std::uint64_t kept, std::uint64_t rejected, std::uint64_t count) const {
    if (outputs.counts == nullptr) return;
    const std::uint64_t all_rejected = kRejected == Rejected::kNothing ? count - kept : rejected;
    *outputs.counts = SelectCounts{kept, all_rejected, count - kept - all_rejected};
  }

 private:
  template <typename ContextT, typename CoordinateT>
  SLUICE_SIMT void put(ContextT& simt, int axis, std::uint64_t at, CoordinateT value) const {
    auto* out = static_cast<CoordinateT*>(outputs.coordinates[axis]);
    if (out != nullptr) simt.store_streaming(out + at, value);
  }
};

}  // namespace sluice::kernels::bodies
