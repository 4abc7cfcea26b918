// SPDX-License-Identifier: Apache-2.0
/// \file
/// One kernel gives each kept item its offset within its block and counts what the block keeps; the counts are scanned;
/// a second kernel scatters to the offset of the block plus the offset within it. (M. Billeter, O. Olsson, U.
/// Assarsson, "Efficient Stream Compaction on Wide SIMD Many-Core Architectures", HPG 2009, has the same three steps.)
/// The scan is over n / 2048 counts and costs nearly nothing; offsets within a block are two bytes an item, written
/// once and read once.
///
/// What it lacks: kept items are read twice, because nobody knows the counts of the blocks before until all have ended.
#include "kernels/cuda/scan.cuh"
#include "kernels/family/compact/items.hpp"
#include "kernels/family/compact/tile.hpp"
#include "kernels/family/variants.hpp"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::family::compact {

namespace {

/// Offset of items that are not kept.
constexpr std::uint16_t kNowhere = 0xffff;
static_assert(kTile <= kNowhere);

template <typename T, typename KeepT>
struct RankWithinBlocks {
  static constexpr unsigned kThreads = kTileThreads;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t warp_counts[kThreads / kWarpWidth];
  };

  const T* in;
  std::uint64_t n;
  KeepT keep;
  std::uint16_t* offsets;       ///< within the block, of each item
  std::uint32_t* block_counts;  ///< items kept

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    const std::uint64_t first = std::uint64_t{simt.block()} * kTile + first_place(simt);
    typename ContextT::Mask kept[kRounds];
    std::uint32_t kept_by_warp = 0;
    SLUICE_UNROLL
    for (unsigned i = 0; i < kRounds; ++i) {
      const std::uint64_t at = first + i * kWidth;
      kept[i] = simt.ballot(at < n && keep(in[at]));
      kept_by_warp += simt.population(kept[i]);
    }
    std::uint32_t total = 0;
    std::uint32_t before = kept_before_warp(simt, kept_by_warp, shared.warp_counts, total);
    SLUICE_UNROLL
    for (unsigned i = 0; i < kRounds; ++i) {
      const std::uint64_t at = first + i * kWidth;
      const std::uint32_t offset = before + simt.population(kept[i] & simt.lanes_below());
      const bool mine = ((kept[i] >> simt.lane()) & 1) != 0;
      if (at < n) offsets[at] = mine ? static_cast<std::uint16_t>(offset) : kNowhere;
      before += simt.population(kept[i]);
    }
    if (simt.thread() == 0) block_counts[simt.block()] = total;
  }
};

template <typename T>
struct ScatterBlocks {
  static constexpr unsigned kThreads = kTileThreads;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const T* in;
  std::uint64_t n;
  const std::uint16_t* offsets;
  const std::uint32_t* block_offsets;  ///< items kept by the blocks before
  T* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t first = std::uint64_t{simt.block()} * kTile + simt.thread();
    T* const out_of_block = out + block_offsets[simt.block()];
    SLUICE_UNROLL
    for (unsigned i = 0; i < kRounds; ++i) {
      const std::uint64_t at = first + i * kThreads;
      if (at < n && offsets[at] != kNowhere) out_of_block[offsets[at]] = in[at];
    }
  }
};

template <typename T, typename KeepT>
void compact(const T* in, std::uint64_t n, KeepT keep, T* out, std::uint64_t* count, Workspace& workspace,
             StreamView stream) {
  const WorkspaceScope scope(workspace);
  const std::uint64_t blocks = simt::blocks_for(n, kTile);
  auto* offsets = workspace.take<std::uint16_t>(n);
  auto* of_blocks = workspace.take<std::uint32_t>(blocks);
  simt::launch(RankWithinBlocks<T, KeepT>{in, n, keep, offsets, of_blocks}, blocks, stream);
  cuda::scan(of_blocks, blocks, of_blocks, count, workspace, stream);
  simt::launch(ScatterBlocks<T>{in, n, offsets, of_blocks, out}, blocks, stream);
}

}  // namespace

CompactVariant two_kernel() {
  return {{"two-kernel", "offsets and counts of blocks, scan of the counts, scatter", true},
          [](ItemType, std::uint64_t n) {
            const std::uint64_t blocks = simt::blocks_for(n, kTile);
            return Workspace::bytes_for<std::uint16_t>(n) + Workspace::bytes_for<std::uint32_t>(blocks) +
                   cuda::scan_scratch(blocks);
          },
          [](const CompactCall& call, Workspace& workspace, StreamView stream) {
            with_items(call, [&](const auto* in, auto keep, auto* out) {
              compact(in, call.n, keep, out, call.count, workspace, stream);
            });
          }};
}

}  // namespace sluice::kernels::family::compact
