// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/items.hpp"
#include "kernels/family/scan/lookback.cuh"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::scan {

ScanVariant lookback() {
  return {{"lookback", "one pass: tiles look back over what others have published", true},
          [](ItemType type, std::uint64_t n) {
            return with_type(type, [&]<typename T>() { return look_back_scratch<T>(n); });
          },
          [](const ScanCall& call, Workspace& workspace, StreamView stream) {
            with_items(call, [&]<typename T, typename OpT>(const T* in, OpT, T* out) {
              scan_by_look_back<OpT>(in, call.n, call.inclusive, out, workspace, stream);
            });
          }};
}

}  // namespace sluice::kernels::family::scan
