// SPDX-License-Identifier: Apache-2.0
/// \file
/// Centroids of lattice points that lie in the order of their cells.
#pragma once

#include <cstdint>

#include "kernels/cuda/bodies/judges.hpp"
#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"
#include "sluice/core/centroid.hpp"
#include "sluice/core/types.hpp"

namespace sluice::kernels::bodies {

/// Points by cell, `w` their numbers.
struct CellRuns {
  const Record16* points;
  const std::uint32_t* cell_first;
  std::uint64_t cells;
  std::uint64_t n;

  [[nodiscard]] SLUICE_SIMT std::uint32_t begin(std::uint64_t cell) const { return cell_first[cell]; }
  [[nodiscard]] SLUICE_SIMT std::uint32_t end(std::uint64_t cell) const {
    return cell + 1 < cells ? cell_first[cell + 1] : static_cast<std::uint32_t>(n);
  }
};

/// longest = points of the fullest cell; zero before.
struct FindLongestRun {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t warp_values[kThreads / kWarpWidth];
  };

  const Record16* points;
  const std::uint32_t* cell_first;
  const BinCounts* counts;
  std::uint32_t* longest;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const CellRuns runs{points, cell_first, counts->cells, counts->counts.kept};
    std::uint32_t most = 0;
    const std::uint64_t step = std::uint64_t{simt.blocks()} * kThreads;
    for (std::uint64_t c = std::uint64_t{simt.block()} * kThreads + simt.thread(); c < runs.cells; c += step) {
      most = simt::Greatest{}(most, runs.end(c) - runs.begin(c));
    }
    most = simt::block_reduce(simt, most, shared.warp_values, simt::Greatest{});
    if (simt.thread() == 0) simt.template atomic_max<simt::Order::kRelaxed>(longest, most);
  }
};

/// What is known of each cell, in the order of cells.
struct CellResults {
  std::uint32_t* leaders;  ///< number of the first point
  std::uint32_t* ranks;    ///< the cell itself
  std::uint32_t* nearest;  ///< number of the point nearest to the centroid, the first of several
  Record16* centroids;
};

/// \tparam kLanes  that share a cell: few for small cells, so that lanes are not idle
template <unsigned kLanes>
struct ReduceRuns {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kCells = kThreads / kLanes;  ///< of a block
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  CellRuns runs;
  CellGrid grid;
  double scale[3];
  CellResults results;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t cell = std::uint64_t{simt.block()} * kCells + simt.thread() / kLanes;
    const bool valid = cell < runs.cells;
    const unsigned lane = simt.thread() % kLanes;
    const std::uint32_t begin = valid ? runs.begin(cell) : 0;
    const std::uint32_t end = valid ? runs.end(cell) : 0;
    std::int64_t sum[3] = {0, 0, 0};
    for (std::uint32_t i = begin + lane; i < end; i += kLanes) {
      const Record16 p = simt.load_vector(runs.points + i);
      sum[0] += p.x;
      sum[1] += p.y;
      sum[2] += p.z;
    }
    CentroidSums sums;
    for (int d = 0; d < 3; ++d) {
      for (unsigned distance = kLanes / 2; distance > 0; distance /= 2) sum[d] += simt.shuffle_xor(sum[d], distance);
      sums.sum[d] = sum[d];
    }
    sums.count = end - begin;
    std::uint64_t best = ~std::uint64_t{0};
    std::uint32_t best_at = ~std::uint32_t{0};
    for (std::uint32_t i = begin + lane; i < end; i += kLanes) {
      const Position position = position_of(simt.load_vector(runs.points + i), CoordinateKind::kLattice);
      const std::uint64_t score = centroid_score(grid, scale, sums, position, nullptr);
      if (score < best || best_at == ~std::uint32_t{0}) {
        best = score;
        best_at = i;
      }
    }
    for (unsigned distance = kLanes / 2; distance > 0; distance /= 2) {
      const std::uint64_t other = simt.shuffle_xor(best, distance);
      const std::uint32_t other_at = simt.shuffle_xor(best_at, distance);
      if (other < best || (other == best && other_at < best_at)) {
        best = other;
        best_at = other_at;
      }
    }
    if (!valid || lane != 0) return;
    results.leaders[cell] = runs.points[begin].w;
    results.ranks[cell] = static_cast<std::uint32_t>(cell);
    results.nearest[cell] = runs.points[best_at].w;
    results.centroids[cell] = lattice_centroid(sums);
  }
};

/// Writes what is known of the cells in another order.
struct WriteCells {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  CellResults results;
  const std::uint32_t* order;
  std::uint64_t cells;
  // Each may be null.
  std::uint32_t* nearest;
  Record16* centroids;
  std::uint32_t* ranks;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t at = std::uint64_t{simt.block()} * kThreads + simt.thread();
    if (at >= cells) return;
    const std::uint32_t cell = order[at];
    if (nearest != nullptr) nearest[at] = results.nearest[cell];
    if (centroids != nullptr) centroids[at] = results.centroids[cell];
    if (ranks != nullptr) ranks[at] = cell;
  }
};

/// out[i] = number of point i.
struct TakeNumbers {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const Record16* points;
  std::uint64_t n;
  std::uint32_t* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t at = std::uint64_t{simt.block()} * kThreads + simt.thread();
    if (at < n) out[at] = points[at].w;
  }
};

}  // namespace sluice::kernels::bodies
