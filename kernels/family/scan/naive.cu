// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/items.hpp"
#include "kernels/family/scan/naive.cuh"
#include "kernels/family/variants.hpp"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::family::scan {

ScanVariant naive() {
  return {{"naive", "each thread sums all before its item", true, true},
          [](ItemType, std::uint64_t) { return std::size_t{0}; },
          [](const ScanCall& call, Workspace&, StreamView stream) {
            with_items(call, [&]<typename T, typename OpT>(const T* in, OpT, T* out) {
              using Kernel = Naive<T, OpT>;
              simt::launch(Kernel{in, call.n, call.inclusive, out}, simt::blocks_for(call.n, Kernel::kThreads), stream);
            });
          }};
}

}  // namespace sluice::kernels::family::scan
