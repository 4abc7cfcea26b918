// SPDX-License-Identifier: Apache-2.0
/// \file
/// Kernels over points in cell order: which cell each belongs to, sums, scores, who stays.
///
/// Cells are numbered by rank, in the order of their keys. Everything that threads add up or compare is an integer, so
/// results do not depend on the order in which they do. Runs that fill whole warps are gathered in registers first:
/// a cell that holds all points costs few atomics.
#pragma once

#include <cstdint>

#include "kernels/cuda/bodies/points.hpp"
#include "kernels/score.hpp"
#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"
#include "sluice/core/cell_grid.hpp"
#include "sluice/core/centroid.hpp"
#include "sluice/kernels/operations.hpp"

namespace sluice::kernels::bodies {

inline constexpr unsigned kWalkThreads = 256;
inline constexpr unsigned kWalkRounds = 16;  ///< points per thread
inline constexpr unsigned kWalkTile = kWalkThreads * kWalkRounds;
inline constexpr std::uint32_t kNoRank = ~std::uint32_t{0};

/// ranks[i] = rank of the cell of the i-th point in cell order. Each warp looks up where it starts, then counts heads.
template <typename KeyT>
struct RankPositions {
  static constexpr unsigned kThreads = kWalkThreads;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const KeyT* keys;  ///< sorted
  std::uint64_t n;
  const std::uint32_t* cell_first;
  std::uint64_t cells;
  std::uint32_t* ranks;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    const std::uint64_t start = std::uint64_t{simt.block()} * kWalkTile + simt.warp() * (kWalkRounds * kWidth);
    if (start >= n) return;
    // The last cell that begins at or before `start`.
    std::uint64_t low = 0;
    std::uint64_t high = cells;
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (cell_first[middle] <= start) {
        low = middle;
      } else {
        high = middle;
      }
    }
    auto rank = static_cast<std::uint32_t>(low);
    for (unsigned i = 0; i < kWalkRounds; ++i) {
      const std::uint64_t at = start + std::uint64_t{i} * kWidth + simt.lane();
      const bool head = at < n && at != start && keys[at] != keys[at - 1];
      const auto heads = simt.ballot(head);
      if (at < n) ranks[at] = rank + simt.population(heads & simt.lanes_below()) + (head ? 1 : 0);
      rank += simt.population(heads);
    }
  }
};

/// Sums of cells, as columns of `stride` 64-bit words that wrap. On a lattice three columns of lattice numbers. For
/// floats six: the low 32 bits of the offsets of an axis and the rest of them, which together hold any sum of 2^31
/// 64-bit numbers.
struct SumColumns {
  std::uint64_t* words = nullptr;
  std::uint64_t stride = 0;

  static constexpr unsigned parts(CoordinateKind kind) { return kind == CoordinateKind::kLattice ? 3 : 6; }

  [[nodiscard]] SLUICE_SIMT CentroidSums read(CoordinateKind kind, std::uint64_t rank, std::uint64_t count) const {
    CentroidSums out;
    out.count = count;
    for (unsigned d = 0; d < 3; ++d) {
      if (kind == CoordinateKind::kLattice) {
        out.sum[d] = static_cast<std::int64_t>(words[d * stride + rank]);
      } else {
        const int128 high = static_cast<std::int64_t>(words[(2 * d + 1) * stride + rank]);
        out.sum[d] = high * (int128{1} << 32) + static_cast<int128>(words[2 * d * stride + rank]);
      }
    }
    return out;
  }
};

/// What the kernels below know of the points and cells.
struct CellPoints {
  Positions positions;
  CellGrid grid;
  std::uint64_t first_index;
  const std::uint32_t* permutation;  ///< points in cell order
  const std::uint32_t* ranks;        ///< of their cells
  std::uint64_t n;                   ///< points in cell order
  const std::uint32_t* cell_first;
  std::uint64_t cells;

  [[nodiscard]] SLUICE_SIMT std::uint64_t cell_count(std::uint64_t rank) const {
    return (rank + 1 < cells ? cell_first[rank + 1] : n) - cell_first[rank];
  }
};

