// SPDX-License-Identifier: Apache-2.0
/// \file
/// The variants by name, each defined in a source of its own.
#pragma once

#include "sluice/kernels/variant.hpp"

namespace sluice::kernels::family {

namespace scan {
ScanVariant serial();
ScanVariant std_par();
ScanVariant openmp_chunked();
ScanVariant tbb();
ScanVariant naive();
ScanVariant hillis_steele();
ScanVariant hillis_steele_double_buffer();
ScanVariant blelloch();
ScanVariant blelloch_padded();
ScanVariant warp_shuffle();
ScanVariant lookback();
ScanVariant cub();
ScanVariant thrust();
}  // namespace scan

namespace compact {
CompactVariant serial();
}  // namespace compact

namespace sort {
SortVariant std_stable_sort();
}  // namespace sort

namespace histogram {
HistogramVariant serial();
}  // namespace histogram

namespace reduce {
ReduceVariant serial();
}  // namespace reduce

}  // namespace sluice::kernels::family
