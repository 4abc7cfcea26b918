// SPDX-License-Identifier: Apache-2.0
/// \file
/// Means of many small cells at once, and their nearest points, with the results of `add_point` and `centroid_score`.
///
/// Coordinates become whole numbers in doubles. As long as none passes `kMostSteps`, sums over at most `kMeanPoints`
/// points stay below 2^52 and differences from them below 2^53, so every one is exact and vector units can be used.
#pragma once

#include <cstdint>

#include "kernels/cpu/parallel/judge.hpp"
#include "sluice/core/cell_grid.hpp"

namespace sluice::kernels {

/// Points of one batch.
inline constexpr std::uint64_t kMeanPoints = kTile;
inline constexpr double kMostSteps = 0x1p42;

/// Whole cells, one behind the other, of two or more points each.
struct MeanBatch {
  TilePositions tile;
  std::uint64_t points = 0;
  std::uint64_t cells = 0;
  std::uint32_t end[kMeanPoints / 2];      ///< of each cell, among the points
  double cell[3][kMeanPoints];             ///< output of `take_steps`: of each point
  double steps[3][kMeanPoints];            ///< output: offsets from the cell's corner; lattice numbers
  double sum[3][kMeanPoints / 2];          ///< output of `find_nearest`: of steps, or of lattice numbers
  std::uint32_t nearest[kMeanPoints / 2];  ///< output of `find_nearest`: the first of the points nearest to the mean
};

/// Sets the steps of lattice points, which are their numbers.
void take_numbers(MeanBatch& batch);

/// Sets the cells and the steps of float points.
/// \return false where a number is too large; the batch is then of no more use
bool take_steps(const CellGrid& grid, MeanBatch& batch);

/// Sums and nearest points of the cells of a batch.
/// \param unit  what one step is in the measure of distances, per axis; 0 for an axis that is not measured
void find_nearest(const double unit[3], MeanBatch& batch);

}  // namespace sluice::kernels
