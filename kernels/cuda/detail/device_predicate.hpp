// SPDX-License-Identifier: Apache-2.0
/// \file
/// A predicate program in device memory.
#pragma once

#include <cstdint>
#include <optional>

#include "sluice/core/memory_resource.hpp"
#include "sluice/core/predicate_program.hpp"
#include "sluice/kernels/operations.hpp"
#include "sluice/kernels/stream.hpp"

namespace sluice::kernels::cuda {

/// A program with its tables in one block of device memory.
class DevicePredicate final : public PreparedPredicate {
 public:
  /// Waits for the copy. \throws Unsupported for more columns than a launch can take
  DevicePredicate(const PredicateProgram& program, MemoryResource& memory, StreamView stream);

  /// The program as a kernel reads it, but for its columns.
  [[nodiscard]] const PredicateView& view() const { return view_; }
  [[nodiscard]] std::uint32_t columns() const { return columns_; }
  /// The one box that the program is, where it is that and nothing more.
  [[nodiscard]] const std::optional<PredicateOp>& box() const { return box_; }
  /// True where the program keeps every finite point.
  [[nodiscard]] bool keeps_all() const { return keeps_all_; }

 private:
  std::uint32_t columns_;
  PredicateView view_;
  std::optional<PredicateOp> box_;
  bool keeps_all_;
  MemoryBlock block_;
};

/// \throws InvalidArgument for one that another backend has prepared
[[nodiscard]] const DevicePredicate& device_predicate(const PreparedPredicate& predicate);

/// Refuses arguments before scratch is taken for them, as the host backends do.
void check_arguments(const PreparedPredicate& predicate, const PointInput& input);

}  // namespace sluice::kernels::cuda
