// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/operators.hpp"
#include "kernels/family/scan/naive.cuh"
#include "kernels/family/variants.hpp"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::family::scan {

ScanVariant naive() {
  return {{"naive", "each thread sums all before its item", true, true},
          [](ItemType, std::uint64_t) { return std::size_t{0}; },
          [](const ScanCall& call, Workspace&, StreamView stream) {
            with_type(call.type, [&]<typename T>() {
              with_operator(call.op, [&]<typename OpT>() {
                using Kernel = Naive<T, OpT>;
                simt::launch(Kernel{static_cast<const T*>(call.in), call.n, call.inclusive, static_cast<T*>(call.out)},
                             simt::blocks_for(call.n, Kernel::kThreads), stream);
              });
            });
          }};
}

}  // namespace sluice::kernels::family::scan
