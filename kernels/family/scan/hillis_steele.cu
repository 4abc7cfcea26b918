// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/scan/block_sums.cuh"
#include "kernels/family/scan/hillis_steele.cuh"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::scan {

ScanVariant hillis_steele() {
  return variant_by_blocks<HillisSteele>("hillis-steele", "each item adds the one 1, 2, 4, ... before it");
}

}  // namespace sluice::kernels::family::scan
