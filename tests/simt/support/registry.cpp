// SPDX-License-Identifier: Apache-2.0
// The registry of programs that run kernels on the emulated device: what they know as "cuda" is this project's kernels
// and host code on it, and "thrust" the operations that are composed of primitives.
#include "sluice/kernels/registry.hpp"

#include "kernels/cpu/host_backend.hpp"
#include "kernels/cuda/cuda_backend.hpp"
#include "kernels/cuda/detail/device_primitives.hpp"
#include "sluice/core/error.hpp"

namespace sluice::kernels {

namespace cuda {

// What is composed of primitives there, is composed of this project's here.
std::unique_ptr<DevicePrimitives> make_thrust_primitives(int device) { return make_cuda_primitives(device); }

}  // namespace cuda

std::vector<BackendInfo> backends() {
  return {{"serial", true, true, {}}, {"cuda", true, true, {}}, {"thrust", true, true, {}}};
}

std::vector<DeviceInfo> devices() { return cuda_devices(); }

bool has_gpu_backends() noexcept { return true; }

std::unique_ptr<Backend> make_backend(std::string_view name, int device) {
  if (name == "serial") return make_serial_backend();
  if (name == "cuda") return make_cuda_backend(device);
  if (name == "thrust") return make_thrust_backend(device);
  throw InvalidArgument("there is no backend '" + std::string(name) + "' beside serial, cuda and thrust");
}

}  // namespace sluice::kernels
