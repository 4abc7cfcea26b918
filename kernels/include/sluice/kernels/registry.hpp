// SPDX-License-Identifier: Apache-2.0
/// \file
/// The backends of this build, and which of them this machine can run.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/kernels/backend.hpp"

namespace sluice::kernels {

struct BackendInfo {
  std::string name;
  bool built = false;   ///< compiled into this library
  bool usable = false;  ///< and this machine has what it needs
  std::string reason;   ///< why it is not usable
};

/// A GPU as its runtime describes it.
struct DeviceInfo {
  int index = 0;
  std::string name;
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t free_bytes = 0;
};

/// All backends that this project knows, in the order serial, cpu, cuda, thrust. Wakes every GPU to see whether it
/// works.
[[nodiscard]] std::vector<BackendInfo> backends();

/// The GPUs that the CUDA backends could use; empty without CUDA or without a GPU. Wakes them. Never throws.
[[nodiscard]] std::vector<DeviceInfo> devices();

/// Whether GPU backends are compiled in. Asks no driver.
[[nodiscard]] bool has_gpu_backends() noexcept;

/// \param name    one of the names of `backends()`
/// \param device  index of the GPU, for the device backends
/// \throws InvalidArgument for an unknown name or device; Unsupported for a backend that is not usable here
[[nodiscard]] std::unique_ptr<Backend> make_backend(std::string_view name, int device = 0);

}  // namespace sluice::kernels
