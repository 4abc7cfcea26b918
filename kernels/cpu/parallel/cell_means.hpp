// SPDX-License-Identifier: Apache-2.0
/// \file
/// Means of many small cells at once, or of a large one in parts, and the points nearest to them, with the results of
/// `add_point` and `centroid_score`.
///
/// Coordinates become whole numbers in doubles. As long as none passes `most_steps` of the number of points, sums stay
/// below 2^52 and differences from them below 2^53, so every one is exact and vector units can be used.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/cpu/parallel/judge.hpp"
#include "sluice/core/cell_grid.hpp"

namespace sluice::kernels {

/// Points of one batch.
inline constexpr std::uint64_t kMeanPoints = kTile;

/// The largest number that `count` points of a cell may have.
inline double most_steps(std::uint64_t count) { return 0x1p52 / static_cast<double>(std::bit_ceil(count)); }

/// Whole cells, one behind the other, or a part of one.
struct MeanBatch {
  TilePositions tile;
  std::uint64_t points = 0;
  std::uint64_t cells = 0;
  std::uint32_t end[kMeanPoints];      ///< of each cell, among the points
  double cell[3][kMeanPoints];         ///< output of `take_steps`: of each point
  double steps[3][kMeanPoints];        ///< output: offsets from the cell's corner; lattice numbers
  double sum[3][kMeanPoints];          ///< output of `find_nearest`: of steps, or of lattice numbers
  std::uint32_t nearest[kMeanPoints];  ///< output of `find_nearest`: the first of the points nearest to the mean
};

/// Sets the steps of lattice points, which are their numbers.
void take_numbers(MeanBatch& batch);

/// Sets the cells and the steps of float points.
/// \param most  largest step, at most `most_steps` of the points of any cell
/// \return false where a number is too large; the batch is then of no more use
bool take_steps(const CellGrid& grid, double most, MeanBatch& batch);

/// Sums and nearest points of the cells of a batch.
/// \param unit  what one step is in the measure of distances, per axis; 0 for an axis that is not measured
void find_nearest(const double unit[3], MeanBatch& batch);

/// Adds the steps of all points of a batch to sums.
void add_steps(const MeanBatch& batch, double sum[3]);

struct NearestPoint {
  std::uint32_t at;
  double distance;
};

/// The first of the points of a batch nearest to the mean of `count` points with the given sums.
NearestPoint nearest_point(const double unit[3], double count, const double sum[3], const MeanBatch& batch);

}  // namespace sluice::kernels
