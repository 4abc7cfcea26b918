// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/items.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::reduce {

ReduceVariant serial() {
  return {{"serial", "one loop"},
          [](ItemType, std::uint64_t) { return std::size_t{0}; },
          [](const ReduceCall& call, Workspace&, StreamView) {
            with_items(call, [&]<typename T, typename OpT>(const T* in, OpT op, T* out) {
              T sum = OpT::template identity<T>();
              for (std::uint64_t i = 0; i < call.n; ++i) sum = op(sum, in[i]);
              *out = sum;
            });
          }};
}

}  // namespace sluice::kernels::family::reduce
