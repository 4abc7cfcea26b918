// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/operators.hpp"
#include "kernels/family/reduce/warp_shuffle.cuh"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::reduce {

ReduceVariant warp_shuffle() {
  return {{"warp-shuffle", "inside warps by shuffles; results of blocks likewise", true},
          [](ItemType type, std::uint64_t n) {
            return with_type(type, [&]<typename T>() { return warp_shuffle_scratch<T>(n); });
          },
          [](const ReduceCall& call, Workspace& workspace, StreamView stream) {
            with_type(call.type, [&]<typename T>() {
              with_operator(call.op, [&]<typename OpT>() {
                reduce_by_warp_shuffle<OpT>(static_cast<const T*>(call.in), call.n, static_cast<T*>(call.out),
                                            workspace, stream);
              });
            });
          }};
}

}  // namespace sluice::kernels::family::reduce
