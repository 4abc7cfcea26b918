// SPDX-License-Identifier: Apache-2.0
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>

#include "cub_call.hpp"
#include "gpu.hpp"

namespace sluice::bench {

void bench_scan(Gpu& gpu, std::uint64_t items, std::vector<Row>& rows) {
  const std::string work = "exclusive scan u32 -> u64";
  const DeviceArray<std::uint32_t> in = uniform_words(gpu, items);
  const DeviceArray<std::uint64_t> ours(gpu.cuda(), items);
  const DeviceArray<std::uint64_t> theirs(gpu.cuda(), items);
  const std::uint64_t bytes = items * 12;

  const auto with = [&](kernels::Backend& backend, const DeviceArray<std::uint64_t>& out, bool first) {
    kernels::Primitives& primitives = backend.primitives();
    kernels::Workspace workspace(backend.memory(), primitives.exclusive_scan_scratch(items));
    const auto call = [&] { primitives.exclusive_scan(in.data(), items, out.data(), nullptr, workspace, gpu.view()); };
    gpu.poison(out.data(), items * sizeof(std::uint64_t));
    call();
    const bool equal = gpu.equal(ours.data(), out.data(), items * sizeof(std::uint64_t));
    const Timing timing = gpu.time(call);
    rows.push_back({work, std::string(backend.name()), first, items, timing.median_ms, timing.least_ms, bytes, equal});
  };
  with(gpu.cuda(), ours, true);
  with(gpu.thrust(), theirs, false);

  CubScratch scratch(gpu);
  const auto cub_call = [&](void* at, std::size_t& size) {
    return cub::DeviceScan::ExclusiveScan(at, size, in.data(), theirs.data(), ::cuda::std::plus<>{}, std::uint64_t{0},
                                          static_cast<std::uint32_t>(items), gpu.stream());
  };
  scratch.reserve(cub_call);
  gpu.poison(theirs.data(), items * sizeof(std::uint64_t));
  scratch.run(cub_call);
  const bool equal = gpu.equal(ours.data(), theirs.data(), items * sizeof(std::uint64_t));
  const Timing wide = gpu.time([&] { scratch.run(cub_call); });
  rows.push_back({work, "cub: ExclusiveScan to u64", false, items, wide.median_ms, wide.least_ms, bytes, equal});

  // What most people call: sums of 32 bits, which may wrap. Not the same output.
  auto* narrow_out = reinterpret_cast<std::uint32_t*>(theirs.data());
  const auto narrow_call = [&](void* at, std::size_t& size) {
    return cub::DeviceScan::ExclusiveSum(at, size, in.data(), narrow_out, static_cast<std::uint32_t>(items),
                                         gpu.stream());
  };
  scratch.reserve(narrow_call);
  const Timing narrow = gpu.time([&] { scratch.run(narrow_call); });
  rows.push_back({"exclusive scan u32 -> u32", "cub: ExclusiveSum", false, items, narrow.median_ms, narrow.least_ms,
                  items * 8, true});
}

}  // namespace sluice::bench
