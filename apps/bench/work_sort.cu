// SPDX-License-Identifier: Apache-2.0
#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/sequence.h>

#include <cub/device/device_radix_sort.cuh>
#include <memory>

#include "cub_call.hpp"
#include "race.hpp"
#include "works.hpp"

namespace sluice::bench {

namespace {

/// Keys and values that a sort goes back and forth between.
template <typename KeyT>
struct Sides {
  Sides(Gpu& on, std::uint64_t items)
      : gpu(on), keys{{on.cuda(), items}, {on.cuda(), items}}, values{{on.cuda(), items}, {on.cuda(), items}} {}

  /// Sorts overwrite their input, so each starts from a copy.
  void fill(const DeviceArray<KeyT>& from, const DeviceArray<std::uint32_t>& numbers) {
    gpu.copy(keys[0].data(), from.data(), from.bytes());
    gpu.copy(values[0].data(), numbers.data(), numbers.bytes());
  }
  [[nodiscard]] Piece keys_at(int side) const { return {keys[side].data(), keys[side].bytes()}; }
  [[nodiscard]] Piece values_at(int side) const { return {values[side].data(), values[side].bytes()}; }

  /// Sorts with two buffers of each.
  int cub_sort(CubScratch& scratch, bool pairs, int bits) const {
    cub::DoubleBuffer<KeyT> key_sides(keys[0].data(), keys[1].data());
    cub::DoubleBuffer<std::uint32_t> value_sides(values[0].data(), values[1].data());
    const auto n = static_cast<std::uint32_t>(keys[0].count());
    const auto call = [&](void* at, std::size_t& size) {
      return pairs ? cub::DeviceRadixSort::SortPairs(at, size, key_sides, value_sides, n, 0, bits, gpu.stream())
                   : cub::DeviceRadixSort::SortKeys(at, size, key_sides, n, 0, bits, gpu.stream());
    };
    scratch.reserve(call);
    scratch.run(call);
    return key_sides.selector;
  }

  Gpu& gpu;
  DeviceArray<KeyT> keys[2];
  DeviceArray<std::uint32_t> values[2];
};

/// Keys that have no more than `bits` bits, so that a sort by all bits gives the same.
template <typename KeyT>
void sort_by(const Setting& setting, unsigned bits, bool pairs) {
  constexpr int kAllBits = 8 * sizeof(KeyT);
  Gpu& gpu = setting.gpu;
  const std::uint64_t items = setting.items;
  const DeviceArray<KeyT> from = make_keys<KeyT>(gpu, setting.report, setting.distribution, items, bits);
  const DeviceArray<std::uint32_t> numbers(gpu.cuda(), items);
  thrust::sequence(thrust::cuda::par.on(gpu.stream()), numbers.data(), numbers.data() + items);
  Sides<KeyT> sides(gpu, items);
  const Case what = setting.named("sort u" + std::to_string(kAllBits) + (pairs ? " pairs" : " keys") + " by " +
                                  std::to_string(bits) + " bits");
  Race race(gpu, setting.report, what, {sides.keys_at(0), sides.keys_at(1), sides.values_at(0), sides.values_at(1)});

  int side = 0;
  const std::function<std::vector<Piece>()> output = [&] {
    std::vector<Piece> out = {sides.keys_at(side)};
    if (pairs) out.push_back(sides.values_at(side));
    return out;
  };
  const std::function<void()> fill = [&] { sides.fill(from, numbers); };
  for (kernels::Backend* backend : {&gpu.cuda(), &gpu.thrust()}) {
    kernels::Primitives& primitives = backend->primitives();
    const auto workspace =
        std::make_shared<kernels::Workspace>(backend->memory(), primitives.sort_scratch(sizeof(KeyT), items));
    kernels::SortBuffers buffers{{sides.keys[0].data(), sides.keys[1].data()}, {nullptr, nullptr}};
    if (pairs) {
      for (int i = 0; i < 2; ++i) buffers.values[i] = sides.values[i].data();
    }
    race.add({std::string(backend->name()), backend == &gpu.cuda() ? Role::kOurs : Role::kSecond,
              [=, &side, &primitives, &gpu] {
                side = primitives.sort(buffers, sizeof(KeyT), items, 0, bits, *workspace, gpu.view());
              },
              output, fill});
  }

  CubScratch scratch(gpu);
  race.add({"cub: all bits, from input to output", Role::kUsual,
            [&] {
              const auto n = static_cast<std::uint32_t>(items);
              const auto call = [&](void* at, std::size_t& size) {
                return pairs ? cub::DeviceRadixSort::SortPairs(at, size, from.data(), sides.keys[1].data(),
                                                               numbers.data(), sides.values[1].data(), n, 0, kAllBits,
                                                               gpu.stream())
                             : cub::DeviceRadixSort::SortKeys(at, size, from.data(), sides.keys[1].data(), n, 0,
                                                              kAllBits, gpu.stream());
              };
              scratch.reserve(call);
              scratch.run(call);
              side = 1;
            },
            output});
  race.add({"cub expert: exact bits, two buffers", Role::kExpert,
            [&] { side = sides.cub_sort(scratch, pairs, static_cast<int>(bits)); }, output, fill});
  if (bits <= 16) {
    // Its keys are half as wide from the start.
    const auto narrow_from = std::make_shared<DeviceArray<std::uint16_t>>(gpu.cuda(), items);
    thrust::copy(thrust::cuda::par.on(gpu.stream()), from.data(), from.data() + items, narrow_from->data());
    const auto narrow = std::make_shared<Sides<std::uint16_t>>(gpu, items);
    race.add({"cub expert: keys of 16 bits, two buffers", Role::kExpert,
              [=, &side, &scratch] { side = narrow->cub_sort(scratch, pairs, static_cast<int>(bits)); },
              [=, &side, &sides, &gpu] {
                const std::uint16_t* keys = narrow->keys[side].data();
                thrust::copy(thrust::cuda::par.on(gpu.stream()), keys, keys + items, sides.keys[0].data());
                std::vector<Piece> out = {sides.keys_at(0)};
                if (pairs) out.push_back(narrow->values_at(side));
                return out;
              },
              [=, &numbers] { narrow->fill(*narrow_from, numbers); }});
  }

  race.compare();
  race.time(setting.rounds, 2 * items * (sizeof(KeyT) + (pairs ? sizeof(std::uint32_t) : 0)), Caches::kCold);
}

}  // namespace

void bench_sort(const Setting& setting) {
  sort_by<std::uint32_t>(setting, 16, true);
  sort_by<std::uint32_t>(setting, 26, true);
  sort_by<std::uint32_t>(setting, 32, true);
  sort_by<std::uint32_t>(setting, 32, false);
  sort_by<std::uint64_t>(setting, 64, true);
  sort_by<std::uint64_t>(setting, 64, false);
}

}  // namespace sluice::bench
