// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments.hpp"
#include "kernels/cpu/item.hpp"
#include "kernels/cpu/parallel/primitives.hpp"
#include "kernels/cpu/parallel/radix.hpp"

namespace sluice::kernels {

int ParallelPrimitives::sort(const SortBuffers& buffers, std::uint32_t key_bytes, std::uint64_t n, unsigned begin_bit,
                             unsigned end_bit, Workspace& workspace, StreamView /*stream*/) {
  check_sort_count(n, buffers.values[0] != nullptr);
  check_bit_range(key_bytes, begin_bit, end_bit);
  return with_key(key_bytes, [&]<typename K>(K) {
    K* const keys[2] = {static_cast<K*>(buffers.keys[0]), static_cast<K*>(buffers.keys[1])};
    if (buffers.values[0] == nullptr) {
      const KeysOnly<K> items[2] = {{keys[0]}, {keys[1]}};
      if (!fits_32_bits(n)) return radix_sort<std::uint64_t>(items, n, begin_bit, end_bit, workspace);
      return radix_sort(items, n, begin_bit, end_bit, workspace);
    }
    const SplitItems<K> items[2] = {{keys[0], buffers.values[0]}, {keys[1], buffers.values[1]}};
    return radix_sort(items, n, begin_bit, end_bit, workspace);
  });
}

std::size_t ParallelPrimitives::sort_scratch(std::uint32_t /*key_bytes*/, std::uint64_t n) const {
  return fits_32_bits(n) ? radix_scratch(n) : radix_scratch<std::uint64_t>(n);
}

}  // namespace sluice::kernels
