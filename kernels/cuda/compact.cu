// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/bodies/compact.hpp"
#include "kernels/cuda/detail/arguments.hpp"
#include "kernels/cuda/look_back.cuh"
#include "kernels/cuda/primitives.hpp"
#include "kernels/cuda/scan.cuh"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::cuda {

namespace {

/// Rounds that fit registers, for items of some size.
template <std::size_t kItemBytes>
using CompactShape = std::conditional_t<
    (kItemBytes > 16), bodies::TileShape<512, 6, 0, 2>,
    std::conditional_t<(kItemBytes == 16), bodies::TileShape<512, 12, 0, 2>, bodies::TileShape<512, 16, 0, 2>>>;
constexpr std::uint64_t kLeastTile = 512 * 6;

template <typename JudgeT, typename SinkT>
void compact_once(const JudgeT& judge, const SinkT& sink, const typename JudgeT::Record* items, std::uint64_t n,
                  Workspace& workspace, StreamView stream) {
  using Kernel = bodies::SelectPoints<JudgeT, SinkT, CompactShape<sizeof(typename JudgeT::Record)>>;
  if (n == 0) return fill(sink.count, 0, sizeof *sink.count, stream);
  const WorkspaceScope scope(workspace);
  const std::uint64_t tiles = simt::blocks_for(n, Kernel::kTile);
  simt::launch(Kernel{judge, sink, clear_states(tiles, workspace, stream), {items}, {n}}, tiles, stream);
}

/// Calls `body` with an object of the type that moves items of this size.
template <typename BodyT>
void for_item(std::uint32_t item_bytes, const BodyT& body) {
  switch (item_bytes) {
    case 4:
      return body(std::uint32_t{});
    case 8:
      return body(std::uint64_t{});
    case 16:
      return body(bodies::Item16{});
    default:
      return body(bodies::Item32{});
  }
}

void check_items(const void* items, std::uint32_t item_bytes, std::uint64_t n, const void* out) {
  check_count(n);
  check_item_bytes(item_bytes);
  check_aligned(items, item_bytes, "items");
  check_aligned(out, item_bytes, "the output");
}

std::uint64_t partition_tiles(std::uint64_t n) { return simt::blocks_for(n, bodies::kCompactTile); }

}  // namespace

std::size_t partition_flagged_scratch(std::uint64_t n) {
  const std::uint64_t tiles = partition_tiles(n);
  return Workspace::bytes_for<std::uint32_t>(tiles) + Workspace::bytes_for<std::uint64_t>(tiles) + scan_scratch(tiles);
}

void partition_flagged(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags, std::uint64_t n,
                       void* out, std::uint64_t* count, Workspace& workspace, StreamView stream) {
  check_items(items, item_bytes, n, out);
  const WorkspaceScope scope(workspace);
  const std::uint64_t tiles = partition_tiles(n);
  auto* counts = workspace.take<std::uint32_t>(tiles);
  auto* offsets = workspace.take<std::uint64_t>(tiles);
  const FlagTest test = FlagTest::not_zero();
  simt::launch(bodies::CountFlags{flags, n, test, counts}, tiles, stream);
  scan(counts, tiles, offsets, count, workspace, stream);
  for_item(item_bytes, [&]<typename ItemT>(ItemT) {
    simt::launch(bodies::PartitionFlagged<ItemT>{static_cast<const ItemT*>(items), flags, n, test, offsets, count,
                                                 static_cast<ItemT*>(out)},
                 tiles, stream);
  });
}

void CudaPrimitives::compact_where(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags,
                                   FlagTest test, std::uint64_t n, void* out, std::uint64_t* count,
                                   Workspace& workspace, StreamView stream) {
  check_items(items, item_bytes, n, out);
  const ScopedDevice current(device());
  for_item(item_bytes, [&]<typename ItemT>(ItemT) {
    compact_once(bodies::FlagJudge<ItemT>{flags, test}, bodies::ItemSink<ItemT>{{count}, static_cast<ItemT*>(out)},
                 static_cast<const ItemT*>(items), n, workspace, stream);
  });
}

void CudaPrimitives::indices_where(const std::uint8_t* flags, FlagTest test, std::uint64_t n, std::uint32_t* out,
                                   std::uint64_t* count, Workspace& workspace, StreamView stream) {
  check_count(n);
  const ScopedDevice current(device());
  compact_once(bodies::OwnFlagJudge{test}, bodies::IndexSink{{count}, out}, flags, n, workspace, stream);
}

void CudaPrimitives::partition(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags, std::uint64_t n,
                               void* out, std::uint64_t* count, Workspace& workspace, StreamView stream) {
  const ScopedDevice current(device());
  partition_flagged(items, item_bytes, flags, n, out, count, workspace, stream);
}

std::size_t CudaPrimitives::compact_scratch(std::uint64_t n) const {
  return std::max(partition_flagged_scratch(n), states_scratch(simt::blocks_for(n, kLeastTile)));
}

}  // namespace sluice::kernels::cuda
