// SPDX-License-Identifier: Apache-2.0
/// \file
/// Orders the points that a predicate keeps by the keys of their cells: the common part of `bin` and `reduce_cells`.
#pragma once

#include <cstdint>

#include "kernels/cpu/parallel/judge.hpp"
#include "sluice/core/cell_grid.hpp"
#include "sluice/core/cell_key.hpp"
#include "sluice/kernels/operations.hpp"
#include "sluice/kernels/stream.hpp"

namespace sluice::kernels {

struct CellOrdering {
  SelectCounts counts;  ///< kept: those in the outputs
  std::uint64_t cells = 0;
  std::uint64_t outside = 0;  ///< kept points outside a given range, which are not in the outputs
  KeyLayout layout;
};

/// \param permutation  receives the kept points by (key, index)
/// \param cell_keys    receives the keys of the occupied cells; may be null
/// \param cell_first   receives where each cell starts in `permutation`; may be null
/// \throws Unsupported before anything is written to the outputs
CellOrdering order_by_cell(const Judge& judge, const BinSpec& spec, std::uint32_t* permutation,
                           std::uint64_t* cell_keys, std::uint32_t* cell_first, Workspace& workspace);
[[nodiscard]] std::size_t order_by_cell_scratch(std::uint64_t count);

}  // namespace sluice::kernels
