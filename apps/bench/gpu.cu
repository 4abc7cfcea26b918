// SPDX-License-Identifier: Apache-2.0
#include <thrust/equal.h>
#include <thrust/execution_policy.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "gpu.hpp"

namespace sluice::bench {

namespace {

constexpr std::uint64_t kFlushBytes = std::uint64_t{256} << 20;
// 0.1 ms at 2 GHz: longer than a host takes to enqueue the longest composition.
constexpr long long kDelayCycles = 200'000;

__global__ void delay(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

/// Puts a buffer of zeros into the caches. Reading leaves nothing there that the next call would have to write back.
__global__ void read_zeros(const uint4* from, std::uint64_t count, unsigned* nobody) {
  unsigned seen = 0;
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint4 words = from[i];
    seen |= words.x | words.y | words.z | words.w;
  }
  if (seen != 0) *nobody = seen;
}

}  // namespace

Gpu::Gpu(int device)
    : cuda_(kernels::make_backend("cuda", device)),
      thrust_(kernels::make_backend("thrust", device)),
      stream_(cuda_->make_stream()),
      flush_(cuda_->memory(), kFlushBytes, "flushing caches"),
      staging_(cuda_->staging_memory(), kStagingBytes, "counts") {
  SLUICE_BENCH_CHECK(cudaSetDevice(device));
  SLUICE_BENCH_CHECK(cudaEventCreate(&begin_));
  SLUICE_BENCH_CHECK(cudaEventCreate(&end_));
  SLUICE_BENCH_CHECK(cudaMemsetAsync(flush_.data(), 0, flush_.size(), stream()));
}

Gpu::~Gpu() {
  static_cast<void>(cudaEventDestroy(begin_));
  static_cast<void>(cudaEventDestroy(end_));
}

void Gpu::poison(void* at, std::uint64_t bytes) { SLUICE_BENCH_CHECK(cudaMemsetAsync(at, 0xcd, bytes, stream())); }

void Gpu::copy(void* to, const void* from, std::uint64_t bytes) {
  SLUICE_BENCH_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream()));
}

bool Gpu::equal(const void* a, const void* b, std::uint64_t bytes) {
  const auto* left = static_cast<const unsigned char*>(a);
  const auto* right = static_cast<const unsigned char*>(b);
  return thrust::equal(thrust::cuda::par.on(stream()), left, left + bytes, right);
}

double Gpu::time(const std::function<void()>& call, Caches caches) {
  if (caches == Caches::kWarm) {
    call();
  } else {
    read_zeros<<<1024, 256, 0, stream()>>>(flush_.as<uint4>(), flush_.size() / sizeof(uint4), flush_.as<unsigned>());
    SLUICE_BENCH_CHECK(cudaGetLastError());
  }
  delay<<<1, 1, 0, stream()>>>(kDelayCycles);
  SLUICE_BENCH_CHECK(cudaGetLastError());
  SLUICE_BENCH_CHECK(cudaEventRecord(begin_, stream()));
  call();
  SLUICE_BENCH_CHECK(cudaEventRecord(end_, stream()));
  SLUICE_BENCH_CHECK(cudaEventSynchronize(end_));
  float ms = 0.0F;
  SLUICE_BENCH_CHECK(cudaEventElapsedTime(&ms, begin_, end_));
  return static_cast<double>(ms);
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
  const DeviceArray<std::byte> from(*cuda_, std::uint64_t{1} << 30);
  const DeviceArray<std::byte> to(*cuda_, from.count());
  poison(from.data(), from.bytes());
  const auto call = [&] { copy(to.data(), from.data(), from.bytes()); };
  std::vector<double> times;
  static_cast<void>(time(call, Caches::kCold));
  for (int i = 0; i < 21; ++i) times.push_back(time(call, Caches::kCold));
  std::sort(times.begin(), times.end());
  out.copy_gb_per_s = 2.0 * static_cast<double>(from.bytes()) / times[times.size() / 2] * 1e-6;
  return out;
}

Graph::Graph(Gpu& gpu, const std::function<void()>& enqueue) : gpu_(gpu) {
  cudaGraph_t graph = nullptr;
  SLUICE_BENCH_CHECK(cudaStreamBeginCapture(gpu.stream(), cudaStreamCaptureModeRelaxed));
  try {
    enqueue();
  } catch (...) {
    static_cast<void>(cudaStreamEndCapture(gpu.stream(), &graph));
    static_cast<void>(cudaGetLastError());
    if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
    throw;
  }
  SLUICE_BENCH_CHECK(cudaStreamEndCapture(gpu.stream(), &graph));
  const cudaError_t status = cudaGraphInstantiate(&exec_, graph, 0);
  static_cast<void>(cudaGraphDestroy(graph));
  SLUICE_BENCH_CHECK(status);
  SLUICE_BENCH_CHECK(cudaGraphUpload(exec_, gpu.stream()));
}

Graph::~Graph() { static_cast<void>(cudaGraphExecDestroy(exec_)); }

}  // namespace sluice::bench
