// SPDX-License-Identifier: Apache-2.0
/// \file
/// Every thread of a block folds its items, a warp folds its threads by shuffles, and what the warps have goes through
/// shared memory behind one barrier. Blocks leave their results side by side, and those are reduced in the same way.
///
/// n - 1 operations, every item read once, ceil(log_tile(n)) launches. The result is the same each time, for floats
/// too. `shared-then-atomic` needs no second round.
///
/// M. Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA, 2007; J. Luitjens, "Faster Parallel Reductions on
/// Kepler", NVIDIA, 2014.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/launch.hpp"
#include "kernels/simt/words.hpp"
#include "sluice/kernels/stream.hpp"

namespace sluice::kernels::family::reduce {

/// out[b] = all items of tile b. The operator must commute.
template <typename T, typename OpT>
struct WarpShuffle {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kItems = 16;  ///< of a thread
  static constexpr std::uint32_t kTile = kThreads * kItems;
  template <unsigned kWarpWidth>
  struct Shared {
    T warp_values[kThreads / kWarpWidth];
  };

  const T* in;
  std::uint64_t n;
  T* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const std::uint64_t first = std::uint64_t{simt.block()} * kTile + simt.thread();
    const OpT op;
    T value = OpT::template identity<T>();
    SLUICE_UNROLL
    for (unsigned i = 0; i < kItems; ++i) {
      const std::uint64_t at = first + std::uint64_t{i} * kThreads;
      if (at < n) value = op(value, in[at]);
    }
    value = simt::block_reduce(simt, value, shared.warp_values, op);
    if (simt.thread() == 0) out[simt.block()] = value;
  }
};

/// One tile also where there is no item, whose result is the identity.
inline std::uint64_t tiles_of(std::uint64_t n, std::uint32_t tile) {
  return std::max<std::uint64_t>(1, simt::blocks_for(n, tile));
}

template <typename T>
std::size_t warp_shuffle_scratch(std::uint64_t n) {
  constexpr std::uint32_t kTile = WarpShuffle<T, void>::kTile;
  std::size_t bytes = 0;
  for (std::uint64_t tiles = tiles_of(n, kTile); tiles > 1; tiles = tiles_of(tiles, kTile)) {
    bytes += Workspace::bytes_for<T>(tiles);
  }
  return bytes;
}

template <typename OpT, typename T>
void reduce_by_warp_shuffle(const T* in, std::uint64_t n, T* out, Workspace& workspace, StreamView stream) {
  using Kernel = WarpShuffle<T, OpT>;
  const std::uint64_t tiles = tiles_of(n, Kernel::kTile);
  if (tiles == 1) return simt::launch(Kernel{in, n, out}, 1, stream);
  const WorkspaceScope scope(workspace);
  T* const results = workspace.take<T>(tiles);
  simt::launch(Kernel{in, n, results}, tiles, stream);
  reduce_by_warp_shuffle<OpT, T>(results, tiles, out, workspace, stream);
}

}  // namespace sluice::kernels::family::reduce
