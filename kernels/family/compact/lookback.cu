// SPDX-License-Identifier: Apache-2.0
/// \file
/// A single pass: a block judges its items, keeps them in registers, learns by look-back how many are kept before them
/// while other blocks are still at work, and writes. Items are read once and those kept are written once, which is the
/// least that memory must see; the scratch is a word for each tile. How look-back works and why it ends is told in
/// kernels/cuda/bodies/look_back.hpp.
///
/// What it lacks beside the engine's own selection (kernels/cuda/bodies/select.hpp): tiles shaped for the device, items
/// on their way while others are judged.
#include "kernels/cuda/look_back.cuh"
#include "kernels/family/compact/items.hpp"
#include "kernels/family/compact/tile.hpp"
#include "kernels/family/variants.hpp"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::family::compact {

namespace {

template <typename T, typename KeepT>
struct CompactOnce {
  static constexpr unsigned kThreads = kTileThreads;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t tile;
    std::uint64_t before;
    std::uint32_t warp_counts[kThreads / kWarpWidth];
  };

  bodies::TileStates states;
  const T* in;
  std::uint64_t n;
  KeepT keep;
  T* out;
  std::uint64_t* count;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    if (simt.thread() == 0) shared.tile = states.ticket.draw(simt);
    simt.block_barrier();
    const std::uint64_t tile_first = std::uint64_t{shared.tile} * kTile;
    const std::uint64_t first = tile_first + first_place(simt);
    T items[kRounds];
    typename ContextT::Mask kept[kRounds];
    std::uint32_t kept_by_warp = 0;
    SLUICE_UNROLL
    for (unsigned i = 0; i < kRounds; ++i) {
      const std::uint64_t at = first + i * kWidth;
      items[i] = at < n ? in[at] : T{};
      kept[i] = simt.ballot(at < n && keep(items[i]));
      kept_by_warp += simt.population(kept[i]);
    }
    std::uint32_t kept_by_tile = 0;
    const std::uint32_t before_warp = kept_before_warp(simt, kept_by_warp, shared.warp_counts, kept_by_tile);
    if (simt.warp() == 0) {
      const std::uint64_t before = states.look_back(simt, shared.tile, kept_by_tile);
      if (simt.lane() == 0) {
        shared.before = before;
        if (tile_first + kTile >= n) *count = before + kept_by_tile;
      }
    }
    simt.block_barrier();
    std::uint64_t place = shared.before + before_warp;
    SLUICE_UNROLL
    for (unsigned i = 0; i < kRounds; ++i) {
      const bool mine = ((kept[i] >> simt.lane()) & 1) != 0;
      if (mine) out[place + simt.population(kept[i] & simt.lanes_below())] = items[i];
      place += simt.population(kept[i]);
    }
  }
};

template <typename T, typename KeepT>
void compact(const T* in, std::uint64_t n, KeepT keep, T* out, std::uint64_t* count, Workspace& workspace,
             StreamView stream) {
  if (n == 0) return cuda::fill(count, 0, sizeof *count, stream);
  const WorkspaceScope scope(workspace);
  const std::uint64_t tiles = simt::blocks_for(n, kTile);
  const bodies::TileStates states = cuda::clear_states(tiles, workspace, stream);
  simt::launch(CompactOnce<T, KeepT>{states, in, n, keep, out, count}, tiles, stream);
}

}  // namespace

CompactVariant lookback() {
  return {{"lookback", "a single pass, fused with the predicate", true},
          [](ItemType, std::uint64_t n) { return cuda::states_scratch(simt::blocks_for(n, kTile)); },
          [](const CompactCall& call, Workspace& workspace, StreamView stream) {
            with_items(call, [&](const auto* in, auto keep, auto* out) {
              compact(in, call.n, keep, out, call.count, workspace, stream);
            });
          }};
}

}  // namespace sluice::kernels::family::compact
