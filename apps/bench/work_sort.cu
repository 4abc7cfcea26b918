// SPDX-License-Identifier: Apache-2.0
#include <thrust/execution_policy.h>
#include <thrust/sequence.h>

#include <cub/device/device_radix_sort.cuh>

#include "cub_call.hpp"
#include "gpu.hpp"

namespace sluice::bench {

namespace {

using Words = DeviceArray<std::uint32_t>;

/// Keys and values, twice, and what they start as.
struct Pairs {
  Pairs(Gpu& gpu, std::uint64_t items)
      : keys{Words(gpu.cuda(), items), Words(gpu.cuda(), items)},
        values{Words(gpu.cuda(), items), Words(gpu.cuda(), items)} {}

  /// Sorts overwrite their input, so every timed call starts with this copy, whoever sorts.
  void start(Gpu& gpu, const Words& from, const Words& numbers) const {
    const std::uint64_t bytes = from.count() * sizeof(std::uint32_t);
    SLUICE_BENCH_CHECK(cudaMemcpyAsync(keys[0].data(), from.data(), bytes, cudaMemcpyDeviceToDevice, gpu.stream()));
    SLUICE_BENCH_CHECK(
        cudaMemcpyAsync(values[0].data(), numbers.data(), bytes, cudaMemcpyDeviceToDevice, gpu.stream()));
  }

  Words keys[2];
  Words values[2];
};

}  // namespace

void bench_sort(Gpu& gpu, std::uint64_t items, std::vector<Row>& rows) {
  const Words from = uniform_words(gpu, items);
  const Words numbers(gpu.cuda(), items);
  thrust::sequence(thrust::cuda::par.on(gpu.stream()), numbers.data(), numbers.data() + items);
  const Pairs ours(gpu, items);
  const Pairs theirs(gpu, items);
  // The copy before each sort is timed alone and taken off.
  const Timing copy = gpu.time([&] { ours.start(gpu, from, numbers); });

  for (const unsigned bits : {16U, 26U, 32U}) {
    const std::string work = "sort u32 pairs by " + std::to_string(bits) + " bits";
    int ours_in = 0;
    const auto add = [&](const std::string& by, bool first, const Pairs& pairs, const std::function<int()>& sort) {
      pairs.start(gpu, from, numbers);
      const int in = sort();
      if (first) ours_in = in;
      const std::uint64_t bytes = items * sizeof(std::uint32_t);
      const bool equal = gpu.equal(ours.keys[ours_in].data(), pairs.keys[in].data(), bytes) &&
                         gpu.equal(ours.values[ours_in].data(), pairs.values[in].data(), bytes);
      const Timing timing = gpu.time([&] {
        pairs.start(gpu, from, numbers);
        sort();
      });
      rows.push_back(
          {work, by, first, items, timing.median_ms - copy.median_ms, timing.least_ms - copy.least_ms, 0, equal});
    };
    const auto with = [&](kernels::Backend& backend, const Pairs& pairs, bool first) {
      kernels::Primitives& primitives = backend.primitives();
      kernels::Workspace workspace(backend.memory(), primitives.sort_scratch(4, items));
      const kernels::SortBuffers buffers{{pairs.keys[0].data(), pairs.keys[1].data()},
                                         {pairs.values[0].data(), pairs.values[1].data()}};
      add(std::string(backend.name()), first, pairs,
          [&] { return primitives.sort(buffers, 4, items, 0, bits, workspace, gpu.view()); });
    };
    with(gpu.cuda(), ours, true);
    with(gpu.thrust(), theirs, false);

    CubScratch scratch(gpu);
    const auto cub_sort = [&](int end_bit) {
      cub::DoubleBuffer<std::uint32_t> keys(theirs.keys[0].data(), theirs.keys[1].data());
      cub::DoubleBuffer<std::uint32_t> values(theirs.values[0].data(), theirs.values[1].data());
      const auto call = [&](void* at, std::size_t& size) {
        return cub::DeviceRadixSort::SortPairs(at, size, keys, values, static_cast<std::uint32_t>(items), 0, end_bit,
                                               gpu.stream());
      };
      scratch.reserve(call);
      scratch.run(call);
      return keys.selector;
    };
    add("cub by an expert: exact bits", false, theirs, [&] { return cub_sort(static_cast<int>(bits)); });
    if (bits == 32) continue;
    // All 32 bits, as most people call it: another order of the points, so only the time is compared.
    const Timing all = gpu.time([&] {
      theirs.start(gpu, from, numbers);
      cub_sort(32);
    });
    rows.push_back({work, "cub: SortPairs, all 32 bits", false, items, all.median_ms - copy.median_ms,
                    all.least_ms - copy.least_ms, 0, true});
  }
}

}  // namespace sluice::bench
