// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/scan/blelloch_padded.cuh"
#include "kernels/family/scan/block_sums.cuh"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::scan {

ScanVariant blelloch_padded() {
  return variant_by_blocks<BlellochPadded>("blelloch-padded", "the same, spread over the banks of shared memory");
}

}  // namespace sluice::kernels::family::scan
