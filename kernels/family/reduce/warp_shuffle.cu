// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/items.hpp"
#include "kernels/family/reduce/warp_shuffle.cuh"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::reduce {

ReduceVariant warp_shuffle() {
  return {{"warp-shuffle", "inside warps by shuffles; results of blocks likewise", true},
          [](ItemType type, std::uint64_t n) {
            return with_type(type, [&]<typename T>() { return warp_shuffle_scratch<T>(n); });
          },
          [](const ReduceCall& call, Workspace& workspace, StreamView stream) {
            with_items(call, [&]<typename T, typename OpT>(const T* in, OpT, T* out) {
              reduce_by_warp_shuffle<OpT>(in, call.n, out, workspace, stream);
            });
          }};
}

}  // namespace sluice::kernels::family::reduce
