// SPDX-License-Identifier: Apache-2.0
/// \file
/// Runs of equal neighbouring keys, in blocks. A run belongs to the block that holds its first item.
#pragma once

#include <cstdint>

#include "kernels/cpu/parallel/blocks.hpp"
#include "sluice/kernels/stream.hpp"

namespace sluice::kernels {

inline std::size_t runs_scratch(std::uint64_t n) { return Workspace::bytes_for<std::uint64_t>(blocks_of(n)); }

/// Calls start(run, i) for the first item i of every run, in any order of runs.
/// \param key  key(i) is the key of item i
/// \return number of runs
template <typename Key, typename Start>
std::uint64_t for_runs(std::uint64_t n, Key key, Start start, Workspace& workspace) {
  const WorkspaceScope scope(workspace);
  auto* first_run = workspace.take<std::uint64_t>(blocks_of(n));
  const auto starts = [&](std::uint64_t i) { return i == 0 || key(i) != key(i - 1); };
  for_blocks(n, kBlock, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    std::uint64_t found = 0;
    for (std::uint64_t i = begin; i < end; ++i) found += starts(i) ? 1U : 0U;
    first_run[block] = found;
  });
  const std::uint64_t runs = begin_of_each(first_run, blocks_of(n));
  for_blocks(n, kBlock, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    std::uint64_t run = first_run[block];
    for (std::uint64_t i = begin; i < end; ++i) {
      if (starts(i)) start(run++, i);
    }
  });
  return runs;
}

}  // namespace sluice::kernels
