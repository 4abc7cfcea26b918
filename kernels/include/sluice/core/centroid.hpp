// SPDX-License-Identifier: Apache-2.0
/// \file
/// The mean of the points of a cell, and how far a point is from it.
///
/// Sums are integers, so that they do not depend on the order of the points: lattice numbers on a lattice, else offsets
/// from the cell's corner (`corner_steps`). Distances are measured in world units times the number of points, which
/// orders the points of one cell as the true distance does and needs no division.
#pragma once

#include <cmath>
#include <cstdint>

#include "sluice/core/cell_grid.hpp"
#include "sluice/core/hd.hpp"
#include "sluice/core/int128.hpp"
#include "sluice/core/types.hpp"

namespace sluice {

/// Exact sums over points of one cell; they may be added up in any order.
/// On a lattice a sum fits 64 bits, as at most 2^31 points are summed; for float clouds it may need more.
struct CentroidSums {
  int128 sum[3] = {0, 0, 0};
  std::uint64_t count = 0;
};

/// Adds one point. For float clouds `cell` must be the point's cell; on a lattice it is not read.
SLUICE_HD void add_point(CentroidSums& sums, const CellGrid& grid, const Position& position,
                         const std::int64_t cell[3]) {
  for (int d = 0; d < 3; ++d) {
    sums.sum[d] += grid.kind == CoordinateKind::kLattice ? position.raw[d] : corner_steps(grid, position, cell, d);
  }
  ++sums.count;
}

/// Squared distance of a point of the cell to the cell's centroid, times the squared number of points, as the double
/// `(dx*dx + dy*dy) + dz*dz`; columns are measured in x and y only. Not negative, so its bits order as it does.
/// \param scale  of the lattice, per axis; not read for float clouds
SLUICE_HD double centroid_distance(const CellGrid& grid, const double scale[3], const CentroidSums& sums,
                                   const Position& position, const std::int64_t cell[3]) {
  double delta[3] = {0.0, 0.0, 0.0};
  const int axes = grid.use_z ? 3 : 2;
  for (int d = 0; d < axes; ++d) {
    if (grid.kind == CoordinateKind::kLattice) {
      // |n * X - sum| <= n * 2^32 < 2^63.
      const std::int64_t difference =
          static_cast<std::int64_t>(sums.count) * position.raw[d] - static_cast<std::int64_t>(sums.sum[d]);
      delta[d] = static_cast<double>(difference) * fabs(scale[d]);
    } else {
      const int128 difference = static_cast<int128>(sums.count) * corner_steps(grid, position, cell, d) - sums.sum[d];
      delta[d] = to_double(difference) * grid.axis[d].size;
    }
  }
  return (delta[0] * delta[0] + delta[1] * delta[1]) + delta[2] * delta[2];
}

/// Score of a point for `kNearestCentroid`, and for the choice of a centroid's representative: the lowest wins.
SLUICE_HD std::uint64_t centroid_score(const CellGrid& grid, const double scale[3], const CentroidSums& sums,
                                       const Position& position, const std::int64_t cell[3]) {
  return detail::bits_of(centroid_distance(grid, scale, sums, position, cell));
}

/// The centroid on a lattice: means rounded half to even, so that one point stays where it is. `w` is the count.
SLUICE_HD Record16 lattice_centroid(const CentroidSums& sums) {
  const auto count = static_cast<std::int64_t>(sums.count);
  return Record16{static_cast<std::int32_t>(mean_half_even(static_cast<std::int64_t>(sums.sum[0]), count)),
                  static_cast<std::int32_t>(mean_half_even(static_cast<std::int64_t>(sums.sum[1]), count)),
                  static_cast<std::int32_t>(mean_half_even(static_cast<std::int64_t>(sums.sum[2]), count)),
                  static_cast<std::uint32_t>(sums.count)};
}

/// The centroid of float points in world units. `w` is the count.
/// \param only  a point of the cell: where it is the only one, it is the centroid as it stands
SLUICE_HD Record32 world_centroid(const CellGrid& grid, const CentroidSums& sums, const std::int64_t cell[3],
                                  const Position& only) {
  if (sums.count == 1) return Record32{only.world[0], only.world[1], only.world[2], 1};
  return Record32{corner_mean(grid, cell, 0, sums.sum[0], sums.count),
                  corner_mean(grid, cell, 1, sums.sum[1], sums.count),
                  corner_mean(grid, cell, 2, sums.sum[2], sums.count), sums.count};
}

}  // namespace sluice
