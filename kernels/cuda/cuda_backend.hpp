// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the registry needs to know of the CUDA backends; no CUDA header is needed to include this.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sluice/kernels/backend.hpp"
#include "sluice/kernels/registry.hpp"

namespace sluice::kernels {

/// The GPUs that this build has code for and the driver offers. Never throws; empty where there is none.
[[nodiscard]] std::vector<DeviceInfo> cuda_devices();

/// Why no GPU can be used, in words for a user; empty where one can.
[[nodiscard]] std::string cuda_unusable_reason();

/// This project's kernels on one GPU.
/// \throws InvalidArgument where there is no such device; Unsupported, with the reason, for one that cannot be used
[[nodiscard]] std::unique_ptr<Backend> make_cuda_backend(int device);

/// The same pipeline from Thrust and CUB calls: the second opinion on a GPU. Errors as `make_cuda_backend`.
[[nodiscard]] std::unique_ptr<Backend> make_thrust_backend(int device);

}  // namespace sluice::kernels
