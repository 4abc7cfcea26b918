// SPDX-License-Identifier: Apache-2.0
/// \file
/// Three steps (G. Blelloch, "Prefix Sums and Their Applications", CMU-CS-90-190, 1.2): a flag for each item, the
/// exclusive scan of the flags, which gives each kept item its place, and the scatter to those places. Work grows with
/// n; but flags and places go through memory: about 24 bytes an item, for the scan here reads the flags twice. Items
/// that are kept are read twice.
///
/// What it lacks: a block could keep its flags to itself and pass on no more than their sum.
#include "kernels/cuda/scan.cuh"
#include "kernels/family/compact/items.hpp"
#include "kernels/family/variants.hpp"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::family::compact {

namespace {

constexpr unsigned kItemThreads = 256;

template <typename T, typename KeepT>
struct FlagItems {
  static constexpr unsigned kThreads = kItemThreads;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const T* in;
  std::uint64_t n;
  KeepT keep;
  std::uint32_t* flags;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t at = std::uint64_t{simt.block()} * kThreads + simt.thread();
    if (at < n) flags[at] = keep(in[at]) ? 1 : 0;
  }
};

template <typename T>
struct ScatterItems {
  static constexpr unsigned kThreads = kItemThreads;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const T* in;
  std::uint64_t n;
  const std::uint32_t* flags;
  const std::uint32_t* places;
  T* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t at = std::uint64_t{simt.block()} * kThreads + simt.thread();
    if (at < n && flags[at] != 0) out[places[at]] = in[at];
  }
};

template <typename T, typename KeepT>
void compact(const T* in, std::uint64_t n, KeepT keep, T* out, std::uint64_t* count, Workspace& workspace,
             StreamView stream) {
  const WorkspaceScope scope(workspace);
  auto* flags = workspace.take<std::uint32_t>(n);
  auto* places = workspace.take<std::uint32_t>(n);
  const std::uint64_t blocks = simt::blocks_for(n, kItemThreads);
  simt::launch(FlagItems<T, KeepT>{in, n, keep, flags}, blocks, stream);
  cuda::scan(flags, n, places, count, workspace, stream);
  simt::launch(ScatterItems<T>{in, n, flags, places, out}, blocks, stream);
}

}  // namespace

CompactVariant scan_scatter() {
  return {{"scan-scatter", "flags, exclusive scan, scatter", true},
          [](ItemType, std::uint64_t n) { return 2 * Workspace::bytes_for<std::uint32_t>(n) + cuda::scan_scratch(n); },
          [](const CompactCall& call, Workspace& workspace, StreamView stream) {
            with_items(call, [&](const auto* in, auto keep, auto* out) {
              compact(in, call.n, keep, out, call.count, workspace, stream);
            });
          }};
}

}  // namespace sluice::kernels::family::compact
