// SPDX-License-Identifier: Apache-2.0
/// \file
/// Stable compaction by a byte per item, in blocks.
#pragma once

#include <cstdint>

#include "kernels/cpu/parallel/blocks.hpp"
#include "kernels/cpu/parallel/stencil.hpp"
#include "sluice/kernels/stream.hpp"

namespace sluice::kernels {

inline std::size_t compact_chosen_scratch(std::uint64_t n) {
  return Workspace::bytes_for<std::uint64_t>(blocks_of(n) + 1);
}

/// Writes value(i) of every chosen item, in order. \return how many
template <typename Stencil, typename T, typename Value>
std::uint64_t compact_chosen(Stencil stencil, const std::uint8_t* flags, std::uint64_t n, T* out, Value value,
                             Workspace& workspace) {
  const WorkspaceScope scope(workspace);
  const std::uint64_t blocks = blocks_of(n);
  auto* begin_of = workspace.take<std::uint64_t>(blocks + 1);
  for_blocks(n, kBlock, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    begin_of[block] = count_chosen(stencil, flags, begin, end);
  });
  begin_of[blocks] = begin_of_each(begin_of, blocks);
  for_blocks(n, kBlock, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    emit_chosen(stencil, flags, begin, end, begin_of[block + 1] - begin_of[block], out + begin_of[block], value);
  });
  return begin_of[blocks];
}

}  // namespace sluice::kernels
