// SPDX-License-Identifier: Apache-2.0
/// \file
/// Stands in for the header of the CUDA runtime where its callers are built for the emulated device: as much of it as
/// they use. All work is done when a call returns, but for what is captured into a graph.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

enum cudaError_t : int {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidDevice = 101,
  cudaErrorStreamCaptureUnsupported = 900,
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount, cudaDevAttrMaxSharedMemoryPerBlockOptin };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal };
constexpr unsigned cudaHostAllocPortable = 1;
constexpr unsigned cudaStreamNonBlocking = 1;

struct cudaDeviceProp {
  char name[256];
  int major;
  int minor;
  int multiProcessorCount;
};
struct cudaFuncAttributes {};

/// Work that a graph replays.
struct CUgraph_st {
  std::vector<std::function<void()>> work;
};
using cudaGraph_t = CUgraph_st*;
using cudaGraphExec_t = CUgraph_st*;

struct CUstream_st {
  CUgraph_st* capture = nullptr;

  void enqueue(std::function<void()> work) {
    if (capture != nullptr) {
      capture->work.push_back(std::move(work));
    } else {
      work();
    }
  }
};
using cudaStream_t = CUstream_st*;

const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaMalloc(void** block, std::size_t bytes);
cudaError_t cudaFree(void* block);
cudaError_t cudaHostAlloc(void** block, std::size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void* block);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* at, int byte, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t ready);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);

/// Every kernel is there.
template <typename FunctionT>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* /*attributes*/, FunctionT* /*kernel*/) {
  return cudaSuccess;
}
