// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/cuda_backend.hpp"

#include <utility>

#include "kernels/cuda/composed_operations.hpp"
#include "kernels/cuda/detail/device.hpp"
#include "kernels/cuda/detail/device_primitives.hpp"
#include "kernels/cuda/detail/probe.hpp"
#include "kernels/cuda/fused_operations.hpp"

namespace sluice::kernels {

namespace {

using cuda::ScopedDevice;

/// What is known of one device, or why it cannot be used.
struct Finding {
  DeviceInfo info;
  std::string reason;  ///< empty where it can
};

/// How many devices the driver offers; where there is none, `reason` says why.
int device_count(std::string& reason) {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    reason = cudaGetErrorString(code);
    return 0;
  }
  if (count == 0) reason = "no GPU was found";
  return count;
}

/// Wakes the device, which takes a good part of a second where no other process holds it.
Finding look_at(int index) {
  Finding out;
  try {
    const ScopedDevice current(index);
    cudaDeviceProp properties{};
    SLUICE_CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
    const std::string name = properties.name;
    const cudaError_t code = cuda::probe_code();
    if (code != cudaSuccess) {
      out.reason = name + " (compute capability " + std::to_string(properties.major) + "." +
                   std::to_string(properties.minor) + ") cannot run this build: " + cudaGetErrorString(code);
      return out;
    }
    std::size_t free = 0;
    std::size_t total = 0;
    SLUICE_CUDA_CHECK(cudaMemGetInfo(&free, &total));
    out.info = {index, name, properties.major, properties.minor, properties.multiProcessorCount, total, free};
  } catch (const Error& error) {
    out.reason = error.what();
  }
  return out;
}

struct Survey {
  std::vector<DeviceInfo> usable;
  std::string reason;  ///< why there is none
};

/// Looks at every device; a failure of one leaves the others.
Survey survey() noexcept {
  Survey out;
  try {
    const int count = device_count(out.reason);
    for (int index = 0; index < count; ++index) {
      Finding found = look_at(index);
      if (found.reason.empty()) {
        out.usable.push_back(std::move(found.info));
      } else {
        out.reason = std::move(found.reason);
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

/// \tparam OperationsT  what makes operations of the primitives
template <typename OperationsT>
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
  OperationsT operations_;
};

/// Looks at the one device alone: the others may be another's.
/// \throws as `make_cuda_backend`
DeviceInfo device_info(const std::string& backend, int device) {
  std::string reason;
  const int count = device_count(reason);
  if (count > 0 && (device < 0 || device >= count)) {
    throw InvalidArgument("there is no GPU " + std::to_string(device));
  }
  if (count > 0) {
    Finding found = look_at(device);
    if (found.reason.empty()) return std::move(found.info);
    reason = std::move(found.reason);
  }
  throw Unsupported("backend " + backend + " cannot be used: " + reason);
}

}  // namespace

std::vector<DeviceInfo> cuda_devices() { return survey().usable; }

std::string cuda_unusable_reason() { return survey().reason; }

std::unique_ptr<Backend> make_cuda_backend(int device) {
  return std::make_unique<DeviceBackend<cuda::FusedOperations>>("cuda", device_info("cuda", device),
                                                                cuda::make_cuda_primitives(device));
}

std::unique_ptr<Backend> make_thrust_backend(int device) {
  return std::make_unique<DeviceBackend<cuda::ComposedOperations>>("thrust", device_info("thrust", device),
                                                                   cuda::make_thrust_primitives(device));
}

}  // namespace sluice::kernels
