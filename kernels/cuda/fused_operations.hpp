// SPDX-License-Identifier: Apache-2.0
/// \file
/// The operations of the CUDA backend: `select` in one pass over the points, `bin` without a look at the host between
/// its passes, `reduce_cells` by a table of cells or from points in cell order, with one wait at its end, and one
/// before where the predicate is no box.
#pragma once

#include "kernels/cuda/composed_operations.hpp"

namespace sluice::kernels::cuda {

class FusedOperations final : public ComposedOperations {
 public:
  using ComposedOperations::ComposedOperations;

  void select(const PreparedPredicate& predicate, const PointInput& input, const SelectOutputs& outputs,
              Workspace& workspace, StreamView stream) override;
  [[nodiscard]] std::size_t select_scratch(std::uint64_t count) const override;
  BinResult bin(const PreparedPredicate& predicate, const BinSpec& spec, const PointInput& input,
                const BinOutputs& outputs, Workspace& workspace, StreamView stream) override;
  [[nodiscard]] std::size_t bin_scratch(const BinSpec& spec, std::uint64_t count) const override;
  void enqueue_bin(const PreparedPredicate& predicate, const BinSpec& spec, const PointInput& input,
                   const BinOutputs& outputs, BinCounts* counts, Workspace& workspace, StreamView stream) override;
  ReduceResult reduce_cells(const PreparedPredicate& predicate, const ReduceSpec& spec, const PointInput& input,
                            const ReduceOutputs& outputs, Workspace& workspace, StreamView stream) override;
  [[nodiscard]] std::size_t reduce_cells_scratch(const ReduceSpec& spec, std::uint64_t count) const override;

 private:
  /// Counts, and the range of the cells of kept points.
  struct JudgedCells {
    SelectCounts counts;
    CellRange occupied;  ///< meaningless where nothing is kept
  };

  /// Looks at all points; waits. \throws Unsupported where a kept point has no cell
  [[nodiscard]] JudgedCells judge_cells(const PreparedPredicate& predicate, const CellGrid& grid,
                                        const PointInput& input, Workspace& workspace, StreamView stream) const;
  [[nodiscard]] static std::size_t judge_cells_scratch();
};

}  // namespace sluice::kernels::cuda
