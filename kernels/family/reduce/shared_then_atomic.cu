// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/items.hpp"
#include "kernels/family/reduce/shared_then_atomic.cuh"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::reduce {

ReduceVariant shared_then_atomic() {
  return {{"shared-then-atomic", "a tree in shared memory, then one atomic a block", true},
          [](ItemType, std::uint64_t) { return Workspace::bytes_for<std::uint64_t>(1); },
          [](const ReduceCall& call, Workspace& workspace, StreamView stream) {
            with_items(call, [&]<typename T, typename OpT>(const T* in, OpT, T* out) {
              reduce_by_atomic<OpT>(in, call.n, out, workspace, stream);
            });
          }};
}

}  // namespace sluice::kernels::family::reduce
