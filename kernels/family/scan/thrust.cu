// SPDX-License-Identifier: Apache-2.0
/// \file
/// `thrust::inclusive_scan` and `exclusive_scan`: CUB's scan behind iterators and an allocator.
#include <thrust/scan.h>

#include "kernels/family/items.hpp"
#include "kernels/family/library_operators.cuh"
#include "kernels/family/thrust_memory.cuh"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::scan {

namespace {

template <typename T, typename OpT>
void run(const T* in, std::uint64_t n, bool inclusive, T* out, Workspace& workspace, StreamView stream) {
  with_thrust(workspace, stream, [&](const auto& policy) {
    if (inclusive) {
      ::thrust::inclusive_scan(policy, in, in + n, out, LibraryOperator<OpT>{});
    } else {
      ::thrust::exclusive_scan(policy, in, in + n, out, OpT::template identity<T>(), LibraryOperator<OpT>{});
    }
  });
}

}  // namespace

ScanVariant thrust() {
  return {{"thrust", "thrust::inclusive_scan and exclusive_scan", true},
          [](ItemType type, std::uint64_t n) { return cub().scratch(type, n) + kThrustExtra; },
          [](const ScanCall& call, Workspace& workspace, StreamView stream) {
            with_items(call, [&]<typename T, typename OpT>(const T* in, OpT, T* out) {
              run<T, OpT>(in, call.n, call.inclusive, out, workspace, stream);
            });
          }};
}

}  // namespace sluice::kernels::family::scan
