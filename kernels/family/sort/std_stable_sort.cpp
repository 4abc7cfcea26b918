// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "kernels/family/operators.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::sort {

namespace {

template <typename KeyT>
void run(const SortCall& call) {
  auto* keys = static_cast<KeyT*>(call.keys[0]);
  if (call.values[0] == nullptr) {
    std::stable_sort(keys, keys + call.n);
    return;
  }
  struct Pair {
    KeyT key;
    std::uint32_t value;
  };
  std::vector<Pair> pairs(call.n);
  for (std::uint64_t i = 0; i < call.n; ++i) pairs[i] = {keys[i], call.values[0][i]};
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.key < b.key; });
  for (std::uint64_t i = 0; i < call.n; ++i) {
    keys[i] = pairs[i].key;
    call.values[0][i] = pairs[i].value;
  }
}

}  // namespace

SortVariant std_stable_sort() {
  return {{"std-stable-sort", "std::stable_sort of pairs"},
          [](ItemType, std::uint64_t) { return std::size_t{0}; },
          [](const SortCall& call, Workspace&, StreamView) {
            with_key_type(call.type, [&]<typename KeyT>() { run<KeyT>(call); });
            return 0;
          }};
}

}  // namespace sluice::kernels::family::sort
