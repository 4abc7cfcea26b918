// SPDX-License-Identifier: Apache-2.0
/// \file
/// Each thread counts by itself how many items before its own are kept, which is where its item goes. No scratch, no
/// barrier, one launch, and any order of threads gives the same output; but n^2 / 2 looks at items.
///
/// What it lacks: the count of one thread is that of the thread before plus one flag. A scan shares that work.
#include "kernels/cuda/detail/device.hpp"
#include "kernels/family/compact/items.hpp"
#include "kernels/family/variants.hpp"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::family::compact {

namespace {

template <typename T, typename KeepT>
struct CountAllBefore {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const T* in;
  std::uint64_t n;
  KeepT keep;
  T* out;
  std::uint64_t* count;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t at = std::uint64_t{simt.block()} * kThreads + simt.thread();
    if (at < n) {
      std::uint64_t before = 0;
      for (std::uint64_t i = 0; i < at; ++i) before += keep(in[i]) ? 1 : 0;
      const bool kept = keep(in[at]);
      if (kept) out[before] = in[at];
      if (at + 1 == n) *count = before + (kept ? 1 : 0);
    }
  }
};

template <typename T, typename KeepT>
void compact(const T* in, std::uint64_t n, KeepT keep, T* out, std::uint64_t* count, StreamView stream) {
  using Kernel = CountAllBefore<T, KeepT>;
  if (n == 0) return cuda::fill(count, 0, sizeof *count, stream);
  simt::launch(Kernel{in, n, keep, out, count}, simt::blocks_for(n, Kernel::kThreads), stream);
}

}  // namespace

CompactVariant naive() {
  return {{"naive", "each thread counts what is kept before its item", true, true},
          [](ItemType, std::uint64_t) { return std::size_t{0}; },
          [](const CompactCall& call, Workspace&, StreamView stream) {
            with_items(call, [&](const auto* in, auto keep, auto* out) {
              compact(in, call.n, keep, out, call.count, stream);
            });
          }};
}

}  // namespace sluice::kernels::family::compact
