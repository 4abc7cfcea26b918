// SPDX-License-Identifier: Apache-2.0
/// \file
/// One pass: a block publishes the sum of its tile as soon as it has it, looks back over what earlier tiles have
/// published until it comes to one whose inclusive prefix is known, and publishes its own.
///
/// Every item is read once and written once, 2 n of memory traffic in one launch; the work inside a tile is that of
/// `warp-shuffle` on the sums of threads that walk 16 items each. Any type and operator: values lie in arrays of their
/// own, and a flag beside them, stored with release and loaded with acquire, says which of them may be read. The
/// production kernels (kernels/cuda/bodies/look_back.hpp) pack flag and sum into one word instead, for unsigned sums
/// only, and need no fence.
///
/// A tile waits only for tiles with lower numbers, and numbers are drawn by blocks that run already: whatever a block
/// waits for is being worked on, in whatever order blocks start.
///
/// D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA NVR-2016-002.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/family/scan/warp_shuffle.cuh"
#include "kernels/simt/cuda/check.hpp"
#include "kernels/simt/launch.hpp"
#include "kernels/simt/words.hpp"
#include "sluice/kernels/stream.hpp"

namespace sluice::kernels::family::scan {

/// What a tile has published.
enum Published : std::uint32_t { kNothing = 0, kAggregate = 1, kPrefix = 2 };

/// What the tiles of a launch share.
template <typename T>
struct PublishedTiles {
  std::uint32_t* ticket;  ///< tiles drawn; 0 when a launch starts
  std::uint32_t* flags;   ///< of `Published`, for each tile; 0 when a launch starts
  T* aggregates;          ///< sum of a tile
  T* prefixes;            ///< sum of a tile and all before it

  /// `op` over all tiles before `tile`, for all lanes; publishes what that makes for the ones after it. Called by one
  /// whole warp.
  template <typename OpT, typename ContextT>
  SLUICE_SIMT T look_back(ContextT& simt, std::uint32_t tile, T aggregate) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    const OpT op;
    T before = OpT::template identity<T>();
    if (tile == 0) {
      publish(simt, prefixes, tile, aggregate, kPrefix);
      return before;
    }
    publish(simt, aggregates, tile, aggregate, kAggregate);
    for (std::uint32_t next = tile;; next -= kWidth) {
      // Lane l looks at the tile l + 1 before `next`; what would lie before the first tile is an empty prefix.
      const bool there = simt.lane() < next;
      const std::uint32_t looked_at = there ? next - 1 - simt.lane() : 0;
      std::uint32_t flag = there ? load_flag(simt, looked_at) : kPrefix;
      while (simt.ballot(flag == kNothing) != 0) {
        simt.pause();
        if (flag == kNothing) flag = load_flag(simt, looked_at);
      }
      const auto complete = simt.ballot(flag == kPrefix);
      const unsigned last = complete != 0 ? simt.lowest(complete) : kWidth - 1;
      T value = OpT::template identity<T>();
      if (there && simt.lane() <= last) value = flag == kPrefix ? prefixes[looked_at] : aggregates[looked_at];
      // Higher lanes have earlier tiles, which come first.
      for (unsigned distance = 1; distance < kWidth; distance *= 2) {
        const T earlier = simt.shuffle_down(value, distance);
        if (simt.lane() + distance < kWidth) value = op(earlier, value);
      }
      before = op(simt.shuffle(value, 0), before);
      if (complete != 0) break;
    }
    publish(simt, prefixes, tile, op(before, aggregate), kPrefix);
    return before;
  }

 private:
  template <typename ContextT>
  SLUICE_SIMT std::uint32_t load_flag(ContextT& simt, std::uint32_t tile) const {
    return simt.template atomic_load<simt::Order::kAcquire>(&flags[tile]);
  }
  template <typename ContextT>
  SLUICE_SIMT void publish(ContextT& simt, T* values, std::uint32_t tile, T value, Published flag) const {
    if (simt.lane() != 0) return;
    values[tile] = value;
    simt.template atomic_store<simt::Order::kRelease>(&flags[tile], static_cast<std::uint32_t>(flag));
  }
};

