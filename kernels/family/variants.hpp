// SPDX-License-Identifier: Apache-2.0
/// \file
/// The variants by name, each defined in a source of its own.
#pragma once

#include "sluice/kernels/variant.hpp"

namespace sluice::kernels::family {

namespace scan {
ScanVariant serial();
ScanVariant hillis_steele();
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
