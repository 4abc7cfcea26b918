// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/compact/items.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::compact {

CompactVariant serial() {
  return {{"serial", "one loop"},
          [](ItemType, std::uint64_t) { return std::size_t{0}; },
          [](const CompactCall& call, Workspace&, StreamView) {
            with_items(call, [&](const auto* in, auto keep, auto* out) {
              std::uint64_t kept = 0;
              for (std::uint64_t i = 0; i < call.n; ++i) {
                if (keep(in[i])) out[kept++] = in[i];
              }
              *call.count = kept;
            });
          }};
}

}  // namespace sluice::kernels::family::compact