template <typename T, typename OpT>
struct LookBack {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kItems = 16;  ///< of a thread
  // Prefixes travel from tile to tile: what hides their way is many tiles under way at a time.
  static constexpr unsigned kBlocksPerProcessor = sizeof(T) <= 4 ? 8 : 4;
  static constexpr std::uint32_t kTile = kThreads * kItems;
  // Threads that each walk their own 16 items do not meet in one bank.
  static constexpr unsigned place(unsigned item) { return item + item / kItems; }
  template <unsigned kWarpWidth>
  struct Shared {
    T items[place(kTile)];
    T warp_sums[kThreads / kWarpWidth];
    T before;
    std::uint32_t tile;
  };

  const T* in;
  std::uint64_t n;
  bool inclusive;
  T* out;
  PublishedTiles<T> tiles;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const unsigned thread = simt.thread();
    const OpT op;
    if (thread == 0) {
      shared.tile = simt.template atomic_add<simt::Order::kRelaxed>(tiles.ticket, std::uint32_t{1});
    }
    simt.block_barrier();
    const std::uint32_t tile = shared.tile;
    const std::uint64_t first = std::uint64_t{tile} * kTile;
    // Neighbouring threads load neighbouring items and hand them to the threads that walk them.
    SLUICE_UNROLL
    for (unsigned i = 0; i < kItems; ++i) {
      const unsigned item = i * kThreads + thread;
      shared.items[place(item)] = first + item < n ? in[first + item] : OpT::template identity<T>();
    }
    simt.block_barrier();
    T* const mine = shared.items + place(thread * kItems);
    T sum = mine[0];
    for (unsigned i = 1; i < kItems; ++i) sum = op(sum, mine[i]);
    const BlockScan<T> block = block_exclusive_scan(simt, sum, op, shared.warp_sums);
    if (simt.warp() == 0) {
      const T before = tiles.template look_back<OpT>(simt, tile, block.total);
      if (simt.lane() == 0) shared.before = before;
    }
    simt.block_barrier();
    T running = op(shared.before, block.before);
    for (unsigned i = 0; i < kItems; ++i) {
      const T before = running;
      running = op(running, mine[i]);
      mine[i] = inclusive ? running : before;
    }
    simt.block_barrier();
    SLUICE_UNROLL
    for (unsigned i = 0; i < kItems; ++i) {
      const unsigned item = i * kThreads + thread;
      if (first + item < n) out[first + item] = shared.items[place(item)];
    }
  }
};

template <typename T>
std::size_t look_back_scratch(std::uint64_t n) {
  const std::uint64_t tiles = simt::blocks_for(n, LookBack<T, void>::kTile);
  return Workspace::bytes_for<std::uint32_t>(tiles + 1) + 2 * Workspace::bytes_for<T>(tiles);
}

/// Input and output may be the same memory.
template <typename OpT, typename T>
void scan_by_look_back(const T* in, std::uint64_t n, bool inclusive, T* out, Workspace& workspace, StreamView stream) {
  using Kernel = LookBack<T, OpT>;
  if (n == 0) return;
  const WorkspaceScope scope(workspace);
  const std::uint64_t tiles = simt::blocks_for(n, Kernel::kTile);
  auto* const words = workspace.take<std::uint32_t>(tiles + 1);
  auto* const aggregates = workspace.take<T>(tiles);
  auto* const prefixes = workspace.take<T>(tiles);
  SLUICE_CUDA_CHECK(cudaMemsetAsync(words, 0, (tiles + 1) * sizeof *words, static_cast<cudaStream_t>(stream.handle())));
  simt::launch(Kernel{in, n, inclusive, out, {words, words + 1, aggregates, prefixes}}, tiles, stream);
}

}  // namespace sluice::kernels::family::scan
