// SPDX-License-Identifier: Apache-2.0
/// \file
/// Means of many small cells at once, and their nearest points, with the results of `add_point` and `centroid_score`.
///
/// Coordinates become whole numbers in doubles. As long as none passes `kMostSteps`, sums over at most `kMeanPoints`
/// points stay below 2^52 and differences from them below 2^53, so every one is exact and vector units can be used.
#pragma once

#include <cstdint>

#include "sluice/core/cell_grid.hpp"
#include "sluice/core/types.hpp"

namespace sluice::kernels {

/// Points of one batch: its coordinates fit the first cache.
inline constexpr std::uint64_t kMeanPoints = 1024;
inline constexpr double kMostSteps = 0x1p42;

/// Whole cells, one behind the other, of two or more points each.
struct MeanBatch {
  double value[3][kMeanPoints];  ///< offsets of float points from their cell's corner; lattice numbers
  std::uint64_t points = 0;
  std::uint64_t cells = 0;
  std::uint32_t end[kMeanPoints / 2];      ///< of each cell, among the points
  double sum[3][kMeanPoints / 2];          ///< output: of steps, or of lattice numbers
  std::uint32_t nearest[kMeanPoints / 2];  ///< output: the first of the points nearest to the mean
};

/// Turns offsets of float points into whole steps.
/// \return false where one is beyond `kMostSteps`; the batch is then of no more use
bool round_offsets(const CellGrid& grid, MeanBatch& batch);

/// Sums and nearest points of the cells of a batch.
/// \param unit  what one step is in the measure of distances, per axis; 0 for an axis that is not measured
void find_nearest(const double unit[3], MeanBatch& batch);

}  // namespace sluice::kernels
