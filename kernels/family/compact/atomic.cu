// SPDX-License-Identifier: Apache-2.0
/// \file
/// Each kept item draws its place from one counter. One read, one write, no scratch; but the output is in whatever
/// order threads come, another one each time, and all kept items queue for one word of memory.
///
/// What it lacks: lanes of a warp come together and could draw together.
#include "kernels/cuda/detail/device.hpp"
#include "kernels/family/compact/items.hpp"
#include "kernels/family/variants.hpp"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::family::compact {

namespace {

template <typename T, typename KeepT>
struct DrawPlaces {
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
    if (at < n && keep(in[at])) {
      out[simt.template atomic_add<simt::Order::kRelaxed>(count, std::uint64_t{1})] = in[at];
    }
  }
};

template <typename T, typename KeepT>
void compact(const T* in, std::uint64_t n, KeepT keep, T* out, std::uint64_t* count, StreamView stream) {
  using Kernel = DrawPlaces<T, KeepT>;
  cuda::fill(count, 0, sizeof *count, stream);
  simt::launch(Kernel{in, n, keep, out, count}, simt::blocks_for(n, Kernel::kThreads), stream);
}

}  // namespace

CompactVariant atomic() {
  return {{"atomic", "each kept item draws its place from one counter", true, false, false},
          [](ItemType, std::uint64_t) { return std::size_t{0}; },
          [](const CompactCall& call, Workspace&, StreamView stream) {
            with_items(call, [&](const auto* in, auto keep, auto* out) {
              compact(in, call.n, keep, out, call.count, stream);
            });
          }};
}

}  // namespace sluice::kernels::family::compact
