// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "gpu.hpp"
#include "studies.hpp"

namespace sluice::bench {

namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kWarp = 32;

/// Who takes which way of the branch.
enum class Way {
  kAll,         ///< all the same one
  kWarps,       ///< every other warp
  kNeighbours,  ///< every other lane
  kNoBranch     ///< every other lane, which picks its numbers and runs through the same code as its neighbour
};

constexpr unsigned kSteps = 256;

__device__ unsigned step_often(unsigned x, unsigned factor, unsigned summand) {
#pragma unroll 1
  for (unsigned i = 0; i < kSteps; ++i) x = x * factor + summand;
  return x;
}

template <Way kWay>
__global__ void __launch_bounds__(kThreads) branch(unsigned* values) {
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  const unsigned picked = kWay == Way::kAll ? 0 : kWay == Way::kWarps ? at / kWarp % 2 : at % 2;
  unsigned x = values[at];
  if constexpr (kWay == Way::kNoBranch) {
    x = step_often(x, picked == 0 ? 1664525U : 22695477U, picked == 0 ? 1013904223U : 1U);
  } else if (picked == 0) {
    x = step_often(x, 1664525U, 1013904223U);
  } else {
    x = step_often(x, 22695477U, 1U);
  }
  values[at] = x;
}

__global__ void __launch_bounds__(kThreads) copy_words(const uint4* from, uint4* to) {
  const std::uint64_t at = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  to[at] = from[at];
}

double median_ms(Gpu& gpu, unsigned rounds, const std::function<void()>& call) {
  std::vector<double> times;
  static_cast<void>(gpu.time(call, Caches::kCold));
  for (unsigned i = 0; i < rounds; ++i) times.push_back(gpu.time(call, Caches::kCold));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

nlohmann::ordered_json head_of(const Machine& machine) {
  std::printf("%s, %s, copy %.0f GB/s counting both ways\n\n", machine.device.c_str(), machine.date.c_str(),
              machine.copy_gb_per_s);
  nlohmann::ordered_json out;
  out["device"] = machine.device;
  out["date"] = machine.date;
  out["copy_gb_per_s"] = machine.copy_gb_per_s;
  out["rows"] = nlohmann::ordered_json::array();
  return out;
}

void write(const nlohmann::ordered_json& results, const std::string& path) {
  if (path.empty()) return;
  std::ofstream file(path);
  file << results.dump(2) << '\n';
  file.close();
  if (!file) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace

int bench_divergence(const StudyOptions& options) {
  constexpr unsigned kItems = 1U << 25;
  Gpu gpu(options.device);
  nlohmann::ordered_json results = head_of(gpu.machine());
  const DeviceArray<unsigned> values(gpu.cuda(), kItems);
  gpu.poison(values.data(), values.bytes());
  struct Row {
    const char* what;
    void (*kernel)(unsigned*);
  };
  const Row rows[] = {{"no branch is taken by anybody else", branch<Way::kAll>},
                      {"every other warp takes the other way", branch<Way::kWarps>},
                      {"every other lane takes the other way", branch<Way::kNeighbours>},
                      {"every other lane, without a branch", branch<Way::kNoBranch>}};
  std::printf("%u items, %u steps of a multiplication and an addition each\n  %-40s %10s %8s\n", kItems, kSteps, "",
              "median ms", "ratio");
  double first = 0.0;
  for (const Row& row : rows) {
    const double ms = median_ms(gpu, options.rounds, [&] {
      row.kernel<<<kItems / kThreads, kThreads, 0, gpu.stream()>>>(values.data());
      SLUICE_BENCH_CHECK(cudaGetLastError());
    });
    if (first == 0.0) first = ms;
    std::printf("  %-40s %10.4f %8.2f\n", row.what, ms, ms / first);
    results["rows"].push_back({{"what", row.what}, {"median_ms", ms}, {"ratio", ms / first}});
  }
  write(results, options.json_path);
  return 0;
}

int bench_occupancy(const StudyOptions& options) {
  constexpr std::uint64_t kWords = std::uint64_t{1} << 26;
  Gpu gpu(options.device);
  const Machine machine = gpu.machine();
  nlohmann::ordered_json results = head_of(machine);
  const DeviceArray<uint4> from(gpu.cuda(), kWords);
  const DeviceArray<uint4> to(gpu.cuda(), kWords);
  gpu.poison(from.data(), from.bytes());
  int most_shared = 0;
  int most_threads = 0;
  SLUICE_BENCH_CHECK(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, options.device));
  SLUICE_BENCH_CHECK(cudaDeviceGetAttribute(&most_threads, cudaDevAttrMaxThreadsPerMultiProcessor, options.device));
  SLUICE_BENCH_CHECK(cudaFuncSetAttribute(copy_words, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared));
  std::printf(
      "a copy of 1 GiB, 16 bytes a thread; shared memory that nobody uses limits how many blocks fit\n"
      "  %14s %10s %10s %10s %10s\n",
      "resident warps", "of most", "median ms", "GB/s", "of copy");
  for (int wanted = 1; wanted <= most_threads / static_cast<int>(kThreads); ++wanted) {
    // What a block has beside it for itself is taken from what is left.
    const int shared = wanted == 1 ? most_shared : std::max(0, most_shared / wanted - 1024);
    int blocks = 0;
    SLUICE_BENCH_CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, copy_words, kThreads, static_cast<std::size_t>(shared)));
    const double ms = median_ms(gpu, options.rounds, [&] {
      copy_words<<<kWords / kThreads, kThreads, static_cast<std::size_t>(shared), gpu.stream()>>>(from.data(),
                                                                                                  to.data());
      SLUICE_BENCH_CHECK(cudaGetLastError());
    });
    const unsigned warps = static_cast<unsigned>(blocks) * kThreads / kWarp;
    const double share = static_cast<double>(warps * kWarp) / most_threads;
    const double rate = 2.0 * static_cast<double>(from.bytes()) / ms * 1e-6;
    std::printf("  %14u %8.0f %% %10.4f %10.0f %8.1f %%\n", warps, 100.0 * share, ms, rate,
                100.0 * rate / machine.copy_gb_per_s);
    results["rows"].push_back({{"resident_warps", warps},
                               {"share_of_most", share},
                               {"median_ms", ms},
                               {"gb_per_s", rate},
                               {"share_of_copy", rate / machine.copy_gb_per_s}});
  }
  write(results, options.json_path);
  return 0;
}

}  // namespace sluice::bench
