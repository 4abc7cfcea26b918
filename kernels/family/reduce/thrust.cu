// SPDX-License-Identifier: Apache-2.0
/// \file
/// `thrust::reduce`: CUB's reduction, which hands the result to the host and so waits for it.
#include <thrust/reduce.h>

#include "kernels/family/library_operators.cuh"
#include "kernels/family/operators.hpp"
#include "kernels/family/thrust_memory.cuh"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::reduce {

namespace {

template <typename T, typename OpT>
void run(const ReduceCall& call, Workspace& workspace, StreamView stream) {
  const auto* const in = static_cast<const T*>(call.in);
  with_thrust(workspace, stream, [&](const auto& policy) {
    const T result = ::thrust::reduce(policy, in, in + call.n, OpT::template identity<T>(), LibraryOperator<OpT>{});
    SLUICE_CUDA_CHECK(cudaMemcpyAsync(call.out, &result, sizeof result, cudaMemcpyHostToDevice,
                                      static_cast<cudaStream_t>(stream.handle())));
  });
}

}  // namespace

ReduceVariant thrust() {
  return {{"thrust", "thrust::reduce, which waits", true},
          [](ItemType type, std::uint64_t n) { return cub().scratch(type, n) + kThrustExtra; },
          [](const ReduceCall& call, Workspace& workspace, StreamView stream) {
            with_type(call.type, [&]<typename T>() {
              with_operator(call.op, [&]<typename OpT>() { run<T, OpT>(call, workspace, stream); });
            });
          }};
}

}  // namespace sluice::kernels::family::reduce
