// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/parallel/radix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sluice/core/memory_resource.hpp"
#include "sluice/core/random.hpp"

namespace sluice::test {
namespace {

using namespace sluice::kernels;

/// Sorts with places of one type. \param n  fits it
template <typename PlaceT>
void check_sort(std::uint64_t n) {
  std::vector<std::uint32_t> keys(n);
  for (std::uint64_t i = 0; i < n; ++i) keys[i] = static_cast<std::uint32_t>(counter_random(1, i));
  std::vector<std::uint32_t> expected = keys;
  const auto part = [](std::uint32_t key) { return key >> 3 & 0xfffffU; };
  std::stable_sort(expected.begin(), expected.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return part(a) < part(b); });
  std::vector<std::uint32_t> other(n);
  const KeysOnly<std::uint32_t> items[2] = {{keys.data()}, {other.data()}};
  HostMemory memory;
  Workspace workspace(memory, radix_scratch<PlaceT>(n));
  const int result = radix_sort<PlaceT>(items, n, 3, 23, workspace);
  EXPECT_EQ(workspace.used(), 0U);
  EXPECT_TRUE((result == 0 ? keys : other) == expected) << n << " keys, places of " << sizeof(PlaceT) << " bytes";
}

// Sorts of more keys than 32 bits count, for which few machines have the memory, differ by the type of places alone.
TEST(Radix, PlacesMayHave64Bits) {
  for (const std::uint64_t n : {0U, 1U, 2U, 65535U, 65536U, 65537U, 300007U}) {
    check_sort<std::uint32_t>(n);
    check_sort<std::uint64_t>(n);
  }
  EXPECT_EQ(radix_scratch<std::uint64_t>(300007), 2 * radix_scratch(300007));
}

}  // namespace
}  // namespace sluice::test
