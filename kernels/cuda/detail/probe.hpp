// SPDX-License-Identifier: Apache-2.0
/// \file
/// Whether this build has code for a device.
#pragma once

#include <cuda_runtime_api.h>

namespace sluice::kernels::cuda {

/// Status of looking up a kernel of this build on the current device: `cudaSuccess` where there is code for it.
[[nodiscard]] cudaError_t probe_code() noexcept;

}  // namespace sluice::kernels::cuda
