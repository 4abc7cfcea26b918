// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/scan/openmp_chunked.hpp"

#include "kernels/family/operators.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::scan {

ScanVariant openmp_chunked() {
  return {{"openmp-chunked", "chunks, their totals, chunks again"},
          [](ItemType, std::uint64_t) { return std::size_t{0}; },
          [](const ScanCall& call, Workspace&, StreamView) {
            with_type(call.type, [&]<typename T>() {
              with_operator(call.op, [&]<typename OpT>() {
                scan_openmp_chunked<OpT>(static_cast<const T*>(call.in), call.n, call.inclusive,
                                         static_cast<T*>(call.out));
              });
            });
          }};
}

}  // namespace sluice::kernels::family::scan
