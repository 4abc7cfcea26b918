// SPDX-License-Identifier: Apache-2.0
/// \file
/// The engine's own sort of the CPU: a digit of up to eleven bits a pass, least significant first. Blocks of items
/// count their digits side by side, the counts become places in the order (digit, block), and blocks move their items
/// there: the three steps of `lsd-three-kernel`, with blocks of 65536 items or more and a scan by one thread. Work is n
/// a pass; a pass whose digit is the same in all keys moves nothing.
#include "kernels/cpu/parallel/radix.hpp"
#include "kernels/family/sort/buffers.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::sort {

namespace {

template <typename KeyT>
int sort(const Buffers<KeyT>& buffers, std::uint64_t n, Workspace& workspace) {
  constexpr unsigned kBits = 8 * sizeof(KeyT);
  if (!buffers.has_values()) {
    const KeysOnly<KeyT> items[2] = {{buffers.keys[0]}, {buffers.keys[1]}};
    return radix_sort(items, n, 0, kBits, workspace);
  }
  const SplitItems<KeyT> items[2] = {{buffers.keys[0], buffers.values[0]}, {buffers.keys[1], buffers.values[1]}};
  return radix_sort(items, n, 0, kBits, workspace);
}

}  // namespace

SortVariant tbb_lsd() {
  return {{"tbb-lsd", "digits counted and moved in blocks"},
          [](ItemType, std::uint64_t n) { return radix_scratch(n); },
          [](const SortCall& call, Workspace& workspace, StreamView) {
            return with_buffers(call, [&](const auto& buffers) { return sort(buffers, call.n, workspace); });
          }};
}

}  // namespace sluice::kernels::family::sort
