// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/scan/openmp_chunked.hpp"

#include "kernels/family/items.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::scan {

ScanVariant openmp_chunked() {
  return {{"openmp-chunked", "chunks, their totals, chunks again"},
          [](ItemType, std::uint64_t) { return std::size_t{0}; },
          [](const ScanCall& call, Workspace&, StreamView) {
            with_items(call, [&]<typename T, typename OpT>(const T* in, OpT, T* out) {
              scan_openmp_chunked<OpT>(in, call.n, call.inclusive, out);
            });
          }};
}

}  // namespace sluice::kernels::family::scan
