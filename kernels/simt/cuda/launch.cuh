// SPDX-License-Identifier: Apache-2.0
/// \file
/// Launches of kernel bodies.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/simt/cuda/check.hpp"
#include "kernels/simt/cuda/context.cuh"
#include "sluice/kernels/stream.hpp"

namespace sluice::simt {

namespace detail {

// The kernel travels as a constant: its address may be taken and its arrays indexed without a copy per thread.
template <typename KernelT>
__global__ __launch_bounds__(KernelT::kThreads) void entry(const __grid_constant__ KernelT kernel) {
  __shared__ typename KernelT::template Shared<CudaContext::kWarpWidth> shared;
  CudaContext simt;
  kernel(simt, shared);
}

}  // namespace detail

/// Enqueues `blocks` blocks of `KernelT::kThreads` threads; none where `blocks` is 0.
/// \throws InvalidArgument for more than 2^31 - 1 blocks; DeviceError
template <typename KernelT>
void launch(const KernelT& kernel, std::uint64_t blocks, kernels::StreamView stream) {
  if (blocks == 0) return;
  if (blocks > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) {
    throw InvalidArgument("a launch of more than 2^31 - 1 blocks");
  }
  detail::entry<KernelT>
      <<<static_cast<unsigned>(blocks), KernelT::kThreads, 0, static_cast<cudaStream_t>(stream.handle())>>>(kernel);
  SLUICE_CUDA_CHECK(cudaGetLastError());
}

}  // namespace sluice::simt
