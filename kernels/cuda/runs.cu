// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/cuda/bodies/runs.hpp"
#include "kernels/cuda/detail/arguments.hpp"
#include "kernels/cuda/detail/device.hpp"
#include "kernels/cuda/primitives.hpp"
#include "kernels/cuda/scan.cuh"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::cuda {

namespace {

/// The number of runs is known to the device only; this many blocks stride over them.
std::uint64_t run_blocks(std::uint64_t n) { return std::min<std::uint64_t>(4096, simt::blocks_for(n, 256)); }

template <typename KeyT>
void find(DevicePrimitives& primitives, const KeyT* keys, std::uint64_t n, std::uint64_t* run_keys,
          std::uint32_t* run_first, std::uint64_t* runs, Workspace& workspace, StreamView stream) {
  const WorkspaceScope scope(workspace);
  auto* heads = workspace.take<std::uint8_t>(n);
  simt::launch(bodies::MarkHeads<KeyT>{keys, n, heads}, simt::blocks_for(n, bodies::MarkHeads<KeyT>::kThreads), stream);
  primitives.indices_where(heads, FlagTest::not_zero(), n, run_first, runs, workspace, stream);
  simt::launch(bodies::TakeRunKeys<KeyT>{keys, run_first, runs, run_keys}, run_blocks(n), stream);
}

}  // namespace

void CudaPrimitives::find_runs(const void* keys, std::uint32_t key_bytes, std::uint64_t n, std::uint64_t* run_keys,
                               std::uint32_t* run_first, std::uint64_t* runs, Workspace& workspace, StreamView stream) {
  check_count(n);
  check_key_bytes(key_bytes);
  const ScopedDevice current(device());
  if (key_bytes == 4) {
    find(*this, static_cast<const std::uint32_t*>(keys), n, run_keys, run_first, runs, workspace, stream);
  } else {
    find(*this, static_cast<const std::uint64_t*>(keys), n, run_keys, run_first, runs, workspace, stream);
  }
}

std::size_t CudaPrimitives::find_runs_scratch(std::uint64_t n) const {
  return Workspace::bytes_for<std::uint8_t>(n) + compact_scratch(n);
}

void CudaPrimitives::reduce_by_key(const void* keys, std::uint32_t key_bytes, const std::int64_t* values,
                                   std::uint64_t n, std::uint64_t* run_keys, std::int64_t* sums, std::uint64_t* runs,
                                   Workspace& workspace, StreamView stream) {
  check_count(n);
  const ScopedDevice current(device());
  const WorkspaceScope scope(workspace);
  // Sums that wrap make prefixes whose differences are exact, so a run may be as long as it likes.
  auto* run_first = workspace.take<std::uint32_t>(n);
  auto* prefixes = workspace.take<std::uint64_t>(n);
  auto* total = workspace.take<std::uint64_t>(1);
  find_runs(keys, key_bytes, n, run_keys, run_first, runs, workspace, stream);
  scan(reinterpret_cast<const std::uint64_t*>(values), n, prefixes, total, workspace, stream);
  simt::launch(bodies::DifferencePrefixes{prefixes, total, run_first, runs, sums}, run_blocks(n), stream);
}

std::size_t CudaPrimitives::reduce_by_key_scratch(std::uint64_t n) const {
  return Workspace::bytes_for<std::uint32_t>(n) + Workspace::bytes_for<std::uint64_t>(n) +
         Workspace::bytes_for<std::uint64_t>(1) + std::max(find_runs_scratch(n), scan_scratch(n));
}

}  // namespace sluice::kernels::cuda
