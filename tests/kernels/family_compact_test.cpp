// SPDX-License-Identifier: Apache-2.0
/// \file
/// All compactions by name: what a loop keeps, in its order, or in any where the variant says so.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "support/family_test.hpp"

namespace sluice::test {
namespace {

using namespace kernels::family;
using kernels::Workspace;

/// All items differ, those kept from each other and from those that are not. All are whole numbers below 2^24.
constexpr double kLimit = 1 << 20;

template <typename T>
std::vector<T> items_of(std::uint64_t n, unsigned percent_kept) {
  std::vector<T> out(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    const bool kept = counter_random(n + percent_kept, i) % 100 < percent_kept;
    out[i] = static_cast<T>(i) + (kept ? T{0} : static_cast<T>(kLimit));
  }
  return out;
}

class CompactFamily : public FamilyTest<compact_variants> {
 protected:
  template <typename T>
  void expect_loop(ItemType type, const std::vector<T>& items, double limit) {
    const std::uint64_t n = items.size();
    std::vector<T> expected;
    for (const T item : items) {
      if (item < static_cast<T>(limit)) expected.push_back(item);
    }
    // One item in, so that pointers are aligned to an item and no more.
    const BackendArray<T> in = upload(items, 1);
    const BackendArray<T> out = room<T>(n, 1);
    const BackendArray<std::uint64_t> count = room<std::uint64_t>(1);
    Workspace workspace(scratch_memory(), variant().scratch(type, n));
    variant().run({type, in.data(), n, limit, out.data(), count.data()}, workspace, stream());
    EXPECT_EQ(workspace.used(), 0U);
    const std::vector<std::uint64_t> kept = count.get();
    ASSERT_EQ(kept[0], expected.size());
    std::vector<T> found = out.get(kept[0]);
    if (!variant().ordered) {
      std::sort(found.begin(), found.end());
      std::sort(expected.begin(), expected.end());
    }
    ASSERT_EQ(found, expected);
  }
};

TEST_P(CompactFamily, KeepsWhatALoopKeeps) {
  constexpr unsigned kPercent[] = {0, 1, 50, 99, 100};
  constexpr std::size_t kCases = std::size(kPercent) * std::size(kItemTypes);
  std::vector<std::uint64_t> all = sizes();
  // Tiles of eight items for each of 256 threads.
  if (!variant().quadratic) all.insert(all.end(), {2047, 2048, 2049, 4097});
  for (std::size_t s = 0; s < all.size(); ++s) {
    std::size_t one = 0;
    for (const ItemType type : kItemTypes) {
      for (const unsigned percent : kPercent) {
        if (!takes(s, one++, kCases)) continue;
        SCOPED_TRACE(testing::Message() << all[s] << " items of type " << static_cast<int>(type) << ", " << percent
                                        << " % kept");
        with_type(type, [&]<typename T>() { expect_loop<T>(type, items_of<T>(all[s], percent), kLimit); });
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(CompactFamily, KeepsOneItemWhereverItIs) {
  constexpr std::uint64_t kItems = 513;
  for (const std::uint64_t at : {0U, 31U, 32U, 255U, 256U, 511U, 512U}) {
    SCOPED_TRACE(testing::Message() << "item " << at);
    std::vector<std::uint32_t> items(kItems, 7);
    items[at] = 6;
    expect_loop(ItemType::kUint32, items, 7.0);
    if (HasFatalFailure()) return;
  }
}

TEST_P(CompactFamily, ComparesAsTheTypeDoes) {
  expect_loop<std::uint64_t>(ItemType::kUint64,
                             {~std::uint64_t{0}, 0, std::uint64_t{1} << 63, (std::uint64_t{1} << 63) - 1},
                             9223372036854775808.0);
  const auto of_floats = [&]<typename T>(ItemType type) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    const std::vector<T> items = {
        std::numeric_limits<T>::quiet_NaN(), -kInfinity, kInfinity, T{-1}, T{0.5}, std::numeric_limits<T>::denorm_min(),
        std::numeric_limits<T>::max()};
    expect_loop(type, items, 0.5);
    expect_loop(type, items, static_cast<double>(kInfinity));
    expect_loop(type, items, static_cast<double>(-kInfinity));
  };
  of_floats.operator()<float>(ItemType::kFloat32);
  of_floats.operator()<double>(ItemType::kFloat64);
}

TEST_P(CompactFamily, RefusesMoreThanItCounts) {
  Workspace workspace(scratch_memory(), 0);
  const CompactCall call{ItemType::kUint32, nullptr, std::uint64_t{1} << 32, 0.0, nullptr, nullptr};
  EXPECT_THROW(variant().run(call, workspace, stream()), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Variants, CompactFamily, testing::ValuesIn(parameters_of(compact_variants())),
                         name_of_parameter);

}  // namespace
}  // namespace sluice::test
