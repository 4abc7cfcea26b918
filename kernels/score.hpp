// SPDX-License-Identifier: Apache-2.0
/// \file
/// What orders the points of a cell under a policy: the lowest score stays, ties go to the lowest index.
#pragma once

#include <cstdint>

#include "sluice/core/cell_grid.hpp"
#include "sluice/core/centroid.hpp"
#include "sluice/core/hd.hpp"
#include "sluice/core/radix_key.hpp"
#include "sluice/core/random.hpp"
#include "sluice/kernels/operations.hpp"

namespace sluice::kernels {

/// Orders points by height.
SLUICE_HD std::uint64_t height_score(const Positions& positions, const Position& position) {
  if (positions.kind != CoordinateKind::kLattice) return radix_key(position.world[2]);
  // A lattice number falls as z rises where the scale is negative.
  const std::int64_t raw = position.raw[2];
  return radix_key(positions.scale[2] < 0.0 ? -raw : raw);
}

/// \param cell  the point's cell
/// \param sums  of the whole cell; read by kNearestCentroid and kCentroid only
/// \param index of the point in the whole input
SLUICE_HD std::uint64_t point_score(const ReduceSpec& spec, const Positions& positions, const Position& position,
                                    const std::int64_t cell[3], const CentroidSums& sums, std::uint64_t index) {
  switch (spec.policy) {
    case KeepPolicy::kCenter:
      return center_score(spec.grid, position, cell);
    case KeepPolicy::kCentroid:
    case KeepPolicy::kNearestCentroid:
      return centroid_score(spec.grid, positions.scale, sums, position, cell);
    case KeepPolicy::kLowest:
      return height_score(positions, position);
    case KeepPolicy::kHighest:
      return ~height_score(positions, position);
    case KeepPolicy::kRandom:
      return counter_random(spec.seed, cell, index);
    default:
      return 0;
  }
}

}  // namespace sluice::kernels
