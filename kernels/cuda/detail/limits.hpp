// SPDX-License-Identifier: Apache-2.0
/// \file
/// What decides how kernels are shaped for a device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/simt/cuda/check.hpp"

namespace sluice::kernels::cuda {

struct DeviceLimits {
  unsigned multiprocessors;
  std::size_t shared_per_block;  ///< bytes that a block can ask for

  /// Of a device that is current.
  static DeviceLimits of(int device) {
    int processors = 0;
    int shared = 0;
    SLUICE_CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    SLUICE_CUDA_CHECK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    return {static_cast<unsigned>(processors), static_cast<std::size_t>(shared)};
  }
  /// Shapes that fill a multiprocessor with few large tiles were measured where it has 227 KiB.
  [[nodiscard]] bool has_large_shared() const { return shared_per_block >= (std::size_t{227} << 10); }
  /// The least number of items whose large tiles keep all multiprocessors busy, from what was measured with 132 of
  /// them.
  [[nodiscard]] std::uint64_t large_from(std::uint64_t measured) const { return measured * multiprocessors / 132; }
};

}  // namespace sluice::kernels::cuda
