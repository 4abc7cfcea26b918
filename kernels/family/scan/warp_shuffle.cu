// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/scan/block_sums.cuh"
#include "kernels/family/scan/warp_shuffle.cuh"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::scan {

ScanVariant warp_shuffle() {
  return variant_by_blocks<WarpShuffle>("warp-shuffle", "inside warps by shuffles, between them by shared memory");
}

}  // namespace sluice::kernels::family::scan
