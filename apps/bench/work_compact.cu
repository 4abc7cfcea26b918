// SPDX-License-Identifier: Apache-2.0
#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/transform.h>

#include <cub/device/device_select.cuh>

#include "cub_call.hpp"
#include "works.hpp"

namespace sluice::bench {

void bench_compact(Gpu& gpu, std::uint64_t items, std::vector<Row>& rows) {
  const std::string work = "crop, 16-byte points, half kept";
  const DeviceArray<Record16> points = uniform_points(gpu, items);
  const DeviceArray<Record16> ours(gpu.cuda(), items);
  const DeviceArray<Record16> theirs(gpu.cuda(), items);
  const DeviceArray<kernels::SelectCounts> counts(gpu.cuda(), 1);
  const DeviceArray<std::uint64_t> count(gpu.cuda(), 1);
  const auto n = static_cast<std::int64_t>(items);
  std::uint64_t kept = 0;
  const auto add = [&](const std::string& by, bool first, const DeviceArray<Record16>& out,
                       const std::function<void()>& call) {
    gpu.poison(out.data(), items * sizeof(Record16));
    call();
    if (first) kept = gpu.read(counts.data()).kept;
    const bool equal =
        (first || gpu.read(count.data()) == kept) && gpu.equal(ours.data(), out.data(), kept * sizeof(Record16));
    const Timing timing = gpu.time(call);
    rows.push_back(
        {work, by, first, items, timing.median_ms, timing.least_ms, (items + kept) * sizeof(Record16), equal});
  };

  const kernels::PointInput input = input_of(points);
  const auto with = [&](kernels::Backend& backend, const DeviceArray<Record16>& out, bool first) {
    kernels::Operations& operations = backend.operations();
    const auto predicate = operations.prepare(lower_half());
    kernels::Workspace workspace(backend.memory(), operations.select_scratch(items));
    kernels::SelectOutputs outputs;
    outputs.records = out.data();
    outputs.counts = counts.data();
    add(std::string(backend.name()), first, out, [&] {
      operations.select(*predicate, input, outputs, workspace, gpu.view());
      if (!first) {
        SLUICE_BENCH_CHECK(cudaMemcpyAsync(count.data(), &counts.data()->kept, sizeof(std::uint64_t),
                                           cudaMemcpyDeviceToDevice, gpu.stream()));
      }
    });
  };
  with(gpu.cuda(), ours, true);
  with(gpu.thrust(), theirs, false);

  CubScratch scratch(gpu);
  const auto* as_vector = reinterpret_cast<const int4*>(points.data());
  auto* out_vector = reinterpret_cast<int4*>(theirs.data());
  const auto vector_call = [&](void* at, std::size_t& size) {
    return cub::DeviceSelect::If(at, size, as_vector, out_vector, count.data(), n, InLowerHalf{}, gpu.stream());
  };
  scratch.reserve(vector_call);
  add("cub: If on int4", false, theirs, [&] { scratch.run(vector_call); });

  const DeviceArray<std::uint8_t> mask(gpu.cuda(), items);
  const auto flagged_call = [&](void* at, std::size_t& size) {
    return cub::DeviceSelect::Flagged(at, size, as_vector, mask.data(), out_vector, count.data(), n, gpu.stream());
  };
  scratch.reserve(flagged_call);
  add("mask, then cub: Flagged on int4", false, theirs, [&] {
    thrust::transform(thrust::cuda::par_nosync.on(gpu.stream()), as_vector, as_vector + items, mask.data(),
                      InLowerHalf{});
    scratch.run(flagged_call);
  });

  add("thrust: copy_if on int4", false, theirs, [&] {
    const int4* end = nullptr;
    end = thrust::copy_if(thrust::cuda::par.on(gpu.stream()), as_vector, as_vector + items, out_vector, InLowerHalf{});
    const auto copied = static_cast<std::uint64_t>(end - out_vector);
    SLUICE_BENCH_CHECK(cudaMemcpyAsync(count.data(), &copied, sizeof copied, cudaMemcpyHostToDevice, gpu.stream()));
  });

  const auto* as_wide = reinterpret_cast<const uint128*>(points.data());
  auto* out_wide = reinterpret_cast<uint128*>(theirs.data());
  const auto wide_call = [&](void* at, std::size_t& size) {
    return cub::DeviceSelect::If(at, size, as_wide, out_wide, count.data(), n, InLowerHalf{}, gpu.stream());
  };
  scratch.reserve(wide_call);
  add("cub by an expert: If on 128-bit", false, theirs, [&] { scratch.run(wide_call); });
}

}  // namespace sluice::bench
