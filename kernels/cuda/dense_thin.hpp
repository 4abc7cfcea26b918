// SPDX-License-Identifier: Apache-2.0
/// \file
/// Thinning to one point a cell without a sort, for ranges of cells that are not too large.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/detail/device_predicate.hpp"
#include "kernels/cuda/detail/limits.hpp"
#include "sluice/core/cell_key.hpp"
#include "sluice/kernels/operations.hpp"
#include "sluice/kernels/stream.hpp"

namespace sluice::kernels::cuda {

/// Most cells of a range that a table is kept for: clearing and reading it must cost less than a sort of the points.
constexpr std::uint64_t most_dense_cells(std::uint64_t count) {
  return std::max(std::min(16 * count, std::uint64_t{1} << 20), std::min(count, std::uint64_t{1} << 24));
}

/// True for policies that keep one point of each cell by what is known of that point alone.
inline bool takes_single_points(const ReduceSpec& spec) {
  return spec.max_per_cell == 1 && spec.policy != KeepPolicy::kCentroid && spec.policy != KeepPolicy::kNearestCentroid;
}

struct DenseTables {
  std::uint64_t* best;
  std::uint32_t* numbers;

  template <typename SourceT>
  static DenseTables take(SourceT& source, std::uint64_t count) {
    DenseTables out{};
    out.best = source.template take<std::uint64_t>(most_dense_cells(count));
    out.numbers = source.template take<std::uint32_t>(most_dense_cells(count));
    return out;
  }
};

/// Enqueues the marking of the points that stay.
/// \param layout  row-major, of a range that holds all points that the predicate keeps and no more cells than
///                `most_dense_cells`
/// \param mask    zero before; a bit for each point
/// \param counts  zero before; gets the points kept and rejected
void enqueue_dense_thin(const DevicePredicate& predicate, const ReduceSpec& spec, const KeyLayout& layout,
                        const PointInput& input, const DenseTables& tables, std::uint32_t* mask, SelectCounts* counts,
                        const DeviceLimits& limits, StreamView stream);

}  // namespace sluice::kernels::cuda
