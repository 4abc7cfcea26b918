// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/scan/tbb.hpp"

#include "kernels/family/items.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::scan {

ScanVariant tbb() {
  return {{"tbb", "parallel_scan"},
          [](ItemType, std::uint64_t) { return std::size_t{0}; },
          [](const ScanCall& call, Workspace&, StreamView) {
            with_items(call, [&]<typename T, typename OpT>(const T* in, OpT, T* out) {
              scan_tbb<OpT>(in, call.n, call.inclusive, out);
            });
          }};
}

}  // namespace sluice::kernels::family::scan
