// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/operators.hpp"
#include "kernels/family/reduce/shared_then_atomic.cuh"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::reduce {

ReduceVariant shared_then_atomic() {
  return {{"shared-then-atomic", "a tree in shared memory, then one atomic a block", true},
          [](ItemType, std::uint64_t) { return Workspace::bytes_for<std::uint64_t>(1); },
          [](const ReduceCall& call, Workspace& workspace, StreamView stream) {
            with_type(call.type, [&]<typename T>() {
              with_operator(call.op, [&]<typename OpT>() {
                reduce_by_atomic<OpT>(static_cast<const T*>(call.in), call.n, static_cast<T*>(call.out), workspace,
                                      stream);
              });
            });
          }};
}

}  // namespace sluice::kernels::family::reduce
