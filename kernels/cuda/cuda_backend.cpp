// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/cuda_backend.hpp"

#include <utility>

#include "kernels/cuda/composed_operations.hpp"
#include "kernels/cuda/detail/device.hpp"
#include "kernels/cuda/detail/device_primitives.hpp"
#include "kernels/cuda/detail/probe.hpp"

namespace sluice::kernels {

namespace {

using cuda::ScopedDevice;

struct Survey {
  std::vector<DeviceInfo> usable;
  std::string reason;  ///< why there is none
};

/// Looks at every device; a failure of one leaves the others.
Survey survey() noexcept {
  Survey out;
  try {
    int count = 0;
    const cudaError_t counted = cudaGetDeviceCount(&count);
    if (counted != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      out.reason = cudaGetErrorString(counted);
      return out;
    }
    out.reason = "no GPU was found";
    for (int index = 0; index < count; ++index) {
      try {
        const ScopedDevice current(index);
        cudaDeviceProp properties{};
        SLUICE_CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
        const std::string name = properties.name;
        const cudaError_t code = cuda::probe_code();
        if (code != cudaSuccess) {
          out.reason = name + " (compute capability " + std::to_string(properties.major) + "." +
                       std::to_string(properties.minor) + ") cannot run this build: " + cudaGetErrorString(code);
          continue;
        }
        std::size_t free = 0;
        std::size_t total = 0;
        SLUICE_CUDA_CHECK(cudaMemGetInfo(&free, &total));
        out.usable.push_back(
            {index, name, properties.major, properties.minor, properties.multiProcessorCount, total, free});
      } catch (const Error& error) {
        out.reason = error.what();
      }
    }
    if (!out.usable.empty()) out.reason.clear();
  } catch (const std::exception& error) {
    out.usable.clear();
    try {
      out.reason = error.what();
    } catch (...) {
      out.reason = "no memory";  // short enough to need none
    }
  }
  return out;
}

class DeviceBackend final : public Backend {
 public:
  DeviceBackend(std::string_view name, const DeviceInfo& info, std::unique_ptr<cuda::DevicePrimitives> primitives)
      : name_(name),
        info_(info),
        memory_(info.index),
        staging_(info.index),
        primitives_(std::move(primitives)),
        operations_(info.index, *primitives_, memory_) {}

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] bool is_device() const noexcept override { return true; }
  [[nodiscard]] std::string device_name() const override { return info_.name; }
  [[nodiscard]] MemoryResource& memory() noexcept override { return memory_; }
  [[nodiscard]] MemoryResource& staging_memory() noexcept override { return staging_; }

  [[nodiscard]] std::uint64_t free_bytes() const override {
    const ScopedDevice current(info_.index);
    std::size_t free = 0;
    std::size_t total = 0;
    SLUICE_CUDA_CHECK(cudaMemGetInfo(&free, &total));
    return free;
  }

  [[nodiscard]] std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<cuda::CudaStream>(info_.index);
  }

  void upload(void* to, const void* from, std::size_t bytes, StreamView stream) override {
    transfer(to, from, bytes, cudaMemcpyHostToDevice, stream);
  }

  void download(void* to, const void* from, std::size_t bytes, StreamView stream) override {
    transfer(to, from, bytes, cudaMemcpyDeviceToHost, stream);
  }

  void wait(StreamView stream) override {
    const ScopedDevice current(info_.index);
    SLUICE_CUDA_CHECK(cudaStreamSynchronize(cuda::handle_of(stream)));
  }

  [[nodiscard]] Primitives& primitives() noexcept override { return *primitives_; }
  [[nodiscard]] Operations& operations() noexcept override { return operations_; }

 private:
  void transfer(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, StreamView stream) {
    if (bytes == 0) return;
    const ScopedDevice current(info_.index);
    SLUICE_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, kind, cuda::handle_of(stream)));
  }

  std::string_view name_;
  DeviceInfo info_;
  cuda::DeviceMemory memory_;
  cuda::PinnedMemory staging_;
  std::unique_ptr<cuda::DevicePrimitives> primitives_;
  cuda::ComposedOperations operations_;
};

/// \throws as `make_cuda_backend`
DeviceInfo device_info(int device) {
  const Survey found = survey();
  if (found.usable.empty()) throw Unsupported("no GPU can be used: " + found.reason);
  for (const DeviceInfo& info : found.usable) {
    if (info.index == device) return info;
  }
  throw InvalidArgument("there is no GPU " + std::to_string(device));
}

}  // namespace

std::vector<DeviceInfo> cuda_devices() { return survey().usable; }

std::string cuda_unusable_reason() { return survey().reason; }

std::unique_ptr<Backend> make_cuda_backend(int device) {
  return std::make_unique<DeviceBackend>("cuda", device_info(device), cuda::make_cuda_primitives(device));
}

std::unique_ptr<Backend> make_thrust_backend(int device) {
  return std::make_unique<DeviceBackend>("thrust", device_info(device), cuda::make_thrust_primitives(device));
}

}  // namespace sluice::kernels
