// SPDX-License-Identifier: Apache-2.0
/// \file
/// The best few points of each cell, or its mean, from points in cell order.
///
/// Small cells get a few lanes, larger ones a warp, full ones a block for each piece. Whatever lanes and blocks add up
/// or compare is an integer, so results do not depend on how cells are cut. The points of a cell are in input order:
/// of several with the same score the first place has the lowest number. Each point that stays takes a look at the
/// whole cell, for the best of those that come after the one before.
#pragma once

#include <cstdint>

#include "kernels/cuda/bodies/bits.hpp"
#include "kernels/cuda/bodies/cell_runs.hpp"
#include "kernels/score.hpp"
#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"
#include "sluice/core/cell_grid.hpp"
#include "sluice/core/centroid.hpp"
#include "sluice/kernels/operations.hpp"

namespace sluice::kernels::bodies {

/// Sums in 64-bit words that wrap and may be added up in any order. For a lattice one word an axis. Else two: the low
/// 32 bits and the rest, which together hold any sum of 2^31 64-bit numbers.
template <bool kOnlyLattice>
struct SumParts {
  static constexpr unsigned kCount = kOnlyLattice ? 3 : 6;

  std::uint64_t words[kCount] = {};

  SLUICE_SIMT void add(const CellGrid& grid, const Position& position, const std::int64_t cell[3]) {
    for (unsigned d = 0; d < 3; ++d) {
      if constexpr (kOnlyLattice) {
        words[d] += static_cast<std::uint64_t>(std::int64_t{position.raw[d]});
      } else {
        const int axis = static_cast<int>(d);
        const std::int64_t steps = grid.kind == CoordinateKind::kLattice ? std::int64_t{position.raw[d]}
                                                                         : corner_steps(grid, position, cell, axis);
        words[2 * d] += static_cast<std::uint64_t>(steps) & 0xffffffffU;
        words[2 * d + 1] += static_cast<std::uint64_t>(steps >> 32);
      }
    }
  }

  [[nodiscard]] SLUICE_SIMT static CentroidSums total(const std::uint64_t* words, std::uint64_t count) {
    CentroidSums out;
    out.count = count;
    for (unsigned d = 0; d < 3; ++d) {
      if constexpr (kOnlyLattice) {
        out.sum[d] = static_cast<std::int64_t>(words[d]);
      } else {
        out.sum[d] = static_cast<int128>(static_cast<std::int64_t>(words[2 * d + 1])) * (int128{1} << 32) +
                     static_cast<int128>(words[2 * d]);
      }
    }
    return out;
  }
};

/// What becomes of each cell.
///
/// \tparam kMeans  the policy looks at the mean; else only at single points
template <typename PointsT, bool kMeans>
struct CellReduction {
  using Parts = SumParts<PointsT::kOnlyLattice>;

  PointsT points;
  CellRuns runs;
  CellPieces pieces;
  ReduceSpec spec;
  Positions positions;  ///< kind and scale are read
  std::uint64_t first_index;
  RankedMask mask;  ///< kCentroid: first points of cells, ranked; else the points that stay are marked
  // kCentroid, each may be null; in the order of the first points.
  std::uint32_t* nearest;
  Record16* lattice;
  Record32* world;
  std::uint32_t* cells;

  [[nodiscard]] SLUICE_SIMT std::uint32_t rounds() const { return spec.max_per_cell; }
  /// False where only means are wanted.
  [[nodiscard]] SLUICE_SIMT bool chooses() const {
    return !kMeans || spec.policy != KeepPolicy::kCentroid || nearest != nullptr;
  }

  /// The cell of the points from `begin` on, where anything reads it.
  template <typename ContextT>
  SLUICE_SIMT void find_cell(ContextT& simt, std::uint32_t begin, std::int64_t cell[3]) const {
    if constexpr (!kMeans || !PointsT::kOnlyLattice) {
      if (spec.policy == KeepPolicy::kLowest || spec.policy == KeepPolicy::kHighest) return;
      cell_of(spec.grid, points.at(simt, begin).position, cell);
    }
  }

