// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/operators.hpp"
#include "kernels/family/scan/lookback.cuh"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::scan {

ScanVariant lookback() {
  return {{"lookback", "one pass: tiles look back over what others have published", true},
          [](ItemType type, std::uint64_t n) {
            return with_type(type, [&]<typename T>() { return look_back_scratch<T>(n); });
          },
          [](const ScanCall& call, Workspace& workspace, StreamView stream) {
            with_type(call.type, [&]<typename T>() {
              with_operator(call.op, [&]<typename OpT>() {
                scan_by_look_back<OpT>(static_cast<const T*>(call.in), call.n, call.inclusive,
                                       static_cast<T*>(call.out), workspace, stream);
              });
            });
          }};
}

}  // namespace sluice::kernels::family::scan
