// SPDX-License-Identifier: Apache-2.0
// The one place that knows which variants were built: the plain ones of the CPU are always; SLUICE_FAMILY_CPU stands
// for those with threads, SLUICE_FAMILY_GPU for kernels of this project, SLUICE_FAMILY_LIBRARIES for calls of CUB and
// Thrust.
#include <vector>

#include "kernels/family/variants.hpp"

namespace sluice::kernels::family {

std::span<const ScanVariant> scan_variants() {
  static const std::vector<ScanVariant> variants = {
      scan::serial(),
#ifdef SLUICE_FAMILY_CPU
      scan::std_par(),
#endif
#ifdef SLUICE_FAMILY_OPENMP
      scan::openmp_chunked(),
#endif
#ifdef SLUICE_FAMILY_CPU
      scan::tbb(),
#endif
#ifdef SLUICE_FAMILY_GPU
      scan::naive(),
      scan::hillis_steele(),
      scan::hillis_steele_double_buffer(),
      scan::blelloch(),
      scan::blelloch_padded(),
      scan::warp_shuffle(),
      scan::lookback(),
#endif
#ifdef SLUICE_FAMILY_LIBRARIES
      scan::cub(),
      scan::thrust(),
#endif
  };
  return variants;
}

std::span<const CompactVariant> compact_variants() {
  static const std::vector<CompactVariant> variants = {
      compact::serial(),
#ifdef SLUICE_FAMILY_CPU
      compact::tbb(),
#endif
#ifdef SLUICE_FAMILY_GPU
      compact::naive(),
      compact::scan_scatter(),
      compact::two_kernel(),
      compact::atomic(),
      compact::warp_aggregated_atomic(),
      compact::lookback(),
#endif
#ifdef SLUICE_FAMILY_LIBRARIES
      compact::cub(),
      compact::thrust(),
#endif
  };
  return variants;
}

std::span<const SortVariant> sort_variants() {
  static const std::vector<SortVariant> variants = {
      sort::std_stable_sort(),
#ifdef SLUICE_FAMILY_CPU
      sort::tbb_lsd(),
      sort::tbb_parallel_sort(),
#endif
#ifdef SLUICE_FAMILY_GPU
      sort::split(),
      sort::lsd_three_kernel(),
      sort::onesweep(),
#endif
#ifdef SLUICE_FAMILY_LIBRARIES
      sort::cub(),
      sort::thrust(),
#endif
  };
  return variants;
}

std::span<const HistogramVariant> histogram_variants() {
  static const std::vector<HistogramVariant> variants = {
      histogram::serial(),
#ifdef SLUICE_FAMILY_CPU
      histogram::tbb(),
#endif
#ifdef SLUICE_FAMILY_GPU
      histogram::global_atomic(), histogram::shared_privatised(),
#endif
#ifdef SLUICE_FAMILY_LIBRARIES
      histogram::cub(),
#endif
  };
  return variants;
}

std::span<const ReduceVariant> reduce_variants() {
  static const std::vector<ReduceVariant> variants = {
      reduce::serial(),
#ifdef SLUICE_FAMILY_CPU
      reduce::tbb(),
#endif
#ifdef SLUICE_FAMILY_GPU
      reduce::warp_shuffle(), reduce::shared_then_atomic(),
#endif
#ifdef SLUICE_FAMILY_LIBRARIES
      reduce::cub(),          reduce::thrust(),
#endif
  };
  return variants;
}

}  // namespace sluice::kernels::family
