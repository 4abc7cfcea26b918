// SPDX-License-Identifier: Apache-2.0
/// \file
/// The operations of a device, composed from its primitives and the kernels that look at points. The Thrust backend has
/// these; the CUDA backend has better ones for most, see fused_operations.hpp.
#pragma once

#include <memory>

#include "kernels/cuda/detail/device.hpp"
#include "kernels/cuda/detail/device_primitives.hpp"
#include "sluice/core/memory_resource.hpp"
#include "sluice/kernels/operations.hpp"

namespace sluice::kernels::cuda {

class ComposedOperations : public Operations {
 public:
  /// Keeps references; both must outlive this.
  ComposedOperations(int device, DevicePrimitives& primitives, MemoryResource& memory)
      : device_(device), primitives_(primitives), memory_(memory), stream_(device) {}

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

 protected:
  [[nodiscard]] int device() const noexcept { return device_; }

 private:
  struct Ordering;
  struct Reduction;

  void order_by_cell(const PreparedPredicate& predicate, const BinSpec& spec, const PointInput& input, Ordering& out,
                     Workspace& workspace, StreamView stream);
  BinCounts bin_points(const PreparedPredicate& predicate, const BinSpec& spec, const PointInput& input,
                       const BinOutputs& outputs, KeyLayout& layout, Workspace& workspace, StreamView stream);
  void choose(const ReduceSpec& spec, const Reduction& reduction, StreamView stream);
  void flag_few(const ReduceSpec& spec, const Reduction& reduction, Workspace& workspace, StreamView stream);
  void write_centroids(const Reduction& reduction, std::uint64_t input_count, const ReduceOutputs& outputs,
                       Workspace& workspace, StreamView stream);

  int device_;
  DevicePrimitives& primitives_;
  MemoryResource& memory_;
  CudaStream stream_;  ///< for uploads of programs
};

}  // namespace sluice::kernels::cuda
