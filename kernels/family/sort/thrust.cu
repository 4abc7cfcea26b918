// SPDX-License-Identifier: Apache-2.0
/// \file
/// `thrust::stable_sort` and `stable_sort_by_key`, which are CUB's sort in place: the second buffer is Thrust's own.
#include <thrust/sort.h>

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>

#include "kernels/cuda/thrust/call.hpp"
#include "kernels/family/sort/buffers.hpp"
#include "kernels/family/thrust_memory.cuh"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::sort {

namespace {

template <typename KeyT>
int sort(const Buffers<KeyT>& buffers, std::uint64_t n, Workspace& workspace, StreamView stream) {
  with_thrust(workspace, stream, [&](const auto& policy) {
    KeyT* const keys = buffers.keys[0];
    if (buffers.has_values()) {
      thrust::stable_sort_by_key(policy, keys, keys + n, buffers.values[0]);
    } else {
      thrust::stable_sort(policy, keys, keys + n);
    }
  });
  return 0;
}

template <typename KeyT>
std::size_t scratch(std::uint64_t n) {
  cub::DoubleBuffer<KeyT> keys(nullptr, nullptr);
  cub::DoubleBuffer<std::uint32_t> values(nullptr, nullptr);
  const std::size_t passes = cuda::cub_scratch([&](void* memory, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(memory, bytes, keys, values, n);
  });
  return passes + Workspace::bytes_for<KeyT>(n) + Workspace::bytes_for<std::uint32_t>(n) + kThrustExtra;
}

}  // namespace

SortVariant thrust() {
  return {{"thrust", "thrust::stable_sort", true},
          [](ItemType type, std::uint64_t n) {
            return with_key_type(type, [&]<typename KeyT>() { return scratch<KeyT>(n); });
          },
          [](const SortCall& call, Workspace& workspace, StreamView stream) {
            return with_buffers(call, [&](const auto& buffers) { return sort(buffers, call.n, workspace, stream); });
          }};
}

}  // namespace sluice::kernels::family::sort
