// SPDX-License-Identifier: Apache-2.0
/// \file
/// Stands in for a workspace where only the size of what would be taken matters, so that one function both lays scratch
/// memory out and sizes it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sluice/kernels/stream.hpp"

namespace sluice::kernels::cuda {

class ScratchSize {
 public:
  template <typename T>
  T* take(std::uint64_t count) {
    bytes_ += Workspace::bytes_for<T>(count);
    return nullptr;
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

}  // namespace sluice::kernels::cuda
