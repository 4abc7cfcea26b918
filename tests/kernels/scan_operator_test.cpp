// SPDX-License-Identifier: Apache-2.0
/// \file
/// The templates of scans with a type and an operator of one's own, which does not commute.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#ifdef SLUICE_FAMILY_OPENMP
#include <omp.h>

#include "kernels/family/scan/openmp_chunked.hpp"
#endif
#include "kernels/family/scan/std_par.hpp"
#include "kernels/family/scan/tbb.hpp"
#include "support/affine_maps.hpp"

namespace sluice::test {
namespace {

using namespace kernels::family;

/// \param scan  takes what all scans of the CPU take
template <typename ScanT>
void expect_composed(const ScanT& scan) {
  for (const std::uint64_t n : {0U, 1U, 2U, 5U, 255U, 16384U, 16385U, 100'003U}) {
    for (const bool inclusive : {true, false}) {
      const std::vector<AffineMap> in = random_maps(n);
      std::vector<AffineMap> out(n);
      scan(in.data(), n, inclusive, out.data());
      ASSERT_EQ(out, composed(in, inclusive)) << n << " maps";
    }
  }
}

TEST(OperatorsOfOnesOwn, StdPar) {
  expect_composed([](auto... arguments) { scan::scan_std_par<Compose>(arguments...); });
}
#ifdef SLUICE_FAMILY_OPENMP
// As many chunks as threads: the totals of the first two are put together from three on.
TEST(OperatorsOfOnesOwn, OpenmpChunked) {
  const int most = omp_get_max_threads();
  for (const int threads : {1, 2, 3, 7}) {
    SCOPED_TRACE(testing::Message() << threads << " threads");
    omp_set_num_threads(threads);
    expect_composed([](auto... arguments) { scan::scan_openmp_chunked<Compose>(arguments...); });
  }
  omp_set_num_threads(most);
}
#endif
TEST(OperatorsOfOnesOwn, Tbb) {
  expect_composed([](auto... arguments) { scan::scan_tbb<Compose>(arguments...); });
}

}  // namespace
}  // namespace sluice::test
