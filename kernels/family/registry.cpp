// SPDX-License-Identifier: Apache-2.0
// The one place that knows which variants were built.
#include <vector>

#include "kernels/family/variants.hpp"

namespace sluice::kernels::family {

std::span<const ScanVariant> scan_variants() {
  static const std::vector<ScanVariant> variants = {
      scan::serial(),
  };
  return variants;
}

std::span<const CompactVariant> compact_variants() {
  static const std::vector<CompactVariant> variants = {
      compact::serial(),
  };
  return variants;
}

std::span<const SortVariant> sort_variants() {
  static const std::vector<SortVariant> variants = {
      sort::std_stable_sort(),
  };
  return variants;
}

std::span<const HistogramVariant> histogram_variants() {
  static const std::vector<HistogramVariant> variants = {
      histogram::serial(),
  };
  return variants;
}

std::span<const ReduceVariant> reduce_variants() {
  static const std::vector<ReduceVariant> variants = {
      reduce::serial(),
  };
  return variants;
}

}  // namespace sluice::kernels::family
