// SPDX-License-Identifier: Apache-2.0
#include <thrust/equal.h>
#include <thrust/execution_policy.h>
#include <thrust/tabulate.h>

#include <algorithm>
#include <ctime>

#include "gpu.hpp"
#include "sluice/core/random.hpp"

namespace sluice::bench {

namespace {

constexpr std::uint64_t kFlushBytes = std::uint64_t{256} << 20;
constexpr unsigned kWarmUps = 3;

struct UniformPoint {
  __host__ __device__ Record16 operator()(std::uint64_t i) const {
    const auto axis = [i](std::uint64_t d) { return static_cast<std::int32_t>(counter_random(1, 3 * i + d) % kBox); };
    return Record16{axis(0), axis(1), axis(2), static_cast<std::uint32_t>(i)};
  }
};

struct UniformWord {
  __host__ __device__ std::uint32_t operator()(std::uint64_t i) const {
    return static_cast<std::uint32_t>(counter_random(2, i));
  }
};

double elapsed_ms(cudaEvent_t begin, cudaEvent_t end) {
  float ms = 0.0F;
  SLUICE_BENCH_CHECK(cudaEventElapsedTime(&ms, begin, end));
  return static_cast<double>(ms);
}

}  // namespace

Gpu::Gpu(int device, unsigned repeats)
    : cuda_(kernels::make_backend("cuda", device)),
      thrust_(kernels::make_backend("thrust", device)),
      stream_(cuda_->make_stream()),
      flush_(cuda_->memory(), kFlushBytes, "flushing caches"),
      device_(device),
      repeats_(repeats) {
  SLUICE_BENCH_CHECK(cudaSetDevice(device));
  SLUICE_BENCH_CHECK(cudaEventCreate(&begin_));
  SLUICE_BENCH_CHECK(cudaEventCreate(&end_));
}

Gpu::~Gpu() {
  static_cast<void>(cudaEventDestroy(begin_));
  static_cast<void>(cudaEventDestroy(end_));
}

void Gpu::poison(void* at, std::uint64_t bytes) { SLUICE_BENCH_CHECK(cudaMemsetAsync(at, 0xcd, bytes, stream())); }

bool Gpu::equal(const void* a, const void* b, std::uint64_t bytes) {
  const auto* left = static_cast<const unsigned char*>(a);
  const auto* right = static_cast<const unsigned char*>(b);
  return thrust::equal(thrust::cuda::par.on(stream()), left, left + bytes, right);
}

Timing Gpu::time(const std::function<void()>& call) {
  std::vector<double> times;
  for (unsigned i = 0; i < kWarmUps + repeats_; ++i) {
    SLUICE_BENCH_CHECK(cudaMemsetAsync(flush_.data(), static_cast<int>(i), flush_.size(), stream()));
    SLUICE_BENCH_CHECK(cudaEventRecord(begin_, stream()));
    call();
    SLUICE_BENCH_CHECK(cudaEventRecord(end_, stream()));
    SLUICE_BENCH_CHECK(cudaEventSynchronize(end_));
    if (i >= kWarmUps) times.push_back(elapsed_ms(begin_, end_));
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front()};
}

Machine Gpu::machine() {
  Machine out;
  out.device = cuda_->device_name();
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32] = "";
  static_cast<void>(std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc));
  out.date = text;
  SLUICE_BENCH_CHECK(cudaDriverGetVersion(&out.driver));
  SLUICE_BENCH_CHECK(cudaRuntimeGetVersion(&out.runtime));
  const std::uint64_t bytes = std::uint64_t{1} << 30;
  const DeviceArray<std::byte> from(*cuda_, bytes);
  const DeviceArray<std::byte> to(*cuda_, bytes);
  poison(from.data(), bytes);
  const Timing timing = time(
      [&] { SLUICE_BENCH_CHECK(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream())); });
  out.copy_gb_per_s = 2.0 * static_cast<double>(bytes) / timing.median_ms * 1e-6;
  return out;
}

DeviceArray<Record16> uniform_points(Gpu& gpu, std::uint64_t count) {
  DeviceArray<Record16> out(gpu.cuda(), count);
  thrust::tabulate(thrust::cuda::par.on(gpu.stream()), out.data(), out.data() + count, UniformPoint{});
  return out;
}

DeviceArray<std::uint32_t> uniform_words(Gpu& gpu, std::uint64_t count) {
  DeviceArray<std::uint32_t> out(gpu.cuda(), count);
  thrust::tabulate(thrust::cuda::par.on(gpu.stream()), out.data(), out.data() + count, UniformWord{});
  return out;
}

}  // namespace sluice::bench
