// SPDX-License-Identifier: Apache-2.0
/// \file
/// Points in the order of their cells, and the pieces that full cells are cut into.
#pragma once

#include <cstdint>

#include "kernels/cuda/bodies/bits.hpp"
#include "kernels/cuda/bodies/fast_cells.hpp"
#include "kernels/cuda/bodies/judges.hpp"
#include "kernels/simt/words.hpp"
#include "sluice/core/types.hpp"
#include "sluice/kernels/operations.hpp"

namespace sluice::kernels::bodies {

/// A point and its number in the input.
struct NumberedPoint {
  Position position;
  std::uint32_t number;
};

/// Lattice points that lie in cell order themselves, their numbers in the place of `w`.
///
/// \tparam kGrouped  a run is that of 2^bits cells side by side in x, whose points are in input order: the lowest bits
/// of
///                   the key were left out of the sort
template <bool kGrouped>
struct CarriedPoints {
  static constexpr bool kOnlyLattice = true;
  static constexpr bool kInGroups = kGrouped;

  const Record16* points;
  FastAxis axis;  ///< with `kGrouped`: x
  unsigned bits;  ///< likewise

  [[nodiscard]] SLUICE_SIMT unsigned group_bits() const { return kGrouped ? bits : 0; }
  /// Which cell of its group a point is in.
  [[nodiscard]] SLUICE_SIMT std::uint32_t part_of(const NumberedPoint& point) const {
    return kGrouped ? axis.cell(point.position.raw[0]) & ((1U << bits) - 1) : 0;
  }
  template <typename ContextT>
  [[nodiscard]] SLUICE_SIMT NumberedPoint at(ContextT& simt, std::uint32_t place) const {
    const Record16 point = simt.load_vector(points + place);
    return {position_of(point, CoordinateKind::kLattice), point.w};
  }
  [[nodiscard]] SLUICE_SIMT std::uint32_t number(std::uint32_t place) const { return points[place].w; }
};

/// Points of any kind that lie where the input has them; their numbers come in cell order.
struct ListedPoints {
  static constexpr bool kOnlyLattice = false;
  static constexpr bool kInGroups = false;

  Positions positions;
  const std::uint32_t* numbers;

  [[nodiscard]] SLUICE_SIMT unsigned group_bits() const { return 0; }
  [[nodiscard]] SLUICE_SIMT std::uint32_t part_of(const NumberedPoint& /*point*/) const { return 0; }
  template <typename ContextT>
  [[nodiscard]] SLUICE_SIMT NumberedPoint at(ContextT& simt, std::uint32_t place) const {
    const std::uint32_t number = numbers[place];
    return {load_point(simt, positions, number), number};
  }
  [[nodiscard]] SLUICE_SIMT std::uint32_t number(std::uint32_t place) const { return numbers[place]; }
};

/// Where the points of each cell, or of each group of cells, are; complete before the launch.
struct CellRuns {
  const std::uint32_t* cell_first;
  const BinCounts* counts;

  [[nodiscard]] SLUICE_SIMT std::uint64_t count() const { return counts->cells; }
  [[nodiscard]] SLUICE_SIMT std::uint32_t begin(std::uint64_t run) const { return cell_first[run]; }
  [[nodiscard]] SLUICE_SIMT std::uint32_t end(std::uint64_t run) const {
    return run + 1 < counts->cells ? cell_first[run + 1] : static_cast<std::uint32_t>(counts->counts.kept);
  }
};

/// Cells of more points are worked on by many blocks: a warp that has one to itself would keep all others waiting.
inline constexpr std::uint32_t kPiecePoints = 2048;

/// Most points that a cell keeps by their scores: each takes a look at all of them.
inline constexpr std::uint32_t kMostChosen = 8;

/// Most bits of `CarriedPoints::bits`.
inline constexpr unsigned kMostGroupBits = 2;

/// Points of a full cell that one block works on; those of other cells of its group lie among them.
struct Piece {
  std::uint32_t cell;   ///< of a group: 2^bits for each run
  std::uint32_t first;  ///< the first piece of the cell, whose place in `CellPieces::cells` the cell has
  std::uint32_t begin;
  std::uint32_t end;
};

/// What the pieces of a cell share.
struct FullCell {
  std::uint64_t words[6];  ///< of the sums
  std::uint64_t points;    ///< of a group's cell: counted with the sums
  std::uint32_t leader;    ///< place of the first point
  std::uint32_t pieces;
  std::uint32_t done;
};

/// One of the best points of a piece.
struct PieceBest {
  std::uint64_t score;
  std::uint32_t place;
};

struct CellPieces {
  Piece* list;  ///< those of a cell side by side, in order
  FullCell* cells;
  PieceBest* bests;      ///< as many for each piece as a cell keeps
  std::uint32_t* count;  ///< zero before

  /// Most pieces of so many points: a run that is cut has at least one full piece, and at most one that is not.
  static constexpr std::uint64_t room(std::uint64_t points) { return 2 * (points / kPiecePoints) << kMostGroupBits; }

