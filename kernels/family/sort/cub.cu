// SPDX-License-Identifier: Apache-2.0
/// \file
/// `cub::DeviceRadixSort`: onesweep, tuned for each architecture.
#include <algorithm>
#include <cub/device/device_radix_sort.cuh>

#include "kernels/cuda/thrust/call.hpp"
#include "kernels/family/sort/buffers.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::sort {

namespace {

template <typename KeyT>
auto keys_call(cub::DoubleBuffer<KeyT>& keys, std::uint64_t n, StreamView stream) {
  return [&keys, n, stream](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(scratch, bytes, keys, static_cast<std::uint32_t>(n), 0,
                                          static_cast<int>(8 * sizeof(KeyT)), cuda::handle_of(stream));
  };
}

template <typename KeyT>
auto pairs_call(cub::DoubleBuffer<KeyT>& keys, cub::DoubleBuffer<std::uint32_t>& values, std::uint64_t n,
                StreamView stream) {
  return [&keys, &values, n, stream](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, values, static_cast<std::uint32_t>(n), 0,
                                           static_cast<int>(8 * sizeof(KeyT)), cuda::handle_of(stream));
  };
}

template <typename KeyT>
int sort(const Buffers<KeyT>& buffers, std::uint64_t n, Workspace& workspace, StreamView stream) {
  cub::DoubleBuffer<KeyT> keys(buffers.keys[0], buffers.keys[1]);
  if (!buffers.has_values()) {
    cuda::cub_run(keys_call(keys, n, stream), workspace);
    return keys.selector;
  }
  cub::DoubleBuffer<std::uint32_t> values(buffers.values[0], buffers.values[1]);
  cuda::cub_run(pairs_call(keys, values, n, stream), workspace);
  if (values.selector != keys.selector) throw Error("a sort left keys and values in different buffers");
  return keys.selector;
}

template <typename KeyT>
std::size_t scratch(std::uint64_t n) {
  cub::DoubleBuffer<KeyT> keys(nullptr, nullptr);
  cub::DoubleBuffer<std::uint32_t> values(nullptr, nullptr);
  const StreamView stream(nullptr);
  return std::max(cuda::cub_scratch(keys_call(keys, n, stream)),
                  cuda::cub_scratch(pairs_call(keys, values, n, stream)));
}

}  // namespace

SortVariant cub() {
  return {{"cub", "cub::DeviceRadixSort", true},
          [](ItemType type, std::uint64_t n) {
            return with_key_type(type, [&]<typename KeyT>() { return scratch<KeyT>(n); });
          },
          [](const SortCall& call, Workspace& workspace, StreamView stream) {
            if (call.n == 0) return 0;
            return with_buffers(call, [&](const auto& buffers) { return sort(buffers, call.n, workspace, stream); });
          }};
}

}  // namespace sluice::kernels::family::sort
