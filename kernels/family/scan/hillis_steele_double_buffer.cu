// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/scan/block_sums.cuh"
#include "kernels/family/scan/hillis_steele_double_buffer.cuh"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::scan {

ScanVariant hillis_steele_double_buffer() {
  return variant_by_blocks<HillisSteeleDoubleBuffer>("hillis-steele-double-buffer", "the same between two buffers");
}

}  // namespace sluice::kernels::family::scan
