// SPDX-License-Identifier: Apache-2.0
/// \file
/// Binning as other operations use it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/detail/device_predicate.hpp"
#include "kernels/cuda/detail/limits.hpp"
#include "sluice/core/cell_key.hpp"
#include "sluice/kernels/operations.hpp"
#include "sluice/kernels/stream.hpp"

namespace sluice::kernels::cuda {

/// Enqueues a binning into a layout that holds all points that the predicate keeps.
/// \param numbered  lattice points only, in a layout that `bodies::fast_cells` can handle and without a permutation:
///                  records get their numbers in the input as `w`
/// \param counts    in device memory
void enqueue_binning(const DevicePredicate& predicate, const BinSpec& spec, const KeyLayout& layout,
                     const PointInput& input, const BinOutputs& outputs, bool numbered, BinCounts* counts,
                     const DeviceLimits& limits, Workspace& workspace, StreamView stream);
[[nodiscard]] std::size_t binning_scratch(const DeviceLimits& limits, std::uint64_t count);

}  // namespace sluice::kernels::cuda
