// SPDX-License-Identifier: Apache-2.0
/// \file
/// The device under test: memory, the two backends, timing of one call.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "report.hpp"
#include "sluice/core/memory_resource.hpp"
#include "sluice/kernels/registry.hpp"

namespace sluice::bench {

inline void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  // Take back the error that is not sticky, so that a later call is not blamed for it.
  static_cast<void>(cudaGetLastError());
  throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
}
#define SLUICE_BENCH_CHECK(call) ::sluice::bench::check((call), #call)

/// Uninitialised device memory.
template <typename T>
class DeviceArray {
 public:
  DeviceArray(kernels::Backend& backend, std::uint64_t count)
      : block_(backend.memory(), count * sizeof(T), "a benchmark"), count_(count) {}
  [[nodiscard]] T* data() const { return block_.template as<T>(); }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t bytes() const { return count_ * sizeof(T); }

 private:
  MemoryBlock block_;
  std::uint64_t count_;
};

/// What the caches hold when a timed call starts.
enum class Caches : std::uint8_t {
  kCold,  ///< something else, larger than they are
  kWarm,  ///< what the same call left there
};

class Gpu {
 public:
  explicit Gpu(int device);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  [[nodiscard]] kernels::Backend& cuda() { return *cuda_; }
  [[nodiscard]] kernels::Backend& thrust() { return *thrust_; }
  [[nodiscard]] cudaStream_t stream() const { return static_cast<cudaStream_t>(stream_->view().handle()); }
  [[nodiscard]] kernels::StreamView view() const { return stream_->view(); }

  void wait() { cuda_->wait(view()); }
  /// Fills memory with a pattern that no result has.
  void poison(void* at, std::uint64_t bytes);
  void copy(void* to, const void* from, std::uint64_t bytes);
  /// True where `bytes` bytes at a and b are the same; waits.
  [[nodiscard]] bool equal(const void* a, const void* b, std::uint64_t bytes);
  /// Brings a small value to the host by way of page-locked memory, the fastest there is; waits.
  template <typename T>
  [[nodiscard]] T read(const T* at) {
    static_assert(sizeof(T) <= kStagingBytes);
    cuda_->download(staging_.data(), at, sizeof(T), view());
    wait();
    return *staging_.as<T>();
  }

  /// Milliseconds between two events around a call. All is enqueued behind a kernel that does nothing for a while, so
  /// that the device's time is measured and not how fast the host enqueues; where a call itself waits for a count that
  /// decides its next launch, that wait is part of it.
  [[nodiscard]] double time(const std::function<void()>& call, Caches caches);
  /// Times a plain copy.
  [[nodiscard]] Machine machine();

 private:
  static constexpr std::size_t kStagingBytes = 256;

  std::unique_ptr<kernels::Backend> cuda_;
  std::unique_ptr<kernels::Backend> thrust_;
  std::unique_ptr<kernels::Stream> stream_;
  MemoryBlock flush_;
  MemoryBlock staging_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

/// Work recorded once from the stream, to be launched again and again.
class Graph {
 public:
  /// \param enqueue  must have run before, so that all code is loaded and all scratch taken; must not wait
  Graph(Gpu& gpu, const std::function<void()>& enqueue);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch() const { SLUICE_BENCH_CHECK(cudaGraphLaunch(exec_, gpu_.stream())); }

 private:
  Gpu& gpu_;
  cudaGraphExec_t exec_ = nullptr;
};

}  // namespace sluice::bench
