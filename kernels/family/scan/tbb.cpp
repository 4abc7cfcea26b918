// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/scan/tbb.hpp"

#include "kernels/family/operators.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::scan {

ScanVariant tbb() {
  return {{"tbb", "parallel_scan"},
          [](ItemType, std::uint64_t) { return std::size_t{0}; },
          [](const ScanCall& call, Workspace&, StreamView) {
            with_type(call.type, [&]<typename T>() {
              with_operator(call.op, [&]<typename OpT>() {
                scan_tbb<OpT>(static_cast<const T*>(call.in), call.n, call.inclusive, static_cast<T*>(call.out));
              });
            });
          }};
}

}  // namespace sluice::kernels::family::scan
