// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/operators.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::compact {

CompactVariant serial() {
  return {{"serial", "one loop"},
          [](ItemType, std::uint64_t) { return std::size_t{0}; },
          [](const CompactCall& call, Workspace&, StreamView) {
            with_type(call.type, [&]<typename T>() {
              const auto* in = static_cast<const T*>(call.in);
              auto* out = static_cast<T*>(call.out);
              const T limit = static_cast<T>(call.limit);
              std::uint64_t kept = 0;
              for (std::uint64_t i = 0; i < call.n; ++i) {
                if (in[i] < limit) out[kept++] = in[i];
              }
              *call.count = kept;
            });
          }};
}

}  // namespace sluice::kernels::family::compact
