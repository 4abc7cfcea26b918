// SPDX-License-Identifier: Apache-2.0
/// \file
/// The current device, memory and streams of one GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "kernels/simt/cuda/check.hpp"
#include "sluice/core/memory_resource.hpp"
#include "sluice/kernels/stream.hpp"

namespace sluice::kernels::cuda {

inline cudaStream_t handle_of(StreamView stream) { return static_cast<cudaStream_t>(stream.handle()); }

/// Makes a device current for this thread, and the one before at the end of the scope. Every entry point has one, so
/// that backends of several devices can be used from one thread.
class ScopedDevice {
 public:
  explicit ScopedDevice(int device) {
    SLUICE_CUDA_CHECK(cudaGetDevice(&before_));
    if (before_ != device) {
      SLUICE_CUDA_CHECK(cudaSetDevice(device));
      changed_ = true;
    }
  }
  ScopedDevice(const ScopedDevice&) = delete;
  ScopedDevice& operator=(const ScopedDevice&) = delete;
  ~ScopedDevice() {
    if (changed_) static_cast<void>(cudaSetDevice(before_));
  }

 private:
  int before_ = 0;
  bool changed_ = false;
};

/// Memory of the device, one cudaMalloc for each block.
class DeviceMemory final : public MemoryResource {
 public:
  explicit DeviceMemory(int device) : device_(device) {}
  void* allocate(std::size_t bytes, const char* purpose) override;
  void deallocate(void* block, std::size_t bytes) noexcept override;

 private:
  int device_;
};

/// Page-locked host memory, which copies to and from a device at full speed.
class PinnedMemory final : public MemoryResource {
 public:
  explicit PinnedMemory(int device) : device_(device) {}
  void* allocate(std::size_t bytes, const char* purpose) override;
  void deallocate(void* block, std::size_t bytes) noexcept override;

 private:
  int device_;
};

/// A stream that does not wait for the default stream.
class CudaStream final : public Stream {
 public:
  explicit CudaStream(int device);
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  ~CudaStream() override;
  [[nodiscard]] StreamView view() const noexcept override { return StreamView(stream_); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Waits for all that is enqueued and copies a value to the host.
template <typename T>
T read_back(const T* from, StreamView stream) {
  T value;
  SLUICE_CUDA_CHECK(cudaMemcpyAsync(&value, from, sizeof(T), cudaMemcpyDeviceToHost, handle_of(stream)));
  SLUICE_CUDA_CHECK(cudaStreamSynchronize(handle_of(stream)));
  return value;
}

/// Fills memory with one byte; enqueues.
inline void fill(void* at, int byte, std::size_t bytes, StreamView stream) {
  if (bytes != 0) SLUICE_CUDA_CHECK(cudaMemsetAsync(at, byte, bytes, handle_of(stream)));
}

/// Copies within the device; enqueues.
inline void copy(void* to, const void* from, std::size_t bytes, StreamView stream) {
  if (bytes != 0) SLUICE_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, handle_of(stream)));
}

}  // namespace sluice::kernels::cuda
