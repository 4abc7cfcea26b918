// SPDX-License-Identifier: Apache-2.0
/// \file
/// The device under test: memory, the two backends, timing.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "report.hpp"
#include "sluice/core/memory_resource.hpp"
#include "sluice/core/types.hpp"
#include "sluice/kernels/registry.hpp"

namespace sluice::bench {

inline void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
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

 private:
  MemoryBlock block_;
  std::uint64_t count_;
};

/// What a timed function costs, in milliseconds between two events on the stream. Where the function waits for a count
/// that decides the next launch, that wait is part of it.
struct Timing {
  double median_ms;
  double least_ms;
};

class Gpu {
 public:
  Gpu(int device, unsigned repeats);
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
  /// True where `bytes` bytes at a and b are the same; waits.
  [[nodiscard]] bool equal(const void* a, const void* b, std::uint64_t bytes);
  template <typename T>
  [[nodiscard]] T read(const T* at) {
    T value;
    cuda_->download(&value, at, sizeof(T), view());
    wait();
    return value;
  }

  /// Warms up, then times `repeats` calls; before each one memory larger than the caches is overwritten.
  [[nodiscard]] Timing time(const std::function<void()>& call);
  [[nodiscard]] Machine machine();

 private:
  std::unique_ptr<kernels::Backend> cuda_;
  std::unique_ptr<kernels::Backend> thrust_;
  std::unique_ptr<kernels::Stream> stream_;
  MemoryBlock flush_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
  int device_;
  unsigned repeats_;
};

/// Edge of the box that points are uniform in, in lattice numbers; a step is a millimetre.
inline constexpr std::uint32_t kBox = 1U << 20;

/// Packed lattice points uniform in [0, kBox)^3, the same for a count on every run.
[[nodiscard]] DeviceArray<Record16> uniform_points(Gpu& gpu, std::uint64_t count);
/// Uniform 32-bit numbers.
[[nodiscard]] DeviceArray<std::uint32_t> uniform_words(Gpu& gpu, std::uint64_t count);

/// The works; each appends its rows for one number of items.
void bench_scan(Gpu& gpu, std::uint64_t items, std::vector<Row>& rows);
void bench_compact(Gpu& gpu, std::uint64_t items, std::vector<Row>& rows);
void bench_sort(Gpu& gpu, std::uint64_t items, std::vector<Row>& rows);
void bench_bin(Gpu& gpu, std::uint64_t items, std::vector<Row>& rows);

}  // namespace sluice::bench
