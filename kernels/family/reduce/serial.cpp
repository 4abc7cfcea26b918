// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/operators.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::reduce {

ReduceVariant serial() {
  return {{"serial", "one loop"},
          [](ItemType, std::uint64_t) { return std::size_t{0}; },
          [](const ReduceCall& call, Workspace&, StreamView) {
            with_type(call.type, [&]<typename T>() {
              with_operator(call.op, [&]<typename OpT>() {
                const auto* in = static_cast<const T*>(call.in);
                T sum = OpT::template identity<T>();
                for (std::uint64_t i = 0; i < call.n; ++i) sum = OpT{}(sum, in[i]);
                *static_cast<T*>(call.out) = sum;
              });
            });
          }};
}

}  // namespace sluice::kernels::family::reduce
