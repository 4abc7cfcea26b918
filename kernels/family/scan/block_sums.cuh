// SPDX-License-Identifier: Apache-2.0
/// \file
/// Scans of any length out of scans of blocks: every block scans its own items and leaves their sum, those sums are
/// scanned in the same way, and each item gets the sum of the blocks before its own in front.
///
/// Items are read and written twice, 4 n of memory traffic instead of the 2 n that a scan needs at least, in
/// 2 log_tile(n) - 1 launches with the logarithm rounded up, between which all of the device waits for the last block.
/// `lookback` does without.
///
/// G. E. Blelloch, "Prefix Sums and Their Applications", CMU-CS-90-190, 1990; M. Harris, S. Sengupta, J. D. Owens,
/// "Parallel Prefix Sum (Scan) with CUDA", GPU Gems 3, chapter 39, 2007.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/family/items.hpp"
#include "kernels/family/operators.hpp"
#include "kernels/simt/launch.hpp"
#include "kernels/simt/words.hpp"
#include "sluice/kernels/variant.hpp"

namespace sluice::kernels::family::scan {

/// out[i] = sums[tile of i] op out[i].
template <typename T, typename OpT>
struct AddBlockSums {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const T* sums;
  std::uint32_t tile;  ///< items of a block
  std::uint64_t n;
  T* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t at = std::uint64_t{simt.block()} * kThreads + simt.thread();
    if (at < n) out[at] = OpT{}(sums[at / tile], out[at]);
  }
};

/// Room for the sums of blocks, of blocks of those, and so on.
template <typename T>
std::size_t block_sums_scratch(std::uint64_t n, std::uint32_t tile) {
  std::size_t bytes = 0;
  for (std::uint64_t blocks = simt::blocks_for(n, tile); blocks > 1; blocks = simt::blocks_for(blocks, tile)) {
    bytes += Workspace::bytes_for<T>(blocks);
  }
  return bytes;
}

/// Scans by a kernel `KernelT<T, OpT>`, of which block b scans the items from b * kTile on and, where `sums` is not
/// null, leaves their sum in sums[b]. Its input and output may be the same memory.
template <template <typename, typename> typename KernelT, typename OpT, typename T>
void scan_by_blocks(const T* in, std::uint64_t n, bool inclusive, T* out, Workspace& workspace, StreamView stream) {
  using Kernel = KernelT<T, OpT>;
  const std::uint64_t blocks = simt::blocks_for(n, Kernel::kTile);
  if (blocks <= 1) return simt::launch(Kernel{in, n, inclusive, out, nullptr}, blocks, stream);
  const WorkspaceScope scope(workspace);
  T* const sums = workspace.take<T>(blocks);
  simt::launch(Kernel{in, n, inclusive, out, sums}, blocks, stream);
  scan_by_blocks<KernelT, OpT, T>(sums, blocks, false, sums, workspace, stream);
  using Add = AddBlockSums<T, OpT>;
  simt::launch(Add{sums, Kernel::kTile, n, out}, simt::blocks_for(n, Add::kThreads), stream);
}

/// The variant that such a kernel makes.
template <template <typename, typename> typename KernelT>
ScanVariant variant_by_blocks(std::string_view name, std::string_view how) {
  return {{name, how, true},
          [](ItemType type, std::uint64_t n) {
            return with_type(type, [&]<typename T>() { return block_sums_scratch<T>(n, KernelT<T, Sum>::kTile); });
          },
          [](const ScanCall& call, Workspace& workspace, StreamView stream) {
            with_items(call, [&]<typename T, typename OpT>(const T* in, OpT, T* out) {
              scan_by_blocks<KernelT, OpT>(in, call.n, call.inclusive, out, workspace, stream);
            });
          }};
}

}  // namespace sluice::kernels::family::scan
