// SPDX-License-Identifier: Apache-2.0
#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/transform.h>

#include <cub/device/device_select.cuh>

#include "cub_call.hpp"
#include "race.hpp"
#include "works.hpp"

namespace sluice::bench {

namespace {

void compact_some(const Setting& setting, const DeviceArray<Record16>& points, double fraction) {
  Gpu& gpu = setting.gpu;
  const std::uint64_t items = setting.items;
  const auto n = static_cast<std::int64_t>(items);
  const Region region = region_that_keeps(fraction, setting.distribution, items);
  const DeviceArray<Record16> out(gpu.cuda(), items);
  const DeviceArray<kernels::SelectCounts> counts(gpu.cuda(), 1);
  const DeviceArray<std::uint64_t> count(gpu.cuda(), 1);
  Case what = setting.named("crop, " + percent(fraction) + " kept");
  what.kept_fraction = fraction;
  Race race(gpu, setting.report, what, {{out.data(), out.bytes()}});

  std::uint64_t kept = 0;
  const auto first_records = [&](std::uint64_t number) {
    kept = number;
    return std::vector<Piece>{{out.data(), number * sizeof(Record16)}};
  };
  const kernels::PointInput input = input_of(points);
  const auto with = [&](kernels::Backend& backend, Role role) {
    kernels::Operations& operations = backend.operations();
    const auto predicate = operations.prepare(region.program());
    const auto workspace = std::make_shared<kernels::Workspace>(backend.memory(), operations.select_scratch(items));
    kernels::SelectOutputs outputs;
    outputs.records = out.data();
    outputs.counts = counts.data();
    Contender contender{std::string(backend.name()), role};
    contender.run = [=, &operations, &gpu] { operations.select(*predicate, input, outputs, *workspace, gpu.view()); };
    contender.output = [&] { return first_records(gpu.read(counts.data()).kept); };
    race.add(std::move(contender));
  };
  with(gpu.cuda(), Role::kOurs);
  with(gpu.thrust(), Role::kSecond);

  CubScratch scratch(gpu);
  const auto add_cub = [&](const std::string& by, Role role, const std::function<void()>& run) {
    race.add({by, role, run, [&] { return first_records(gpu.read(count.data())); }});
  };
  const auto* as_vector = reinterpret_cast<const int4*>(points.data());
  auto* out_vector = reinterpret_cast<int4*>(out.data());
  const auto vector_call = [&](void* at, std::size_t& size) {
    return cub::DeviceSelect::If(at, size, as_vector, out_vector, count.data(), n, region, gpu.stream());
  };
  scratch.reserve(vector_call);
  add_cub("cub: If on int4", Role::kUsual, [&] { scratch.run(vector_call); });

  const DeviceArray<std::uint8_t> mask(gpu.cuda(), items);
  const auto flagged_call = [&](void* at, std::size_t& size) {
    return cub::DeviceSelect::Flagged(at, size, as_vector, mask.data(), out_vector, count.data(), n, gpu.stream());
  };
  scratch.reserve(flagged_call);
  add_cub("mask, then cub: Flagged on int4", Role::kUsual, [&] {
    thrust::transform(thrust::cuda::par_nosync.on(gpu.stream()), as_vector, as_vector + items, mask.data(), region);
    scratch.run(flagged_call);
  });

  std::uint64_t copied = 0;
  race.add({"thrust: copy_if on int4", Role::kUsual,
            [&] {
              const auto policy = thrust::cuda::par.on(gpu.stream());
              const int4* end = thrust::copy_if(policy, as_vector, as_vector + items, out_vector, region);
              copied = static_cast<std::uint64_t>(end - out_vector);
            },
            [&] { return first_records(copied); }});

  const auto* as_wide = reinterpret_cast<const uint128*>(points.data());
  auto* out_wide = reinterpret_cast<uint128*>(out.data());
  const auto wide_call = [&](void* at, std::size_t& size) {
    return cub::DeviceSelect::If(at, size, as_wide, out_wide, count.data(), n, region, gpu.stream());
  };
  scratch.reserve(wide_call);
  add_cub("cub expert: If on 128-bit integers", Role::kExpert, [&] { scratch.run(wide_call); });
  const auto wide_flagged_call = [&](void* at, std::size_t& size) {
    return cub::DeviceSelect::Flagged(at, size, as_wide, mask.data(), out_wide, count.data(), n, gpu.stream());
  };
  scratch.reserve(wide_flagged_call);
  add_cub("cub expert: mask, then Flagged on 128-bit integers", Role::kExpert, [&] {
    thrust::transform(thrust::cuda::par_nosync.on(gpu.stream()), as_wide, as_wide + items, mask.data(), region);
    scratch.run(wide_flagged_call);
  });

  race.compare();
  race.time(setting.rounds, (items + kept) * sizeof(Record16), Caches::kCold);
}

}  // namespace

void bench_compact(const Setting& setting) {
  const DeviceArray<Record16> points =
      make_points(setting.gpu, setting.report, setting.distribution, setting.items, CellBits{{8, 8, 0}});
  for (const double fraction : setting.kept) compact_some(setting, points, fraction);
}

}  // namespace sluice::bench