  /// Cuts a cell of some points from `begin` on; called by a whole warp.
  /// \param own  how many of the points are its own, as far as is known
  template <typename ContextT>
  SLUICE_SIMT void add(ContextT& simt, std::uint32_t cell, std::uint32_t begin, std::uint32_t points,
                       std::uint32_t leader, std::uint32_t own) const {
    const std::uint32_t pieces = (points - 1) / kPiecePoints + 1;
    std::uint32_t first = 0;
    if (simt.lane() == 0) first = simt.template atomic_add<simt::Order::kRelaxed>(count, pieces);
    first = simt.shuffle(first, 0);
    for (std::uint32_t p = simt.lane(); p < pieces; p += ContextT::kWarpWidth) {
      const std::uint32_t from = p * kPiecePoints;
      list[first + p] = {cell, first, begin + from, begin + simt::Least{}(points, from + kPiecePoints)};
    }
    if (simt.lane() == 0) cells[first] = {{0, 0, 0, 0, 0, 0}, own, leader, pieces, 0};
  }
};

/// Looks at where each cell begins and ends: marks its first point, and cuts it where it is full.
template <typename PointsT>
struct MarkCells {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  PointsT points;
  CellRuns runs;
  CellPieces pieces;
  std::uint32_t reach;     ///< points of a cell that matter
  std::uint32_t* leaders;  ///< mask of the first points, zero before; may be null
  std::uint32_t* ends;     ///< where the cells begin; gets where the last one ends. May be null

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t cells = runs.count();
    if (simt.block() == 0 && simt.thread() == 0 && ends != nullptr) {
      ends[cells] = static_cast<std::uint32_t>(runs.counts->counts.kept);
    }
    const std::uint64_t step = std::uint64_t{simt.blocks()} * kThreads;
    for (std::uint64_t row = std::uint64_t{simt.block()} * kThreads + simt.thread() - simt.lane(); row < cells;
         row += step) {
      const std::uint64_t cell = row + simt.lane();
      const bool valid = cell < cells;
      const std::uint32_t begin = valid ? runs.begin(cell) : 0;
      const std::uint32_t some = valid ? simt::Least{}(runs.end(cell) - begin, reach) : 0;
      if (valid && leaders != nullptr) mark_point(simt, leaders, points.number(begin));
      auto full = simt.ballot(some > kPiecePoints);
      while (full != 0) {
        const unsigned of = simt.lowest(full);
        full &= full - 1;
        const std::uint32_t from = simt.shuffle(begin, of);
        const std::uint32_t n = simt.shuffle(some, of);
        pieces.add(simt, static_cast<std::uint32_t>(row + of), from, n, from, n);
      }
    }
  }
};

/// The same for groups of cells: a warp looks at each until it has seen the first point of all its cells.
struct MarkGroupedCells {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  CarriedPoints<true> points;
  CellRuns runs;
  CellPieces pieces;
  std::uint32_t* leaders;  ///< may be null

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    constexpr unsigned kWarps = kThreads / ContextT::kWarpWidth;
    const std::uint64_t count = runs.count();
    const std::uint64_t step = std::uint64_t{simt.blocks()} * kWarps;
    for (std::uint64_t run = std::uint64_t{simt.block()} * kWarps + simt.warp(); run < count; run += step) {
      mark_group(simt, run, runs.begin(run), runs.end(run));
    }
  }

 private:
  template <typename ContextT>
  SLUICE_SIMT void mark_group(ContextT& simt, std::uint64_t run, std::uint32_t begin, std::uint32_t end) const {
    const bool full = end - begin > kPiecePoints;
    if (!full && leaders == nullptr) return;
    std::uint32_t missing = (1U << (1U << points.bits)) - 1;  // a bit for each cell
    for (std::uint32_t from = begin; from < end && missing != 0; from += ContextT::kWarpWidth) {
      const std::uint32_t at = from + simt.lane();
      NumberedPoint point{};
      if (at < end) point = points.at(simt, at);
      const std::uint32_t part = at < end ? points.part_of(point) : ~std::uint32_t{0};
      for (std::uint32_t of = 0; of < (1U << points.bits); ++of) {
        const auto those = simt.ballot(part == of);
        if (those == 0 || (missing >> of & 1) == 0) continue;
        missing &= ~(1U << of);
        const unsigned lead = simt.lowest(those);
        if (leaders != nullptr && simt.lane() == lead) mark_point(simt, leaders, point.number);
        const auto cell = static_cast<std::uint32_t>(run << points.bits | of);
        if (full) pieces.add(simt, cell, begin, end - begin, from + lead, 0);
      }
    }
  }
};

/// Marks the first points of each cell, as many as `MarkCells` was told.
template <typename PointsT>
struct MarkFirstFew {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kLanes = 4;  ///< that share a cell
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  PointsT points;
  CellRuns runs;
  CellPieces pieces;
  std::uint32_t most;
  std::uint32_t* mask;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint32_t piece_count = *pieces.count;
    for (std::uint32_t p = simt.block(); p < piece_count; p += simt.blocks()) {
      const Piece piece = pieces.list[p];
      for (std::uint32_t i = piece.begin + simt.thread(); i < piece.end; i += kThreads) {
        mark_point(simt, mask, points.number(i));
      }
    }
    const std::uint64_t cells = runs.count();
    const std::uint64_t step = std::uint64_t{simt.blocks()} * (kThreads / kLanes);
    for (std::uint64_t cell = (std::uint64_t{simt.block()} * kThreads + simt.thread()) / kLanes; cell < cells;
         cell += step) {
      const std::uint32_t begin = runs.begin(cell);
      const std::uint32_t some = simt::Least{}(runs.end(cell) - begin, most);
      if (some > kPiecePoints) continue;
      for (std::uint32_t i = simt.lane() % kLanes; i < some; i += kLanes) {
        mark_point(simt, mask, points.number(begin + i));
      }
    }
  }
};

/// out[i] = number of point i in cell order.
struct TakeNumbers {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  CarriedPoints<false> points;
  const std::uint64_t* n;
  std::uint32_t* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t step = std::uint64_t{simt.blocks()} * kThreads;
    for (std::uint64_t i = std::uint64_t{simt.block()} * kThreads + simt.thread(); i < *n; i += step) {
      out[i] = points.number(static_cast<std::uint32_t>(i));
    }
  }
};

}  // namespace sluice::kernels::bodies
