// SPDX-License-Identifier: Apache-2.0
/// \file
/// One point of each cell without a sort: a table with an entry for each cell of a range, which points lower.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/bodies/bits.hpp"
#include "kernels/cuda/bodies/fast_cells.hpp"
#include "kernels/cuda/bodies/judges.hpp"
#include "kernels/score.hpp"
#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"
#include "sluice/core/cell_grid.hpp"
#include "sluice/core/cell_key.hpp"
#include "sluice/core/radix_key.hpp"
#include "sluice/kernels/operations.hpp"

namespace sluice::kernels::bodies {

/// What a look at the points enters into the tables.
enum class Look : std::uint8_t {
  kPacked,  ///< scores of 32 bits with the numbers of points: one look is enough
  kScores,  ///< scores of 64 bits
  kTies     ///< after them, the numbers of the points that have them
};

/// True for policies whose scores need no more than 32 bits.
inline bool has_short_scores(KeepPolicy policy, CoordinateKind kind) {
  if (policy == KeepPolicy::kFirst) return true;
  return (policy == KeepPolicy::kLowest || policy == KeepPolicy::kHighest) && kind != CoordinateKind::kFloat64;
}

/// Orders as `point_score` does where `has_short_scores`.
SLUICE_SIMT std::uint32_t short_score(KeepPolicy policy, const Positions& positions, const Position& position) {
  if (policy == KeepPolicy::kFirst) return 0;
  std::uint32_t height = 0;
  if (positions.kind == CoordinateKind::kLattice) {
    height = radix_key(position.raw[2]);
    if (positions.scale[2] < 0.0) height = ~height;
  } else {
    height = radix_key(static_cast<float>(position.world[2]));
  }
  return policy == KeepPolicy::kHighest ? ~height : height;
}

/// Row-major numbers of cells by 32-bit arithmetic.
struct FastKeys {
  FastCells cells;

  /// \tparam kCell  whether scores may look at the cell
  template <bool kCell, typename PointT>
  SLUICE_SIMT std::uint32_t of(const ReduceSpec& spec, const PointT& point, const Position& position,
                               std::int64_t cell[3]) const {
    if (kCell && spec.policy == KeepPolicy::kRandom) cell_of(spec.grid, position, cell);
    return cells.key(point);
  }
};

/// The same for any grid.
struct AnyKeys {
  KeyLayout layout;

  template <bool kCell, typename PointT>
  SLUICE_SIMT std::uint32_t of(const ReduceSpec& spec, const PointT& /*point*/, const Position& position,
                               std::int64_t cell[3]) const {
    cell_of(spec.grid, position, cell);
    return static_cast<std::uint32_t>(key_of(layout, cell));
  }
};

/// Lowers entries of a table; by a whole warp. Entries only fall, so a value that is no lower than what was there a
/// moment ago is left out.
template <unsigned kRounds, typename ContextT, typename T>
SLUICE_SIMT void lower_entries(ContextT& simt, T* table, const std::uint32_t (&keys)[kRounds],
                               const T (&values)[kRounds], const bool (&wanted)[kRounds]) {
  T seen[kRounds];
  SLUICE_UNROLL
  for (unsigned i = 0; i < kRounds; ++i) {
    seen[i] = wanted[i] ? simt.template atomic_load<simt::Order::kRelaxed>(&table[keys[i]]) : T{0};
  }
  SLUICE_UNROLL
  for (unsigned i = 0; i < kRounds; ++i) {
    bool lower = wanted[i] && values[i] < seen[i];
    const auto those = simt.ballot(lower);
    if (those == 0) continue;
    // Points of one cell often come together: they speak with one voice, as atomics of one entry wait for each other.
    const unsigned lead = simt.lowest(those);
    const std::uint32_t lead_key = simt.shuffle(keys[i], lead);
    const bool same = lower && keys[i] == lead_key;
    if (simt.population(simt.ballot(same)) > 2) {
      const T least = simt::warp_reduce(simt, same ? values[i] : static_cast<T>(~T{0}), simt::Least{});
      if (simt.lane() == lead) simt.template atomic_min<simt::Order::kRelaxed>(&table[lead_key], least);
      lower = lower && !same;
    }
    if (lower) simt.template atomic_min<simt::Order::kRelaxed>(&table[keys[i]], values[i]);
  }
}

/// Judges points and enters those that are kept into the tables; blocks take every `blocks`th tile.
///
/// SourceT: as that of `SelectPoints`.
template <typename JudgeT, typename SourceT, typename KeysT, Look kLook>
struct EnterPoints {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kBlocksPerProcessor = std::is_same_v<JudgeT, LatticeBoxJudge> ? 4 : 2;
  static constexpr unsigned kRounds = 4;  ///< points of a thread and tile
  static constexpr unsigned kTile = kThreads * kRounds;
  using Point = typename SourceT::Item;
  using Entry = std::conditional_t<kLook == Look::kTies, std::uint32_t, std::uint64_t>;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t warp_counts[kThreads / kWarpWidth];
  };

