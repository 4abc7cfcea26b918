// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments.hpp"
#include "kernels/cpu/parallel/blocks.hpp"
#include "kernels/cpu/parallel/primitives.hpp"

namespace sluice::kernels {

namespace {

/// \tparam OutT  what sums are kept in; they may wrap
template <typename OutT>
void scan(const std::uint32_t* in, std::uint64_t n, OutT* out, std::uint64_t* total, Workspace& workspace) {
  check_count(n);
  const WorkspaceScope scope(workspace);
  auto* begin_of = workspace.take<std::uint64_t>(blocks_of(n));
  for_blocks(n, kBlock, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = begin; i < end; ++i) sum += in[i];
    begin_of[block] = sum;
  });
  const std::uint64_t sum_of_all = begin_of_each(begin_of, blocks_of(n));
  for_blocks(n, kBlock, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    auto sum = static_cast<OutT>(begin_of[block]);
    for (std::uint64_t i = begin; i < end; ++i) {
      out[i] = sum;
      sum += in[i];
    }
  });
  if (total != nullptr) *total = sum_of_all;
}

}  // namespace

void ParallelPrimitives::exclusive_scan(const std::uint32_t* in, std::uint64_t n, std::uint64_t* out,
                                        std::uint64_t* total, Workspace& workspace, StreamView /*stream*/) {
  scan(in, n, out, total, workspace);
}

void ParallelPrimitives::exclusive_scan_wrapping(const std::uint32_t* in, std::uint64_t n, std::uint32_t* out,
                                                 std::uint64_t* total, Workspace& workspace, StreamView /*stream*/) {
  scan(in, n, out, total, workspace);
}

std::size_t ParallelPrimitives::exclusive_scan_scratch(std::uint64_t n) const {
  return Workspace::bytes_for<std::uint64_t>(blocks_of(n));
}

}  // namespace sluice::kernels
