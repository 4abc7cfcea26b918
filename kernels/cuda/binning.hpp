// SPDX-License-Identifier: Apache-2.0
/// \file
/// Binning as other operations use it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/detail/device_predicate.hpp"
#include "kernels/cuda/detail/limits.hpp"
#include "sluice/core/cell_grid.hpp"
#include "sluice/core/cell_key.hpp"
#include "sluice/core/types.hpp"
#include "sluice/kernels/operations.hpp"
#include "sluice/kernels/stream.hpp"

namespace sluice::kernels::cuda {

/// Points in the order of their cells, with their numbers in the input as `w`; room for all points of the input.
struct NumberedPoints {
  Record16* points;
  std::uint32_t* cell_first;  ///< where each occupied cell starts
};

/// Enqueues the binning of lattice points into a row-major layout that `bodies::fast_cells` can handle.
/// \param counts  in device memory
void enqueue_numbered_points(const DevicePredicate& predicate, const CellGrid& grid, const KeyLayout& layout,
                             const PointInput& input, const NumberedPoints& out, BinCounts* counts,
                             const DeviceLimits& limits, Workspace& workspace, StreamView stream);
[[nodiscard]] std::size_t numbered_points_scratch(const DeviceLimits& limits, std::uint64_t count);

}  // namespace sluice::kernels::cuda
