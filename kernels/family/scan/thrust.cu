// SPDX-License-Identifier: Apache-2.0
/// \file
/// `thrust::inclusive_scan` and `exclusive_scan`: CUB's scan behind iterators and an allocator.
#include <thrust/scan.h>

#include "kernels/family/library_operators.cuh"
#include "kernels/family/operators.hpp"
#include "kernels/family/thrust_memory.cuh"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::scan {

namespace {

template <typename T, typename OpT>
void run(const ScanCall& call, Workspace& workspace, StreamView stream) {
  const auto* const in = static_cast<const T*>(call.in);
  auto* const out = static_cast<T*>(call.out);
  with_thrust(workspace, stream, [&](const auto& policy) {
    if (call.inclusive) {
      ::thrust::inclusive_scan(policy, in, in + call.n, out, LibraryOperator<OpT>{});
    } else {
      ::thrust::exclusive_scan(policy, in, in + call.n, out, OpT::template identity<T>(), LibraryOperator<OpT>{});
    }
  });
}

}  // namespace

ScanVariant thrust() {
  return {{"thrust", "thrust::inclusive_scan and exclusive_scan", true},
          [](ItemType type, std::uint64_t n) { return cub().scratch(type, n) + kThrustExtra; },
          [](const ScanCall& call, Workspace& workspace, StreamView stream) {
            with_type(call.type, [&]<typename T>() {
              with_operator(call.op, [&]<typename OpT>() { run<T, OpT>(call, workspace, stream); });
            });
          }};
}

}  // namespace sluice::kernels::family::scan