/// Adds the points of each cell up; `sums` starts at zero.
template <unsigned kParts>
struct SumCells {
  static constexpr unsigned kThreads = kWalkThreads;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  CellPoints points;
  SumColumns sums;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    const std::uint64_t start =
        std::uint64_t{simt.block()} * kWalkTile + simt.warp() * (kWalkRounds * kWidth) + simt.lane();
    std::uint32_t open = kNoRank;  // the cell whose points the lanes hold in `held`
    std::uint64_t held[kParts] = {};
    for (unsigned i = 0; i < kWalkRounds; ++i) {
      const std::uint64_t at = start + std::uint64_t{i} * kWidth;
      const bool valid = at < points.n;
      const std::uint32_t rank = valid ? points.ranks[at] : kNoRank;
      std::uint64_t parts[kParts] = {};
      if (valid) load(simt, points.permutation[at], parts);
      const std::uint32_t lead = simt.shuffle(rank, 0);
      const bool mixed = simt.ballot(rank != lead) != 0;
      if (mixed || lead != open) flush(simt, open, held);
      if (!mixed) {
        open = lead;
        for (unsigned p = 0; p < kParts; ++p) held[p] += parts[p];
        continue;
      }
      open = kNoRank;
      const std::uint32_t below = simt.shuffle_up(rank, 1);
      const bool first = valid && (simt.lane() == 0 || below != rank);
      for (unsigned p = 0; p < kParts; ++p) {
        const std::uint64_t sum = simt::warp_reduce_runs(simt, rank, parts[p], simt::Plus{});
        if (first) simt.template atomic_add<simt::Order::kRelaxed>(&sums.words[p * sums.stride + rank], sum);
      }
    }
    flush(simt, open, held);
  }

 private:
  template <typename ContextT>
  SLUICE_SIMT void load(ContextT& simt, std::uint32_t point, std::uint64_t (&parts)[kParts]) const {
    const Position position = load_point(simt, points.positions, point);
    if constexpr (kParts == 3) {
      for (int d = 0; d < 3; ++d) parts[d] = static_cast<std::uint64_t>(std::int64_t{position.raw[d]});
    } else {
      std::int64_t cell[3];
      cell_of(points.grid, position, cell);
      for (int d = 0; d < 3; ++d) {
        const std::int64_t steps = corner_steps(points.grid, position, cell, d);
        parts[2 * d] = static_cast<std::uint64_t>(steps) & 0xffffffffU;
        parts[2 * d + 1] = static_cast<std::uint64_t>(steps >> 32);
      }
    }
  }

  template <typename ContextT>
  SLUICE_SIMT void flush(ContextT& simt, std::uint32_t rank, std::uint64_t (&held)[kParts]) const {
    if (rank == kNoRank) return;
    for (unsigned p = 0; p < kParts; ++p) {
      const std::uint64_t sum = simt::warp_reduce(simt, held[p], simt::Plus{});
      if (simt.lane() == 0) simt.template atomic_add<simt::Order::kRelaxed>(&sums.words[p * sums.stride + rank], sum);
      held[p] = 0;
    }
  }
};

/// scores[i] = score of the i-th point in cell order, and best[r] = the lowest of cell r (starts at all ones; null: not
/// wanted).
struct ScorePoints {
  static constexpr unsigned kThreads = kWalkThreads;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  CellPoints points;
  ReduceSpec spec;
  SumColumns sums;  ///< read for kCentroid and kNearestCentroid
  std::uint64_t* scores;
  std::uint64_t* best;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    const std::uint64_t start =
        std::uint64_t{simt.block()} * kWalkTile + simt.warp() * (kWalkRounds * kWidth) + simt.lane();
    for (unsigned i = 0; i < kWalkRounds; ++i) {
      const std::uint64_t at = start + std::uint64_t{i} * kWidth;
      const bool valid = at < points.n;
      const std::uint32_t rank = valid ? points.ranks[at] : kNoRank;
      std::uint64_t score = ~std::uint64_t{0};
      if (valid) {
        score = score_of(simt, points.permutation[at], rank);
        scores[at] = score;
      }
      if (best == nullptr) continue;
      const std::uint64_t lowest = simt::warp_reduce_runs(simt, rank, score, simt::Least{});
      const std::uint32_t below = simt.shuffle_up(rank, 1);
      const bool first = valid && (simt.lane() == 0 || below != rank);
      // Values only fall, so one that is no lower than what is there already can be left out.
      if (first && lowest < simt.template atomic_load<simt::Order::kRelaxed>(&best[rank])) {
        simt.template atomic_min<simt::Order::kRelaxed>(&best[rank], lowest);
      }
    }
  }

 private:
  template <typename ContextT>
  SLUICE_SIMT std::uint64_t score_of(ContextT& simt, std::uint32_t point, std::uint32_t rank) const {
    const Position position = load_point(simt, points.positions, point);
    std::int64_t cell[3];
    cell_of(spec.grid, position, cell);
    CentroidSums sum;
    if (spec.policy == KeepPolicy::kCentroid || spec.policy == KeepPolicy::kNearestCentroid) {
      sum = sums.read(spec.grid.kind, rank, points.cell_count(rank));
    }
    return point_score(spec, points.positions, position, cell, sum, points.first_index + point);
  }
};

