// SPDX-License-Identifier: Apache-2.0
/// \file
/// The one check that every call of the CUDA runtime passes.
#pragma once

#include <cuda_runtime_api.h>

#include <string_view>

#include "sluice/core/error.hpp"

namespace sluice::simt {

/// \throws DeviceError for every status but success
inline void check(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  // Take back the error that is not sticky, so that a later call is not blamed for it.
  static_cast<void>(cudaGetLastError());
  const std::string_view path(file);
  const std::size_t folder = path.rfind("kernels/");
  throw DeviceError(call, static_cast<int>(status), cudaGetErrorString(status),
                    folder == std::string_view::npos ? file : file + folder, line);
}

}  // namespace sluice::simt

#define SLUICE_CUDA_CHECK(call) ::sluice::simt::check((call), #call, __FILE__, __LINE__)