  [[nodiscard]] SLUICE_SIMT std::uint64_t score(const NumberedPoint& point, const std::int64_t cell[3],
                                                const CentroidSums& sums) const {
    if constexpr (kMeans) {
      return centroid_score(spec.grid, positions.scale, sums, point.position, cell);
    } else {
      return point_score(spec, positions, point.position, cell, sums, first_index + point.number);
    }
  }

  /// Cells come by number, which is that of their run unless runs are those of groups.
  [[nodiscard]] SLUICE_SIMT std::uint64_t cell_count() const { return runs.count() << points.group_bits(); }
  [[nodiscard]] SLUICE_SIMT std::uint64_t run_of(std::uint64_t number) const { return number >> points.group_bits(); }
  /// False for a point of another cell of the group.
  [[nodiscard]] SLUICE_SIMT bool is_of(std::uint64_t number, const NumberedPoint& point) const {
    return !PointsT::kInGroups || points.part_of(point) == (number & ((1U << points.group_bits()) - 1));
  }

  /// \param leader  place of the cell's first point
  /// \param best    place of the point that stays
  template <typename ContextT>
  SLUICE_SIMT void write(ContextT& simt, std::uint64_t number, std::uint32_t leader, std::uint32_t best,
                         const std::int64_t cell[3], const CentroidSums& sums) const {
    if (!kMeans || spec.policy != KeepPolicy::kCentroid) return mark_point(simt, mask.words, points.number(best));
    const NumberedPoint first = points.at(simt, leader);
    const std::uint32_t to = mask.rank(simt, first.number);
    if (nearest != nullptr) nearest[to] = points.number(best);
    if (lattice != nullptr) lattice[to] = lattice_centroid(sums);
    if constexpr (!PointsT::kOnlyLattice) {
      if (world != nullptr) world[to] = world_centroid(spec.grid, sums, cell, first.position);
    }
    if (cells != nullptr) cells[to] = static_cast<std::uint32_t>(number);
  }
};

/// A place in cell order with its score, or none.
struct BestPlace {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint64_t score = ~std::uint64_t{0};
  std::uint32_t place = kNone;

  [[nodiscard]] SLUICE_SIMT bool exists() const { return place != kNone; }
  [[nodiscard]] SLUICE_SIMT bool is_before(const BestPlace& other) const {
    return score < other.score || (score == other.score && place < other.place);
  }
  /// Becomes the other where that is better, and comes after one that has been chosen already, if any has.
  SLUICE_SIMT void see(const BestPlace& other, const BestPlace& last) {
    if (other.is_before(*this) && (!last.exists() || last.is_before(other))) *this = other;
  }
};

template <unsigned kThreads, unsigned kWarpWidth>
struct PieceShared {
  std::uint64_t words[kThreads / kWarpWidth];
  std::uint32_t places[kThreads / kWarpWidth];
  bool last;
};

/// The best place of a block; by all its threads.
template <typename ContextT, typename SharedT>
SLUICE_SIMT BestPlace best_of_block(ContextT& simt, SharedT& shared, const BestPlace& mine) {
  BestPlace out;
  out.score = simt::block_reduce(simt, mine.score, shared.words, simt::Least{});
  const std::uint32_t place = mine.score == out.score ? mine.place : BestPlace::kNone;
  out.place = simt::block_reduce(simt, place, shared.places, simt::Least{});
  return out;
}

/// Finds the best points of a piece; whoever comes last writes those of the cell. By a whole block.
template <unsigned kThreads, typename PointsT, bool kMeans, typename ContextT, typename SharedT>
SLUICE_SIMT void choose_in_piece(ContextT& simt, SharedT& shared, const CellReduction<PointsT, kMeans>& reduction,
                                 std::uint32_t number) {
  const CellPieces& pieces = reduction.pieces;
  const Piece piece = pieces.list[number];
  FullCell& full = pieces.cells[piece.first];
  const std::uint32_t leader = full.leader;
  std::int64_t cell[3] = {0, 0, 0};
  reduction.find_cell(simt, leader, cell);
  CentroidSums sums;
  if constexpr (kMeans) sums = CellReduction<PointsT, kMeans>::Parts::total(full.words, full.points);
  if (!reduction.chooses()) {
    if (number == piece.first && simt.thread() == 0) reduction.write(simt, piece.cell, leader, leader, cell, sums);
    return;
  }
  const std::uint32_t rounds = reduction.rounds();
  BestPlace last;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    BestPlace best;
    for (std::uint32_t i = piece.begin + simt.thread(); i < piece.end; i += kThreads) {
      const NumberedPoint point = reduction.points.at(simt, i);
      if (reduction.is_of(piece.cell, point)) best.see({reduction.score(point, cell, sums), i}, last);
    }
    best = best_of_block(simt, shared, best);
    if (simt.thread() == 0) pieces.bests[std::uint64_t{number} * rounds + round] = {best.score, best.place};
    if (best.exists()) last = best;
  }
  if (simt.thread() == 0) {
    const std::uint32_t before = simt.template atomic_add<simt::Order::kAcquireRelease>(&full.done, std::uint32_t{1});
    shared.last = before + 1 == full.pieces;
  }
  simt.block_barrier();
  if (!shared.last) return;
  last = {};
  for (std::uint32_t round = 0; round < rounds; ++round) {
    BestPlace best;
    for (std::uint32_t k = simt.thread(); k < full.pieces * rounds; k += kThreads) {
      const PieceBest other = pieces.bests[std::uint64_t{piece.first} * rounds + k];
      if (other.place != BestPlace::kNone) best.see({other.score, other.place}, last);
    }
    last = best_of_block(simt, shared, best);
    if (simt.thread() == 0) reduction.write(simt, piece.cell, leader, last.place, cell, sums);
  }
}

