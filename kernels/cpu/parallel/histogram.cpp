// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/arguments.hpp"
#include "kernels/cpu/item.hpp"
#include "kernels/cpu/parallel/blocks.hpp"
#include "kernels/cpu/parallel/primitives.hpp"

namespace sluice::kernels {

namespace {

/// Large enough that clearing and adding up a block's own counts costs little beside counting, and at most 64 blocks.
std::uint64_t histogram_block(std::uint64_t n, unsigned bits) {
  return std::max({std::uint64_t{65536}, std::uint64_t{8} << bits, (n + 63) / 64});
}

}  // namespace

void ParallelPrimitives::histogram(const void* keys, std::uint32_t key_bytes, std::uint64_t n, unsigned begin_bit,
                                   unsigned bits, std::uint64_t* counts, Workspace& workspace, StreamView /*stream*/) {
  check_count(n);
  check_digit(key_bytes, begin_bit, bits);
  const WorkspaceScope scope(workspace);
  const std::uint64_t values = std::uint64_t{1} << bits;
  const std::uint64_t block = histogram_block(n, bits);
  const std::uint64_t blocks = blocks_of(n, block);
  auto* counts_of = workspace.take<std::uint32_t>(blocks * values);
  with_key(key_bytes, [&]<typename K>(K) {
    const auto* from = static_cast<const K*>(keys);
    const K mask = static_cast<K>((K{1} << bits) - 1);
    for_blocks(n, block, [&](std::uint64_t b, std::uint64_t begin, std::uint64_t end) {
      std::uint32_t* mine = counts_of + b * values;
      std::fill_n(mine, values, 0U);
      for (std::uint64_t i = begin; i < end; ++i) ++mine[(from[i] >> begin_bit) & mask];
    });
  });
  std::fill_n(counts, values, std::uint64_t{0});
  for (std::uint64_t b = 0; b < blocks; ++b) {
    for (std::uint64_t v = 0; v < values; ++v) counts[v] += counts_of[b * values + v];
  }
}

std::size_t ParallelPrimitives::histogram_scratch(std::uint64_t n, unsigned bits) const {
  return Workspace::bytes_for<std::uint32_t>(blocks_of(n, histogram_block(n, bits)) << bits);
}

}  // namespace sluice::kernels
