// SPDX-License-Identifier: Apache-2.0
#include "sluice/kernels/registry.hpp"

#include "kernels/cpu/host_backend.hpp"
#include "sluice/core/error.hpp"

#ifdef SLUICE_HAVE_CUDA
#include "kernels/cuda/cuda_backend.hpp"
#endif

namespace sluice::kernels {

std::vector<BackendInfo> backends() {
  std::vector<BackendInfo> out = {{"serial", true, true, {}}, {"cpu", true, true, {}}};
#ifdef SLUICE_HAVE_CUDA
  const bool built = true;
  const std::string reason = cuda_unusable_reason();
#else
  const bool built = false;
  const std::string reason = "this build has no GPU backends";
#endif
  for (const char* name : {"cuda", "thrust"}) out.push_back({name, built, reason.empty(), reason});
  return out;
}

std::vector<DeviceInfo> devices() {
#ifdef SLUICE_HAVE_CUDA
  return cuda_devices();
#else
  return {};
#endif
}

bool has_gpu_backends() noexcept {
#ifdef SLUICE_HAVE_CUDA
  return true;
#else
  return false;
#endif
}

std::unique_ptr<Backend> make_backend(std::string_view name, [[maybe_unused]] int device) {
  if (name == "serial") return make_serial_backend();
  if (name == "cpu") return make_cpu_backend();
#ifdef SLUICE_HAVE_CUDA
  if (name == "cuda") return make_cuda_backend(device);
  if (name == "thrust") return make_thrust_backend(device);
#endif
  std::string known;
  for (const BackendInfo& info : backends()) {
    if (info.name == name) throw Unsupported("backend " + info.name + " cannot be used: " + info.reason);
    known += (known.empty() ? "" : ", ") + info.name;
  }
  throw InvalidArgument("there is no backend '" + std::string(name) + "'; there are " + known);
}

}  // namespace sluice::kernels
