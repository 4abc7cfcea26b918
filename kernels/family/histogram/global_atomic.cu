// SPDX-License-Identifier: Apache-2.0
/// \file
/// Every key adds one to its counter in global memory: n atomics, spread over as many words as there are digits that
/// occur. Keys that all have one digit queue for one word.
///
/// What it lacks: a block could count in its own, faster memory first.
#include "kernels/cuda/detail/device.hpp"
#include "kernels/family/histogram/keys.hpp"
#include "kernels/family/variants.hpp"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::family::histogram {

namespace {

template <typename KeyT>
struct CountInGlobal {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const KeyT* keys;
  std::uint64_t n;
  DigitOf digit;
  std::uint64_t* counts;  ///< zero before

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t at = std::uint64_t{simt.block()} * kThreads + simt.thread();
    if (at < n) simt.template atomic_add<simt::Order::kRelaxed>(&counts[digit(keys[at])], std::uint64_t{1});
  }
};

template <typename KeyT>
void count(const KeyT* keys, std::uint64_t n, DigitOf digit, std::uint64_t* counts, StreamView stream) {
  using Kernel = CountInGlobal<KeyT>;
  cuda::fill(counts, 0, digit.values() * sizeof *counts, stream);
  simt::launch(Kernel{keys, n, digit, counts}, simt::blocks_for(n, Kernel::kThreads), stream);
}

}  // namespace

HistogramVariant global_atomic() {
  return {{"global-atomic", "an atomic on global memory for each key", true},
          [](ItemType, std::uint64_t, unsigned) { return std::size_t{0}; },
          [](const HistogramCall& call, Workspace&, StreamView stream) {
            with_keys(call, [&](const auto* keys, DigitOf digit) { count(keys, call.n, digit, call.counts, stream); });
          }};
}

}  // namespace sluice::kernels::family::histogram
