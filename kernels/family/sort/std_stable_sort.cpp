// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "kernels/family/sort/buffers.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::sort {

namespace {

template <typename KeyT>
void sort(const Buffers<KeyT>& buffers, std::uint64_t n) {
  KeyT* const keys = buffers.keys[0];
  if (!buffers.has_values()) {
    std::stable_sort(keys, keys + n);
    return;
  }
  struct Pair {
    KeyT key;
    std::uint32_t value;
  };
  std::vector<Pair> pairs(n);
  for (std::uint64_t i = 0; i < n; ++i) pairs[i] = {keys[i], buffers.values[0][i]};
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.key < b.key; });
  for (std::uint64_t i = 0; i < n; ++i) {
    keys[i] = pairs[i].key;
    buffers.values[0][i] = pairs[i].value;
  }
}

}  // namespace

SortVariant std_stable_sort() {
  return {{"std-stable-sort", "std::stable_sort of pairs"},
          [](ItemType, std::uint64_t) { return std::size_t{0}; },
          [](const SortCall& call, Workspace&, StreamView) {
            return with_buffers(call, [&](const auto& buffers) {
              sort(buffers, call.n);
              return 0;
            });
          }};
}

}  // namespace sluice::kernels::family::sort
