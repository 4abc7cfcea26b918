// SPDX-License-Identifier: Apache-2.0
/// \file
/// `tbb::parallel_sort`, a quicksort whose halves go to different threads: n log n comparisons. It is not stable, so
/// that with values it sorts pairs of a key and the place where it was, which makes all pairs different; the values
/// follow from the places. Keys alone that are equal cannot be told apart.
#include "kernels/family/sort/buffers.hpp"
#include "kernels/family/variants.hpp"
#include "tbb/blocked_range.h"
#include "tbb/parallel_for.h"
#include "tbb/parallel_sort.h"

namespace sluice::kernels::family::sort {

namespace {

template <typename KeyT>
struct Placed {
  KeyT key;
  std::uint32_t place;

  bool operator<(const Placed& other) const { return key != other.key ? key < other.key : place < other.place; }
};

template <typename F>
void for_each(std::uint64_t n, const F& f) {
  using Range = tbb::blocked_range<std::uint64_t>;
  tbb::parallel_for(Range(0, n, 16384), [&](const Range& range) {
    for (std::uint64_t i = range.begin(); i != range.end(); ++i) f(i);
  });
}

template <typename KeyT>
int sort(const Buffers<KeyT>& buffers, std::uint64_t n, Workspace& workspace) {
  if (!buffers.has_values()) {
    tbb::parallel_sort(buffers.keys[0], buffers.keys[0] + n);
    return 0;
  }
  const WorkspaceScope scope(workspace);
  auto* pairs = workspace.take<Placed<KeyT>>(n);
  for_each(n, [&](std::uint64_t i) { pairs[i] = {buffers.keys[0][i], static_cast<std::uint32_t>(i)}; });
  tbb::parallel_sort(pairs, pairs + n);
  for_each(n, [&](std::uint64_t i) {
    buffers.keys[1][i] = pairs[i].key;
    buffers.values[1][i] = buffers.values[0][pairs[i].place];
  });
  return 1;
}

}  // namespace

SortVariant tbb_parallel_sort() {
  return {{"tbb-parallel-sort", "parallel_sort of keys and places"},
          [](ItemType type, std::uint64_t n) {
            return with_key_type(type, [&]<typename KeyT>() { return Workspace::bytes_for<Placed<KeyT>>(n); });
          },
          [](const SortCall& call, Workspace& workspace, StreamView) {
            return with_buffers(call, [&](const auto& buffers) { return sort(buffers, call.n, workspace); });
          }};
}

}  // namespace sluice::kernels::family::sort
