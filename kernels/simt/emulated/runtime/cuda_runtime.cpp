// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "cuda_runtime_api.h"
#include "kernels/simt/emulated/device.hpp"

namespace {

using sluice::simt::emulated::ByteState;
using sluice::simt::emulated::Device;
using sluice::simt::emulated::Heap;
using sluice::simt::emulated::Shadow;

bool on_device(const void* at, std::size_t bytes) { return Device::get().heap().holds(at, bytes); }

ByteState* states_at(const void* at) {
  const Shadow& memory = Device::get().global();
  return memory.states(memory.offset_of(reinterpret_cast<std::uintptr_t>(at)));
}

/// Nothing may allocate or wait while a graph is captured.
int captures = 0;

}  // namespace

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
  }
  return "unknown error";
}

cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device != 0) return cudaErrorInvalidDevice;
  *properties = {"emulated", 9, 0, static_cast<int>(Device::get().settings().multiprocessors)};
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int /*device*/) {
  const auto& settings = Device::get().settings();
  *value = static_cast<int>(attribute == cudaDevAttrMultiProcessorCount ? settings.multiprocessors
                                                                        : settings.shared_per_block);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const std::lock_guard lock(Device::get().mutex());
  *total = Heap::kBytes;
  *free = *total - Device::get().heap().used();
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** block, std::size_t bytes) {
  const std::lock_guard lock(Device::get().mutex());
  if (captures != 0) return cudaErrorStreamCaptureUnsupported;
  *block = Device::get().heap().allocate(bytes);
  return *block != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFree(void* block) {
  const std::lock_guard lock(Device::get().mutex());
  if (captures != 0) return cudaErrorStreamCaptureUnsupported;
  return block == nullptr || Device::get().heap().deallocate(block) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaHostAlloc(void** block, std::size_t bytes, unsigned /*flags*/) {
  constexpr std::size_t kAlignment = 4096;
  if (bytes > Heap::kBytes) return cudaErrorMemoryAllocation;
  *block = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  return *block != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFreeHost(void* block) {
  std::free(block);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const bool to_device = kind != cudaMemcpyDeviceToHost;
  const bool from_device = kind != cudaMemcpyHostToDevice;
  if (on_device(to, bytes) != to_device || on_device(from, bytes) != from_device) return cudaErrorInvalidValue;
  stream->enqueue([=] {
    std::memmove(to, from, bytes);
    if (to_device && from_device) {
      std::memmove(states_at(to), states_at(from), bytes);
    } else if (to_device) {
      std::memset(states_at(to), static_cast<int>(ByteState::kWritten), bytes);
    }
  });
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* at, int byte, std::size_t bytes, cudaStream_t stream) {
  if (!on_device(at, bytes)) return cudaErrorInvalidValue;
  stream->enqueue([=] {
    std::memset(at, byte, bytes);
    std::memset(states_at(at), static_cast<int>(ByteState::kWritten), bytes);
  });
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
  *stream = new CUstream_st;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return stream->capture != nullptr ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode /*mode*/) {
  if (stream->capture != nullptr) return cudaErrorStreamCaptureUnsupported;
  stream->capture = new CUgraph_st;
  ++captures;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  if (stream->capture == nullptr) return cudaErrorInvalidValue;
  *graph = stream->capture;
  stream->capture = nullptr;
  --captures;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long /*flags*/) {
  *ready = new CUgraph_st(*graph);
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream) {
  for (const auto& work : ready->work) stream->enqueue(work);
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t ready) {
  delete ready;
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
