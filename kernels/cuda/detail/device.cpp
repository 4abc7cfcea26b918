// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/detail/device.hpp"

namespace sluice::kernels::cuda {

namespace {

/// Out of memory is not a failed device: callers make do with less.
void check_allocation(cudaError_t status, const char* call, int line, std::size_t bytes, const char* purpose) {
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    throw OutOfMemory(bytes, 0, purpose);
  }
  simt::check(status, call, __FILE__, line);
}

}  // namespace

void* DeviceMemory::allocate(std::size_t bytes, const char* purpose) {
  const ScopedDevice device(device_);
  void* block = nullptr;
  const std::size_t some = bytes == 0 ? kAlignment : bytes;
  check_allocation(cudaMalloc(&block, some), "cudaMalloc", __LINE__, bytes, purpose);
  return block;
}

void DeviceMemory::deallocate(void* block, std::size_t /*bytes*/) noexcept {
  // A failure here is that of earlier work, which whoever waited for it has heard of.
  int before = 0;
  const bool known = cudaGetDevice(&before) == cudaSuccess;
  static_cast<void>(cudaSetDevice(device_));
  static_cast<void>(cudaFree(block));
  if (known && before != device_) static_cast<void>(cudaSetDevice(before));
}

void* PinnedMemory::allocate(std::size_t bytes, const char* purpose) {
  const ScopedDevice device(device_);
  void* block = nullptr;
  const std::size_t some = bytes == 0 ? kAlignment : bytes;
  check_allocation(cudaHostAlloc(&block, some, cudaHostAllocPortable), "cudaHostAlloc", __LINE__, bytes, purpose);
  return block;
}

void PinnedMemory::deallocate(void* block, std::size_t /*bytes*/) noexcept { static_cast<void>(cudaFreeHost(block)); }

CudaStream::CudaStream(int device) {
  const ScopedDevice current(device);
  SLUICE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
}

CudaStream::~CudaStream() { static_cast<void>(cudaStreamDestroy(stream_)); }

}  // namespace sluice::kernels::cuda
