// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/family/operators.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::histogram {

HistogramVariant serial() {
  return {{"serial", "one loop"},
          [](ItemType, std::uint64_t, unsigned) { return std::size_t{0}; },
          [](const HistogramCall& call, Workspace&, StreamView) {
            with_key_type(call.type, [&]<typename KeyT>() {
              const auto* in = static_cast<const KeyT*>(call.in);
              const KeyT mask = (KeyT{1} << call.bits) - 1;
              std::fill_n(call.counts, std::size_t{1} << call.bits, 0);
              for (std::uint64_t i = 0; i < call.n; ++i) ++call.counts[(in[i] >> call.begin_bit) & mask];
            });
          }};
}

}  // namespace sluice::kernels::family::histogram
