// SPDX-License-Identifier: Apache-2.0
/// \file
/// Each block counts in shared memory and adds each of its counters to the global one at the end: n atomics on shared
/// memory and at most 2^bits global ones for each of a bounded number of blocks, which stride over the keys. Two
/// barriers a block. The kernel is the engine's own (kernels/cuda/bodies/histogram.hpp).
///
/// What it lacks: keys that all have one digit still queue, within each block. Counters for each warp, or lanes that
/// match their digits first, would help those and cost all others.
#include <algorithm>

#include "kernels/cuda/bodies/histogram.hpp"
#include "kernels/cuda/detail/device.hpp"
#include "kernels/family/histogram/keys.hpp"
#include "kernels/family/variants.hpp"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::family::histogram {

namespace {

template <typename KeyT>
void count(const KeyT* keys, std::uint64_t n, DigitOf digit, std::uint64_t* counts, StreamView stream) {
  using Kernel = bodies::CountDigitsShared<KeyT>;
  // Enough to fill a device, with some keys for each thread.
  constexpr std::uint64_t kMostBlocks = 1024;
  constexpr std::uint64_t kKeysPerThread = 16;
  cuda::fill(counts, 0, digit.values() * sizeof *counts, stream);
  simt::launch(Kernel{keys, n, digit.begin_bit, digit.bits, counts},
               std::min(kMostBlocks, simt::blocks_for(n, Kernel::kThreads * kKeysPerThread)), stream);
}

}  // namespace

HistogramVariant shared_privatised() {
  return {{"shared-privatised", "counters of each block in shared memory, then one global add a counter", true},
          [](ItemType, std::uint64_t, unsigned) { return std::size_t{0}; },
          [](const HistogramCall& call, Workspace&, StreamView stream) {
            with_keys(call, [&](const auto* keys, DigitOf digit) { count(keys, call.n, digit, call.counts, stream); });
          }};
}

}  // namespace sluice::kernels::family::histogram
