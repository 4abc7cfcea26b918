// SPDX-License-Identifier: Apache-2.0
/// \file
/// The operations in tiles and blocks over the threads of the caller's arena. Up to `kSerialCount` points stay on the
/// calling thread. Results do not depend on the number of threads.
#pragma once

#include "sluice/kernels/operations.hpp"

namespace sluice::kernels {

class ParallelOperations final : public Operations {
 public:
  [[nodiscard]] std::shared_ptr<const PreparedPredicate> prepare(const PredicateProgram& program) override;
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
};

}  // namespace sluice::kernels
