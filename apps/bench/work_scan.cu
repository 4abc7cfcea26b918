// SPDX-License-Identifier: Apache-2.0
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>
#include <memory>

#include "cub_call.hpp"
#include "race.hpp"
#include "works.hpp"

namespace sluice::bench {

namespace {

using Words = DeviceArray<std::uint32_t>;

void scan_to_64(const Setting& setting, const Words& in) {
  Gpu& gpu = setting.gpu;
  const std::uint64_t items = setting.items;
  const DeviceArray<std::uint64_t> out(gpu.cuda(), items);
  const Piece all{out.data(), out.bytes()};
  Race race(gpu, setting.report, setting.named("exclusive scan u32 -> u64"), {all});
  const auto output = [&] { return std::vector<Piece>{all}; };
  for (kernels::Backend* backend : {&gpu.cuda(), &gpu.thrust()}) {
    kernels::Primitives& primitives = backend->primitives();
    const auto workspace =
        std::make_shared<kernels::Workspace>(backend->memory(), primitives.exclusive_scan_scratch(items));
    race.add(
        {std::string(backend->name()), backend == &gpu.cuda() ? Role::kOurs : Role::kSecond,
         [&, workspace] { primitives.exclusive_scan(in.data(), items, out.data(), nullptr, *workspace, gpu.view()); },
         output});
  }
  CubScratch scratch(gpu);
  const auto call = [&](void* at, std::size_t& size) {
    return cub::DeviceScan::ExclusiveScan(at, size, in.data(), out.data(), ::cuda::std::plus<>{}, std::uint64_t{0},
                                          static_cast<std::uint32_t>(items), gpu.stream());
  };
  scratch.reserve(call);
  race.add({"cub expert: ExclusiveScan to u64", Role::kExpert, [&] { scratch.run(call); }, output});
  race.compare();
  race.time(setting.rounds, items * 12, Caches::kCold);
}

/// Adds the rows of this project where its primitives have a scan whose 32-bit sums may wrap.
template <typename PrimitivesT>
bool add_wrapping_scan(Race& race, Gpu& gpu, kernels::Backend& backend, PrimitivesT& primitives, Role role,
                       const Words& in, const Words& out) {
  if constexpr (requires(kernels::Workspace & workspace) {
                  primitives.exclusive_scan_wrapping(in.data(), in.count(), out.data(), nullptr, workspace, gpu.view());
                }) {
    const auto workspace =
        std::make_shared<kernels::Workspace>(backend.memory(), primitives.exclusive_scan_scratch(in.count()));
    race.add({std::string(backend.name()), role,
              [=, &primitives, &in, &out, &gpu] {
                primitives.exclusive_scan_wrapping(in.data(), in.count(), out.data(), nullptr, *workspace, gpu.view());
              },
              [&out] {
                return std::vector<Piece>{{out.data(), out.bytes()}};
              }});
    return true;
  }
  return false;
}

void scan_to_32(const Setting& setting, const Words& in) {
  Gpu& gpu = setting.gpu;
  const Words out(gpu.cuda(), setting.items);
  const Piece all{out.data(), out.bytes()};
  const Case what = setting.named("exclusive scan u32 -> u32");
  Race race(gpu, setting.report, what, {all});
  if (!add_wrapping_scan(race, gpu, gpu.cuda(), gpu.cuda().primitives(), Role::kOurs, in, out)) {
    setting.report.leave_out(what, "cuda", "there is no scan to 32-bit sums that may wrap", false);
  }
  static_cast<void>(add_wrapping_scan(race, gpu, gpu.thrust(), gpu.thrust().primitives(), Role::kSecond, in, out));
  CubScratch scratch(gpu);
  const auto call = [&](void* at, std::size_t& size) {
    return cub::DeviceScan::ExclusiveSum(at, size, in.data(), out.data(), static_cast<std::uint32_t>(setting.items),
                                         gpu.stream());
  };
  scratch.reserve(call);
  race.add(
      {"cub expert: ExclusiveSum", Role::kExpert, [&] { scratch.run(call); }, [&] { return std::vector<Piece>{all}; }});
  race.compare();
  race.time(setting.rounds, setting.items * 8, Caches::kCold);
}

}  // namespace

void bench_scan(const Setting& setting) {
  const Words in = make_keys<std::uint32_t>(setting.gpu, setting.report, setting.distribution, setting.items, 32);
  scan_to_64(setting, in);
  scan_to_32(setting, in);
}

}  // namespace sluice::bench
