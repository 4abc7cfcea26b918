// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/bodies/cells.hpp"
#include "kernels/cuda/detail/probe.hpp"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::cuda {

cudaError_t probe_code() noexcept {
  cudaFuncAttributes attributes;
  const cudaError_t status = cudaFuncGetAttributes(&attributes, simt::detail::entry<bodies::CountUp>);
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
  return status;
}

}  // namespace sluice::kernels::cuda
