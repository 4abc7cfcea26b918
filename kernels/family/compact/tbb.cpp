// SPDX-License-Identifier: Apache-2.0
/// \file
/// A parallel scan whose last look at the items writes them: blocks that a thread comes to before those in front are
/// done are only counted at first, and looked at again when their offset is known; the others are looked at once.
#include <functional>

#include "kernels/family/compact/items.hpp"
#include "kernels/family/variants.hpp"
#include "tbb/blocked_range.h"
#include "tbb/parallel_scan.h"

namespace sluice::kernels::family::compact {

namespace {

template <typename T, typename KeepT>
std::uint64_t compact(const T* in, std::uint64_t n, KeepT keep, T* out) {
  using Range = tbb::blocked_range<std::uint64_t>;
  constexpr std::uint64_t kGrain = 16384;
  return tbb::parallel_scan(
      Range(0, n, kGrain), std::uint64_t{0},
      [=](const Range& range, std::uint64_t kept, bool writes) {
        for (std::uint64_t i = range.begin(); i != range.end(); ++i) {
          if (!keep(in[i])) continue;
          if (writes) out[kept] = in[i];
          ++kept;
        }
        return kept;
      },
      std::plus<>{});
}

}  // namespace

CompactVariant tbb() {
  return {{"tbb", "parallel_scan that writes at its last look"},
          [](ItemType, std::uint64_t) { return std::size_t{0}; },
          [](const CompactCall& call, Workspace&, StreamView) {
            with_items(call,
                       [&](const auto* in, auto keep, auto* out) { *call.count = compact(in, call.n, keep, out); });
          }};
}

}  // namespace sluice::kernels::family::compact
