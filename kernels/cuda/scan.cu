// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/detail/arguments.hpp"
#include "kernels/cuda/primitives.hpp"
#include "kernels/cuda/scan.cuh"

namespace sluice::kernels::cuda {

void CudaPrimitives::exclusive_scan(const std::uint32_t* in, std::uint64_t n, std::uint64_t* out, std::uint64_t* total,
                                    Workspace& workspace, StreamView stream) {
  check_count(n);
  const ScopedDevice current(device());
  scan(in, n, out, total, workspace, stream);
}

std::size_t CudaPrimitives::exclusive_scan_scratch(std::uint64_t n) const { return scan_scratch(n); }

std::unique_ptr<DevicePrimitives> make_cuda_primitives(int device) { return std::make_unique<CudaPrimitives>(device); }

}  // namespace sluice::kernels::cuda