  JudgeT judge;
  SourceT source;
  KeysT keys_of;
  ReduceSpec spec;
  Positions positions;  ///< kind and scale are read
  std::uint64_t first_index;
  std::uint64_t count;
  std::uint64_t* best;     ///< all ones before the first look
  std::uint32_t* numbers;  ///< all ones before kTies
  SelectCounts* counts;    ///< zero before the first look

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    std::uint32_t kept = 0;
    std::uint32_t rejected = 0;
    const std::uint64_t step = std::uint64_t{simt.blocks()} * kTile;
    for (std::uint64_t row = std::uint64_t{simt.block()} * kTile + simt.warp() * (kRounds * kWidth); row < count;
         row += step) {
      const std::uint64_t first = row + simt.lane();
      Point points[kRounds];
      SLUICE_UNROLL
      for (unsigned i = 0; i < kRounds; ++i) {
        if (first + i * kWidth < count) points[i] = source.load(simt, first + i * kWidth);
      }
      auto state = judge.begin(row, count);
      std::uint32_t keys[kRounds];
      Entry values[kRounds];
      bool wanted[kRounds];
      SLUICE_UNROLL
      for (unsigned i = 0; i < kRounds; ++i) {
        const std::uint64_t at = first + i * kWidth;
        const bool exists = at < count;
        const Verdict verdict = judge(simt, state, points[i], at, exists);
        wanted[i] = exists && verdict == Verdict::kKept;
        keys[i] = 0;
        values[i] = 0;
        if (wanted[i]) wanted[i] = enter(points[i], at, keys[i], values[i]);
        if (exists && verdict == Verdict::kKept) ++kept;
        if (exists && verdict == Verdict::kRejected) ++rejected;
      }
      if constexpr (kLook == Look::kTies) {
        lower_entries(simt, numbers, keys, values, wanted);
      } else {
        lower_entries(simt, best, keys, values, wanted);
      }
    }
    if constexpr (kLook != Look::kTies) {
      kept = simt::block_reduce(simt, kept, shared.warp_counts, simt::Plus{});
      rejected = simt::block_reduce(simt, rejected, shared.warp_counts, simt::Plus{});
      if (simt.thread() == 0) {
        simt.template atomic_add<simt::Order::kRelaxed>(&counts->kept, std::uint64_t{kept});
        simt.template atomic_add<simt::Order::kRelaxed>(&counts->rejected, std::uint64_t{rejected});
      }
    }
  }

 private:
  /// \return false where the point does not matter
  SLUICE_SIMT bool enter(const Point& point, std::uint64_t row, std::uint32_t& key, Entry& value) const {
    const Position position = position_of(point, positions.kind);
    std::int64_t cell[3] = {0, 0, 0};
    key = keys_of.template of<kLook != Look::kPacked>(spec, point, position, cell);
    if constexpr (kLook == Look::kPacked) {
      value = std::uint64_t{short_score(spec.policy, positions, position)} << 32 | row;
      return true;
    } else {
      const std::uint64_t score = point_score(spec, positions, position, cell, CentroidSums{}, first_index + row);
      if constexpr (kLook == Look::kScores) {
        value = score;
        return true;
      } else {
        value = static_cast<std::uint32_t>(row);
        return score == best[key];
      }
    }
  }
};

/// Marks the point of each entry.
struct MarkEntries {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const std::uint64_t* best;     ///< of `Look::kPacked`
  const std::uint32_t* numbers;  ///< else, where not null
  std::uint64_t cells;
  std::uint32_t* mask;  ///< zero before

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t cell = std::uint64_t{simt.block()} * kThreads + simt.thread();
    if (cell >= cells) return;
    // The numbers of points have 31 bits.
    const std::uint32_t number = numbers != nullptr ? numbers[cell] : static_cast<std::uint32_t>(best[cell]);
    if (number != ~std::uint32_t{0}) mark_point(simt, mask, number);
  }
};

}  // namespace sluice::kernels::bodies
