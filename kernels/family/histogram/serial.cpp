// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/family/histogram/keys.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::histogram {

HistogramVariant serial() {
  return {{"serial", "one loop"},
          [](ItemType, std::uint64_t, unsigned) { return std::size_t{0}; },
          [](const HistogramCall& call, Workspace&, StreamView) {
            with_keys(call, [&](const auto* keys, DigitOf digit) {
              std::fill_n(call.counts, digit.values(), 0);
              for (std::uint64_t i = 0; i < call.n; ++i) ++call.counts[digit(keys[i])];
            });
          }};
}

}  // namespace sluice::kernels::family::histogram
