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
CompactVariant tbb();
CompactVariant naive();
CompactVariant scan_scatter();
CompactVariant two_kernel();
CompactVariant atomic();
CompactVariant warp_aggregated_atomic();
CompactVariant lookback();
CompactVariant cub();
CompactVariant thrust();
}  // namespace compact

namespace sort {
SortVariant std_stable_sort();
SortVariant tbb_lsd();
SortVariant tbb_parallel_sort();
SortVariant split();
SortVariant lsd_three_kernel();
SortVariant onesweep();
SortVariant cub();
SortVariant thrust();
}  // namespace sort

namespace histogram {
HistogramVariant serial();
HistogramVariant tbb();
HistogramVariant global_atomic();
HistogramVariant shared_privatised();
HistogramVariant cub();
}  // namespace histogram

namespace reduce {
ReduceVariant serial();
ReduceVariant tbb();
ReduceVariant warp_shuffle();
ReduceVariant shared_then_atomic();
ReduceVariant cub();
ReduceVariant thrust();
}  // namespace reduce

}  // namespace sluice::kernels::family
