// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/scan/blelloch.cuh"
#include "kernels/family/scan/block_sums.cuh"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::scan {

ScanVariant blelloch() {
  return variant_by_blocks<Blelloch>("blelloch", "a tree: up with sums, down with what comes before");
}

}  // namespace sluice::kernels::family::scan