/// Reduces all cells, but where it takes means only sums up those that are cut: `ChooseInPieces` does the rest.
template <typename PointsT, bool kMeans>
struct ReduceCells {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kBlocksPerProcessor = PointsT::kOnlyLattice ? 4 : 2;  ///< floats want registers
  static constexpr unsigned kFewLanes = 4;                                        ///< share a cell of few points
  static constexpr unsigned kFewPoints = 16;                                      ///< of such a cell at most
  using Parts = SumParts<PointsT::kOnlyLattice>;
  template <unsigned kWarpWidth>
  using Shared = PieceShared<kThreads, kWarpWidth>;

  CellReduction<PointsT, kMeans> reduction;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    const std::uint32_t pieces = *reduction.pieces.count;
    for (std::uint32_t p = simt.block(); p < pieces; p += simt.blocks()) {
      if constexpr (kMeans) {
        sum_piece(simt, shared, p);
      } else {
        choose_in_piece<kThreads>(simt, shared, reduction, p);
      }
    }
    constexpr unsigned kRow = kWidth / kFewLanes;  // cells that a warp takes at a time
    const std::uint64_t cells = reduction.cell_count();
    const std::uint64_t step = std::uint64_t{simt.blocks()} * (kThreads / kFewLanes);
    for (std::uint64_t row = std::uint64_t{simt.block()} * (kThreads / kFewLanes) + simt.warp() * kRow; row < cells;
         row += step) {
      const std::uint64_t cell = row + simt.lane() / kFewLanes;
      const bool valid = cell < cells;
      const std::uint32_t begin = valid ? reduction.runs.begin(reduction.run_of(cell)) : 0;
      const std::uint32_t end = valid ? reduction.runs.end(reduction.run_of(cell)) : 0;
      const bool few = end - begin <= kFewPoints;
      reduce<kFewLanes>(simt, cell, begin, few ? end : begin);
      auto many = simt.ballot(!few && end - begin <= kPiecePoints && simt.lane() % kFewLanes == 0);
      while (many != 0) {
        const unsigned of = simt.lowest(many);
        many &= many - 1;
        reduce<kWidth>(simt, row + of / kFewLanes, simt.shuffle(begin, of), simt.shuffle(end, of));
      }
    }
  }

 private:
  /// By a whole warp, `kLanes` of it for each cell; nothing is done for an empty one.
  template <unsigned kLanes, typename ContextT>
  SLUICE_SIMT void reduce(ContextT& simt, std::uint64_t number, std::uint32_t begin, std::uint32_t end) const {
    const unsigned lane = simt.lane() % kLanes;
    std::int64_t cell[3] = {0, 0, 0};
    if (begin != end) reduction.find_cell(simt, begin, cell);
    CentroidSums sums;
    std::uint32_t leader = begin;
    std::uint32_t own = end - begin;
    if constexpr (kMeans) {
      Parts parts;
      if (PointsT::kInGroups) {
        leader = BestPlace::kNone;
        own = 0;
      }
      for (std::uint32_t i = begin + lane; i < end; i += kLanes) {
        const NumberedPoint point = reduction.points.at(simt, i);
        if (!reduction.is_of(number, point)) continue;
        parts.add(reduction.spec.grid, point.position, cell);
        if (PointsT::kInGroups) {
          leader = simt::Least{}(leader, i);
          ++own;
        }
      }
      if (PointsT::kInGroups) {
        for (unsigned distance = kLanes / 2; distance > 0; distance /= 2) {
          leader = simt::Least{}(leader, simt.shuffle_xor(leader, distance));
          own += simt.shuffle_xor(own, distance);
        }
      }
      SLUICE_UNROLL
      for (unsigned k = 0; k < Parts::kCount; ++k) {
        for (unsigned distance = kLanes / 2; distance > 0; distance /= 2) {
          parts.words[k] += simt.shuffle_xor(parts.words[k], distance);
        }
      }
      sums = Parts::total(parts.words, own);
    }
    if (!reduction.chooses()) {
      if (own != 0 && lane == 0) reduction.write(simt, number, leader, leader, cell, sums);
      return;
    }
    BestPlace last;
    for (std::uint32_t round = 0; round < reduction.rounds(); ++round) {
      BestPlace best;
      for (std::uint32_t i = begin + lane; i < end; i += kLanes) {
        const NumberedPoint point = reduction.points.at(simt, i);
        if (reduction.is_of(number, point)) best.see({reduction.score(point, cell, sums), i}, last);
      }
      for (unsigned distance = kLanes / 2; distance > 0; distance /= 2) {
        const BestPlace other = {simt.shuffle_xor(best.score, distance), simt.shuffle_xor(best.place, distance)};
        if (other.is_before(best)) best = other;
      }
      if (best.exists() && lane == 0) reduction.write(simt, number, leader, best.place, cell, sums);
      if (round + 1 == reduction.rounds() || simt.ballot(best.exists()) == 0) return;
      if (best.exists()) last = best;
    }
  }

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void sum_piece(ContextT& simt, SharedT& shared, std::uint32_t number) const {
    const Piece piece = reduction.pieces.list[number];
    FullCell& full = reduction.pieces.cells[piece.first];
    std::int64_t cell[3] = {0, 0, 0};
    reduction.find_cell(simt, piece.begin, cell);
    Parts parts;
    std::uint64_t own = 0;
    for (std::uint32_t i = piece.begin + simt.thread(); i < piece.end; i += kThreads) {
      const NumberedPoint point = reduction.points.at(simt, i);
      if (!reduction.is_of(piece.cell, point)) continue;
      parts.add(reduction.spec.grid, point.position, cell);
      ++own;
    }
    if (PointsT::kInGroups) {
      own = simt::block_reduce(simt, own, shared.words, simt::Plus{});
      if (simt.thread() == 0) simt.template atomic_add<simt::Order::kRelaxed>(&full.points, own);
    }
    SLUICE_UNROLL
    for (unsigned k = 0; k < Parts::kCount; ++k) {
      const std::uint64_t sum = simt::block_reduce(simt, parts.words[k], shared.words, simt::Plus{});
      if (simt.thread() == 0) simt.template atomic_add<simt::Order::kRelaxed>(&full.words[k], sum);
    }
  }
};

/// For cells that are cut, once `ReduceCells` has their sums: the point nearest to the mean.
template <typename PointsT>
struct ChooseInPieces {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = PieceShared<kThreads, kWarpWidth>;

  CellReduction<PointsT, true> reduction;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const std::uint32_t pieces = *reduction.pieces.count;
    for (std::uint32_t p = simt.block(); p < pieces; p += simt.blocks()) {
      choose_in_piece<kThreads>(simt, shared, reduction, p);
    }
  }
};

}  // namespace sluice::kernels::bodies
