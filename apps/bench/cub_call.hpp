// SPDX-License-Identifier: Apache-2.0
/// \file
/// CUB's two-step calls with scratch that is taken once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

#include "gpu.hpp"

namespace sluice::bench {

/// Scratch that several calls of one composition share, as a careful user would.
class CubScratch {
 public:
  explicit CubScratch(Gpu& gpu) : gpu_(gpu) {}

  /// Makes room for a call. \param call  takes (void* scratch, std::size_t& bytes) and returns a status
  template <typename CallT>
  void reserve(const CallT& call) {
    std::size_t bytes = 0;
    SLUICE_BENCH_CHECK(call(nullptr, bytes));
    if (block_ == nullptr || block_->count() < bytes) {
      block_.reset();
      block_ = std::make_unique<DeviceArray<std::byte>>(gpu_.cuda(), std::max<std::size_t>(bytes, 256));
    }
  }
  template <typename CallT>
  void run(const CallT& call) const {
    std::size_t bytes = block_->count();
    SLUICE_BENCH_CHECK(call(static_cast<void*>(block_->data()), bytes));
  }

 private:
  Gpu& gpu_;
  std::unique_ptr<DeviceArray<std::byte>> block_;
};

}  // namespace sluice::bench
