// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/scan/std_par.hpp"

#include "kernels/family/items.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::scan {

ScanVariant std_par() {
  return {{"std-par", "std::inclusive_scan and exclusive_scan with par_unseq"},
          [](ItemType, std::uint64_t) { return std::size_t{0}; },
          [](const ScanCall& call, Workspace&, StreamView) {
            with_items(call, [&]<typename T, typename OpT>(const T* in, OpT, T* out) {
              scan_std_par<OpT>(in, call.n, call.inclusive, out);
            });
          }};
}

}  // namespace sluice::kernels::family::scan
