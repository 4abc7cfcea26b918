// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reduce-then-scan of any number of items, for the other primitives of this folder.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/bodies/scan.hpp"
#include "kernels/cuda/detail/device.hpp"
#include "kernels/simt/launch.hpp"
#include "sluice/kernels/stream.hpp"

namespace sluice::kernels::cuda {

/// Scratch of `scan`: sums of tiles, of tiles of those, and so on.
inline std::size_t scan_scratch(std::uint64_t n) {
  std::size_t bytes = 0;
  for (std::uint64_t tiles = simt::blocks_for(n, bodies::kScanTile); tiles > 1;
       tiles = simt::blocks_for(tiles, bodies::kScanTile)) {
    bytes += Workspace::bytes_for<std::uint64_t>(tiles);
  }
  return bytes;
}

/// Exclusive sums in 64 bits, stored as OutT; `in` and `out` may be the same memory.
/// \param total  receives the sum of all; may be null
template <typename InT, typename OutT>
void scan(const InT* in, std::uint64_t n, OutT* out, std::uint64_t* total, Workspace& workspace, StreamView stream) {
  if (n == 0) {
    if (total != nullptr) fill(total, 0, sizeof *total, stream);
    return;
  }
  const WorkspaceScope scope(workspace);
  const std::uint64_t tiles = simt::blocks_for(n, bodies::kScanTile);
  std::uint64_t* sums = nullptr;
  if (tiles > 1) {
    sums = workspace.take<std::uint64_t>(tiles);
    simt::launch(bodies::SumTiles<InT>{in, n, sums}, tiles, stream);
    scan(sums, tiles, sums, nullptr, workspace, stream);
  }
  simt::launch(bodies::ScanTiles<InT, OutT>{in, n, sums, out, total}, tiles, stream);
}

}  // namespace sluice::kernels::cuda
