// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cub/device/device_radix_sort.cuh>

#include "kernels/cuda/detail/arguments.hpp"
#include "kernels/cuda/thrust/call.hpp"
#include "kernels/cuda/thrust/primitives.hpp"

namespace sluice::kernels::cuda {

namespace {

template <typename KeyT>
cub::DoubleBuffer<KeyT> keys_of(const SortBuffers& buffers) {
  return {static_cast<KeyT*>(buffers.keys[0]), static_cast<KeyT*>(buffers.keys[1])};
}

template <typename KeyT>
auto keys_call(cub::DoubleBuffer<KeyT>& keys, std::uint64_t n, unsigned begin_bit, unsigned end_bit,
               StreamView stream) {
  return [&keys, n, begin_bit, end_bit, stream](void* scratch, std::size_t& bytes) {
    // CUB's positions are as wide as the type of the count.
    const auto sort = [&](auto count) {
      return cub::DeviceRadixSort::SortKeys(scratch, bytes, keys, count, static_cast<int>(begin_bit),
                                            static_cast<int>(end_bit), handle_of(stream));
    };
    return fits_32_bits(n) ? sort(static_cast<std::uint32_t>(n)) : sort(n);
  };
}

template <typename KeyT>
auto pairs_call(cub::DoubleBuffer<KeyT>& keys, cub::DoubleBuffer<std::uint32_t>& values, std::uint64_t n,
                unsigned begin_bit, unsigned end_bit, StreamView stream) {
  return [&keys, &values, n, begin_bit, end_bit, stream](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, values, static_cast<std::uint32_t>(n),
                                           static_cast<int>(begin_bit), static_cast<int>(end_bit), handle_of(stream));
  };
}

template <typename KeyT>
int sort_keys(const SortBuffers& buffers, std::uint64_t n, unsigned begin_bit, unsigned end_bit, Workspace& workspace,
              StreamView stream) {
  cub::DoubleBuffer<KeyT> keys = keys_of<KeyT>(buffers);
  if (buffers.values[0] == nullptr) {
    cub_run(keys_call(keys, n, begin_bit, end_bit, stream), workspace);
  } else {
    cub::DoubleBuffer<std::uint32_t> values(buffers.values[0], buffers.values[1]);
    cub_run(pairs_call(keys, values, n, begin_bit, end_bit, stream), workspace);
    if (values.selector != keys.selector) throw Error("a sort left keys and values in different buffers");
  }
  return keys.selector;
}

template <typename KeyT>
std::size_t scratch_of(std::uint64_t n) {
  cub::DoubleBuffer<KeyT> keys(nullptr, nullptr);
  cub::DoubleBuffer<std::uint32_t> values(nullptr, nullptr);
  const StreamView stream(nullptr);
  const std::size_t keys_only = cub_scratch(keys_call(keys, n, 0, 8 * sizeof(KeyT), stream));
  if (!fits_32_bits(n)) return keys_only;
  return std::max(keys_only, cub_scratch(pairs_call(keys, values, n, 0, 8 * sizeof(KeyT), stream)));
}

}  // namespace

int ThrustPrimitives::sort(const SortBuffers& buffers, std::uint32_t key_bytes, std::uint64_t n, unsigned begin_bit,
                           unsigned end_bit, Workspace& workspace, StreamView stream) {
  check_sort_count(n, buffers.values[0] != nullptr);
  check_bit_range(key_bytes, begin_bit, end_bit);
  if (n < 2 || begin_bit == end_bit) return 0;
  const ScopedDevice current(device());
  return key_bytes == 4 ? sort_keys<std::uint32_t>(buffers, n, begin_bit, end_bit, workspace, stream)
                        : sort_keys<std::uint64_t>(buffers, n, begin_bit, end_bit, workspace, stream);
}

std::size_t ThrustPrimitives::sort_scratch(std::uint32_t key_bytes, std::uint64_t n) const {
  check_key_bytes(key_bytes);
  const ScopedDevice current(device());
  return key_bytes == 4 ? scratch_of<std::uint32_t>(n) : scratch_of<std::uint64_t>(n);
}

}  // namespace sluice::kernels::cuda
