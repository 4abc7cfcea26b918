// SPDX-License-Identifier: Apache-2.0
/// \file
/// `thrust::reduce`: CUB's reduction, which hands the result to the host and so waits for it.
#include <thrust/reduce.h>

#include "kernels/family/items.hpp"
#include "kernels/family/library_operators.cuh"
#include "kernels/family/thrust_memory.cuh"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::reduce {

namespace {

template <typename T, typename OpT>
void run(const T* in, std::uint64_t n, T* out, Workspace& workspace, StreamView stream) {
  with_thrust(workspace, stream, [&](const auto& policy) {
    const T result = ::thrust::reduce(policy, in, in + n, OpT::template identity<T>(), LibraryOperator<OpT>{});
    // From memory that is not page-locked: it is read before the call returns.
    SLUICE_CUDA_CHECK(cudaMemcpyAsync(out, &result, sizeof result, cudaMemcpyHostToDevice,
                                      static_cast<cudaStream_t>(stream.handle())));
  });
}

}  // namespace

ReduceVariant thrust() {
  return {{"thrust", "thrust::reduce, which waits", true},
          [](ItemType type, std::uint64_t n) { return cub().scratch(type, n) + kThrustExtra; },
          [](const ReduceCall& call, Workspace& workspace, StreamView stream) {
            with_items(call, [&]<typename T, typename OpT>(const T* in, OpT, T* out) {
              run<T, OpT>(in, call.n, out, workspace, stream);
            });
          }};
}

}  // namespace sluice::kernels::family::reduce
