// SPDX-License-Identifier: Apache-2.0
/// \file
/// Launches of kernel bodies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/simt/cuda/check.hpp"
#include "kernels/simt/cuda/context.cuh"
#include "sluice/kernels/stream.hpp"

namespace sluice::simt {

namespace detail {

template <typename KernelT>
using SharedT = typename KernelT::template Shared<CudaContext::kWarpWidth>;

/// Shared memory that a block gets without being asked for at the launch.
inline constexpr std::size_t kPlainShared = std::size_t{48} << 10;

/// Threads that a multiprocessor of the architecture at hand can hold.
constexpr unsigned threads_per_processor() {
#if !defined(__CUDA_ARCH__)
  return 2048;
#elif __CUDA_ARCH__ == 750
  return 1024;
#elif __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200
  return 1536;
#else
  return 2048;
#endif
}

/// Blocks that a multiprocessor shall hold at least, or as many as it can: registers are given out accordingly.
template <typename KernelT>
constexpr unsigned blocks_per_processor() {
  if constexpr (requires { KernelT::kBlocksPerProcessor; }) {
    constexpr unsigned kMost = threads_per_processor() / KernelT::kThreads;
    return KernelT::kBlocksPerProcessor < kMost ? KernelT::kBlocksPerProcessor : kMost;
  } else {
    return 1;
  }
}

// The kernel travels as a constant: its address may be taken and its arrays indexed without a copy per thread.
template <typename KernelT>
__global__ __launch_bounds__(KernelT::kThreads,
                             blocks_per_processor<KernelT>()) void entry(const __grid_constant__ KernelT kernel) {
#if __CUDA_ARCH__ >= 900
  // See `launch`: all that came before is complete and visible from here on, and blocks of the next launch may start to
  // wait for this one when all blocks of this one have started.
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  CudaContext simt;
  if constexpr (sizeof(SharedT<KernelT>) <= kPlainShared) {
    __shared__ SharedT<KernelT> shared;
    kernel(simt, shared);
  } else {
    extern __shared__ uint4 memory[];
    kernel(simt, *reinterpret_cast<SharedT<KernelT>*>(memory));
  }
}

/// Whether launches on the current device may start before the ones they wait for have ended.
inline bool starts_early() {
  int device = 0;
  int major = 0;
  SLUICE_CUDA_CHECK(cudaGetDevice(&device));
  SLUICE_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major >= 9;
}

}  // namespace detail

/// Enqueues `blocks` blocks of `KernelT::kThreads` threads; none where `blocks` is 0.
///
/// Where the device can, blocks are brought in while the launch before is still at its last ones, and wait there until
/// it has ended: that hides what a launch costs, and changes nothing else. \throws InvalidArgument for more than 2^31 -
/// 1 blocks; DeviceError
template <typename KernelT>
void launch(const KernelT& kernel, std::uint64_t blocks, kernels::StreamView stream) {
  static_assert(std::is_trivially_copyable_v<KernelT> && sizeof(KernelT) <= 4096, "it travels as parameters");
  if (blocks == 0) return;
  if (blocks > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) {
    throw InvalidArgument("a launch of more than 2^31 - 1 blocks");
  }
  std::size_t asked = 0;
  if constexpr (sizeof(detail::SharedT<KernelT>) > detail::kPlainShared) {
    asked = sizeof(detail::SharedT<KernelT>);
    SLUICE_CUDA_CHECK(cudaFuncSetAttribute(detail::entry<KernelT>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(asked)));
  }
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(KernelT::kThreads);
  config.dynamicSmemBytes = asked;
  config.stream = static_cast<cudaStream_t>(stream.handle());
  config.attrs = &early;
  config.numAttrs = detail::starts_early() ? 1 : 0;
  SLUICE_CUDA_CHECK(cudaLaunchKernelEx(&config, detail::entry<KernelT>, kernel));
}

}  // namespace sluice::simt