/// chosen[r] = first place in cell order of a point of cell r that has the best score; starts at all ones.
struct ChooseBest {
  static constexpr unsigned kThreads = kWalkThreads;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  CellPoints points;
  const std::uint64_t* scores;
  const std::uint64_t* best;
  std::uint32_t* chosen;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    const std::uint64_t start =
        std::uint64_t{simt.block()} * kWalkTile + simt.warp() * (kWalkRounds * kWidth) + simt.lane();
    for (unsigned i = 0; i < kWalkRounds; ++i) {
      const std::uint64_t at = start + std::uint64_t{i} * kWidth;
      const bool valid = at < points.n;
      const std::uint32_t rank = valid ? points.ranks[at] : kNoRank;
      const bool good = valid && scores[at] == best[rank];
      // Of the good ones of a cell within the warp only the lowest need speak.
      const auto before = simt.ballot(good) & simt.lanes_below();
      const unsigned nearest = before != 0 ? simt.highest(before) : 0;
      const std::uint32_t nearest_rank = simt.shuffle(rank, nearest);
      const bool speaks = good && (before == 0 || nearest_rank != rank);
      if (speaks && static_cast<std::uint32_t>(at) < simt.template atomic_load<simt::Order::kRelaxed>(&chosen[rank])) {
        simt.template atomic_min<simt::Order::kRelaxed>(&chosen[rank], static_cast<std::uint32_t>(at));
      }
    }
  }
};

/// flags[permutation[chosen[r]]] = 1 for each cell; flags start at zero.
struct FlagChosen {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const std::uint32_t* permutation;
  const std::uint32_t* chosen;
  std::uint64_t cells;
  std::uint8_t* flags;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t r = std::uint64_t{simt.block()} * kThreads + simt.thread();
    if (r < cells) flags[permutation[chosen[r]]] = 1;
  }
};

/// Flags the first `most` points of each cell, where the cell's points come in the order of `places`; flags start at
/// zero.
struct FlagFirstFew {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const std::uint32_t* permutation;
  const std::uint32_t* places;  ///< places in cell order, cell by cell; null: cell order itself
  const std::uint32_t* ranks;   ///< of the cells, in the same order
  const std::uint32_t* cell_first;
  std::uint64_t n;
  std::uint32_t most;
  std::uint8_t* flags;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t at = std::uint64_t{simt.block()} * kThreads + simt.thread();
    if (at >= n || at - cell_first[ranks[at]] >= most) return;
    flags[permutation[places == nullptr ? at : places[at]]] = 1;
  }
};

/// values[i] = i
struct CountUp {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  std::uint32_t* values;
  std::uint64_t n;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t at = std::uint64_t{simt.block()} * kThreads + simt.thread();
    if (at < n) values[at] = static_cast<std::uint32_t>(at);
  }
};

/// Centroid and representative of output i, whose cell has rank order[i].
struct WriteCentroids {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  CellPoints points;
  SumColumns sums;
  const std::uint32_t* chosen;
  const std::uint32_t* order;
  std::uint32_t* kept;
  Record16* lattice;  ///< on a lattice, may be null
  Record32* world;    ///< else, may be null

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t at = std::uint64_t{simt.block()} * kThreads + simt.thread();
    if (at >= points.cells) return;
    const std::uint32_t rank = order[at];
    const std::uint32_t point = points.permutation[chosen[rank]];
    if (kept != nullptr) kept[at] = point;
    if (lattice == nullptr && world == nullptr) return;
    const CentroidSums sum = sums.read(points.grid.kind, rank, points.cell_count(rank));
    if (lattice != nullptr) {
      lattice[at] = lattice_centroid(sum);
    } else {
      const Position position = load_point(simt, points.positions, point);
      std::int64_t cell[3];
      cell_of(points.grid, position, cell);
      world[at] = world_centroid(points.grid, sum, cell, position);
    }
  }
};

}  // namespace sluice::kernels::bodies
