// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/parallel/runs.hpp"

#include "kernels/arguments.hpp"
#include "kernels/cpu/item.hpp"
#include "kernels/cpu/parallel/primitives.hpp"

namespace sluice::kernels {

void ParallelPrimitives::find_runs(const void* keys, std::uint32_t key_bytes, std::uint64_t n, std::uint64_t* run_keys,
                                   std::uint32_t* run_first, std::uint64_t* runs, Workspace& workspace,
                                   StreamView /*stream*/) {
  check_count(n);
  check_key_bytes(key_bytes);
  with_key(key_bytes, [&]<typename K>(K) {
    const auto* from = static_cast<const K*>(keys);
    const auto start = [=](std::uint64_t run, std::uint64_t i) {
      run_keys[run] = from[i];
      run_first[run] = static_cast<std::uint32_t>(i);
    };
    *runs = for_runs(
        n, [=](std::uint64_t i) { return from[i]; }, start, workspace);
  });
}

std::size_t ParallelPrimitives::find_runs_scratch(std::uint64_t n) const { return runs_scratch(n); }

void ParallelPrimitives::reduce_by_key(const void* keys, std::uint32_t key_bytes, const std::int64_t* values,
                                       std::uint64_t n, std::uint64_t* run_keys, std::int64_t* sums,
                                       std::uint64_t* runs, Workspace& workspace, StreamView /*stream*/) {
  check_count(n);
  check_key_bytes(key_bytes);
  const WorkspaceScope scope(workspace);
  const std::uint64_t blocks = blocks_of(n);
  auto* first_run = workspace.take<std::uint64_t>(blocks);
  // What the front of a block adds to the run that comes from the block before.
  auto* front_sum = workspace.take<std::uint64_t>(blocks);
  with_key(key_bytes, [&]<typename K>(K) {
    const auto* from = static_cast<const K*>(keys);
    const auto starts = [=](std::uint64_t i) { return i == 0 || from[i] != from[i - 1]; };
    for_blocks(n, kBlock, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t found = 0;
      for (std::uint64_t i = begin; i < end; ++i) found += starts(i) ? 1U : 0U;
      first_run[block] = found;
    });
    *runs = begin_of_each(first_run, blocks);
    for_blocks(n, kBlock, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t run = first_run[block];
      std::uint64_t sum = 0;  // unsigned, so that it may wrap
      std::uint64_t i = begin;
      for (; i < end && !starts(i); ++i) sum += static_cast<std::uint64_t>(values[i]);
      front_sum[block] = sum;
      while (i < end) {
        run_keys[run] = from[i];
        sum = static_cast<std::uint64_t>(values[i]);
        for (++i; i < end && !starts(i); ++i) sum += static_cast<std::uint64_t>(values[i]);
        sums[run++] = static_cast<std::int64_t>(sum);
      }
    });
  });
  for (std::uint64_t block = 1; block < blocks; ++block) {
    std::int64_t& sum = sums[first_run[block] - 1];
    sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + front_sum[block]);
  }
}

std::size_t ParallelPrimitives::reduce_by_key_scratch(std::uint64_t n) const {
  return 2 * Workspace::bytes_for<std::uint64_t>(blocks_of(n));
}

}  // namespace sluice::kernels
