// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/bodies/compact.hpp"
#include "kernels/cuda/detail/arguments.hpp"
#include "kernels/cuda/primitives.hpp"
#include "kernels/cuda/scan.cuh"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::cuda {

namespace {

std::uint64_t tiles_of(std::uint64_t n) { return simt::blocks_for(n, bodies::kCompactTile); }

/// Counts each tile's set flags and scans the counts.
/// \return the offset of each tile, in the workspace
const std::uint64_t* tile_offsets(const std::uint8_t* flags, FlagTest test, std::uint64_t n, std::uint64_t* count,
                                  Workspace& workspace, StreamView stream) {
  const std::uint64_t tiles = tiles_of(n);
  auto* counts = workspace.take<std::uint32_t>(tiles);
  auto* offsets = workspace.take<std::uint64_t>(tiles);
  simt::launch(bodies::CountFlags{flags, n, test, counts}, tiles, stream);
  scan(counts, tiles, offsets, count, workspace, stream);
  return offsets;
}

template <bool kPartition, typename SourceT>
void scatter(const SourceT& source, const std::uint8_t* flags, FlagTest test, std::uint64_t n, void* out,
             std::uint64_t* count, Workspace& workspace, StreamView stream) {
  const WorkspaceScope scope(workspace);
  const std::uint64_t* offsets = tile_offsets(flags, test, n, count, workspace, stream);
  simt::launch(bodies::ScatterFlagged<SourceT, kPartition>{source, flags, n, test, offsets, count,
                                                           static_cast<typename SourceT::Item*>(out)},
               tiles_of(n), stream);
}

template <bool kPartition>
void scatter_items(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags, FlagTest test,
                   std::uint64_t n, void* out, std::uint64_t* count, Workspace& workspace, StreamView stream) {
  check_count(n);
  check_item_bytes(item_bytes);
  check_aligned(items, item_bytes, "items");
  check_aligned(out, item_bytes, "the output");
  const auto of = [&]<typename ItemT>(ItemT) {
    scatter<kPartition>(bodies::ItemsOf<ItemT>{static_cast<const ItemT*>(items)}, flags, test, n, out, count, workspace,
                        stream);
  };
  switch (item_bytes) {
    case 4:
      return of(std::uint32_t{});
    case 8:
      return of(std::uint64_t{});
    case 16:
      return of(bodies::Item16{});
    default:
      return of(bodies::Item32{});
  }
}

}  // namespace

std::size_t compact_flagged_scratch(std::uint64_t n) {
  const std::uint64_t tiles = tiles_of(n);
  return Workspace::bytes_for<std::uint32_t>(tiles) + Workspace::bytes_for<std::uint64_t>(tiles) + scan_scratch(tiles);
}

void partition_flagged(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags, std::uint64_t n,
                       void* out, std::uint64_t* count, Workspace& workspace, StreamView stream) {
  scatter_items<true>(items, item_bytes, flags, FlagTest::not_zero(), n, out, count, workspace, stream);
}

void CudaPrimitives::compact_where(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags,
                                   FlagTest test, std::uint64_t n, void* out, std::uint64_t* count,
                                   Workspace& workspace, StreamView stream) {
  const ScopedDevice current(device());
  scatter_items<false>(items, item_bytes, flags, test, n, out, count, workspace, stream);
}

void CudaPrimitives::indices_where(const std::uint8_t* flags, FlagTest test, std::uint64_t n, std::uint32_t* out,
                                   std::uint64_t* count, Workspace& workspace, StreamView stream) {
  check_count(n);
  const ScopedDevice current(device());
  scatter<false>(bodies::IndexItems{}, flags, test, n, out, count, workspace, stream);
}

void CudaPrimitives::partition(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags, std::uint64_t n,
                               void* out, std::uint64_t* count, Workspace& workspace, StreamView stream) {
  const ScopedDevice current(device());
  partition_flagged(items, item_bytes, flags, n, out, count, workspace, stream);
}

std::size_t CudaPrimitives::compact_scratch(std::uint64_t n) const { return compact_flagged_scratch(n); }

}  // namespace sluice::kernels::cuda
