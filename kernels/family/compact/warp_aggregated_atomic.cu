// SPDX-License-Identifier: Apache-2.0
/// \file
/// The lanes of a warp draw their places together: a ballot says who keeps, one lane adds their number to the counter,
/// and each takes its rank from there (A. Adinets, "CUDA Pro Tip: Optimized Filtering with Warp-Aggregated Atomics",
/// 2014). Up to as many times fewer atomics as a warp has lanes, and what a warp keeps is written side by side and in
/// order; the order of warps is left to chance.
///
/// What it lacks: order. Only those before can tell where an item goes, which takes a scan.
#include "kernels/cuda/detail/device.hpp"
#include "kernels/family/compact/items.hpp"
#include "kernels/family/variants.hpp"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::family::compact {

namespace {

template <typename T, typename KeepT>
struct DrawPlacesByWarp {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const T* in;
  std::uint64_t n;
  KeepT keep;
  T* out;
  std::uint64_t* count;  ///< zero before

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t at = std::uint64_t{simt.block()} * kThreads + simt.thread();
    const bool mine = at < n && keep(in[at]);
    const auto kept = simt.ballot(mine);
    if (kept != 0) {  // the whole warp agrees
      const unsigned leader = simt.lowest(kept);
      std::uint64_t first = 0;
      if (simt.lane() == leader) {
        first = simt.template atomic_add<simt::Order::kRelaxed>(count, std::uint64_t{simt.population(kept)});
      }
      first = simt.shuffle(first, leader);
      if (mine) out[first + simt.population(kept & simt.lanes_below())] = in[at];
    }
  }
};

template <typename T, typename KeepT>
void compact(const T* in, std::uint64_t n, KeepT keep, T* out, std::uint64_t* count, StreamView stream) {
  using Kernel = DrawPlacesByWarp<T, KeepT>;
  cuda::fill(count, 0, sizeof *count, stream);
  simt::launch(Kernel{in, n, keep, out, count}, simt::blocks_for(n, Kernel::kThreads), stream);
}

}  // namespace

CompactVariant warp_aggregated_atomic() {
  return {{"warp-aggregated-atomic", "the lanes of a warp draw their places with one atomic", true, false, false},
          [](ItemType, std::uint64_t) { return std::size_t{0}; },
          [](const CompactCall& call, Workspace&, StreamView stream) {
            with_items(call, [&](const auto* in, auto keep, auto* out) {
              compact(in, call.n, keep, out, call.count, stream);
            });
          }};
}

}  // namespace sluice::kernels::family::compact
