// SPDX-License-Identifier: Apache-2.0
/// \file
/// All scans by name: the values of a loop, integers and extremes to the bit, sums of floats within the error that n
/// roundings can make.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/family_test.hpp"

namespace sluice::test {
namespace {

using namespace kernels::family;
using kernels::Workspace;

class ScanFamily : public FamilyTest<scan_variants> {
 protected:
  template <typename T>
  std::vector<T> scanned(ItemType type, Operator op, bool inclusive, const std::vector<T>& items) {
    const std::uint64_t n = items.size();
    // One item in, so that pointers are aligned to an item and no more.
    const BackendArray<T> in = upload(items, 1);
    const BackendArray<T> out = room<T>(n, 1);
    Workspace workspace(scratch_memory(), variant().scratch(type, n));
    variant().run({type, op, inclusive, in.data(), n, out.data()}, workspace, stream());
    EXPECT_EQ(workspace.used(), 0U);
    EXPECT_EQ(in.get(), items) << "the input was written";
    return out.get();
  }

  template <typename T, typename OpT>
  void expect_loop(ItemType type, Operator op, bool inclusive, std::uint64_t n, LargestError& largest) {
    SCOPED_TRACE(testing::Message() << n << " items of type " << static_cast<int>(type) << ", operator "
                                    << static_cast<int>(op) << (inclusive ? ", inclusive" : ", exclusive"));
    const std::vector<T> items = random_items<T>(n, n);
    const std::vector<T> found = scanned(type, op, inclusive, items);
    constexpr bool kRounds = !std::is_integral_v<T> && std::is_same_v<OpT, Sum>;
    using Exact = std::conditional_t<kRounds, long double, T>;
    Exact sum = OpT::template identity<T>();
    long double magnitude = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      const Exact before = sum;
      sum = OpT{}(sum, static_cast<Exact>(items[i]));
      const Exact expected = inclusive ? sum : before;
      if constexpr (kRounds) {
        magnitude += std::abs(static_cast<long double>(items[i]));
        const long double error = std::abs(static_cast<long double>(found[i]) - expected);
        largest.add(static_cast<double>(error));
        const auto bound = static_cast<long double>(i + 1) * std::numeric_limits<T>::epsilon() * magnitude;
        ASSERT_LE(error, bound) << "at " << i;
      } else {
        ASSERT_EQ(found[i], expected) << "at " << i;
      }
    }
  }

  /// Calls `body<T, OpT>(type, op, inclusive)` for all cases, or for some of them in turn.
  template <typename BodyT>
  void for_cases(std::size_t size, const BodyT& body) {
    constexpr std::size_t kCases = std::size(kItemTypes) * std::size(kOperators) * 2;
    std::size_t one = 0;
    for (const bool inclusive : {true, false}) {
      for (const Operator op : kOperators) {
        for (const ItemType type : kItemTypes) {
          if (!takes(size, one++, kCases)) continue;
          with_type(type, [&]<typename T>() {
            with_operator(op, [&]<typename OpT>() { body.template operator()<T, OpT>(type, op, inclusive); });
          });
          if (HasFatalFailure()) return;
        }
      }
    }
  }
};

TEST_P(ScanFamily, IsAsALoop) {
  LargestError float32;
  LargestError float64;
  const std::vector<std::uint64_t> all = sizes();
  for (std::size_t s = 0; s < all.size() && !HasFatalFailure(); ++s) {
    for_cases(s, [&]<typename T, typename OpT>(ItemType type, Operator op, bool inclusive) {
      expect_loop<T, OpT>(type, op, inclusive, all[s], sizeof(T) == 4 ? float32 : float64);
    });
  }
  float32.report("largest_error_float32");
  float64.report("largest_error_float64");
}

// Of many floats the bound on rounding is wider than an item is large; here no order of additions rounds.
TEST_P(ScanFamily, SumsOfWholeFloatsAreExact) {
  const std::vector<std::uint64_t> all = sizes();
  for (std::size_t s = 0; s < all.size() && !HasFatalFailure(); ++s) {
    for_cases(s, [&]<typename T, typename OpT>(ItemType type, Operator op, bool inclusive) {
      if (std::is_integral_v<T> || op != Operator::kSum) return;
      SCOPED_TRACE(testing::Message() << all[s] << " items of type " << static_cast<int>(type)
                                      << (inclusive ? ", inclusive" : ", exclusive"));
      const std::vector<T> items = whole_items<T>(all[s]);
      const std::vector<T> found = scanned(type, op, inclusive, items);
      T sum = 0;
      for (std::uint64_t i = 0; i < all[s]; ++i) {
        if (inclusive) sum += items[i];
        ASSERT_EQ(found[i], sum) << "at " << i;
        if (!inclusive) sum += items[i];
      }
    });
  }
}

// Sums of the sums of blocks of blocks, which sizes of the emulated device do not reach; two schedules are enough
// there.
TEST_P(ScanFamily, IsAsALoopOverManyBlocks) {
  if (variant().quadratic || GetParam().schedule > 2) return;
  LargestError error;
  expect_loop<std::uint32_t, Sum>(ItemType::kUint32, Operator::kSum, true, 66'000, error);
  expect_loop<double, Sum>(ItemType::kFloat64, Operator::kSum, false, 66'000, error);
}

// The first item of each row of lanes, block and tile is where the two differ most easily.
TEST_P(ScanFamily, ExclusiveIsInclusiveOnePlaceLater) {
  const std::vector<std::uint64_t> all = sizes();
  for (std::size_t s = 0; s < all.size() && !HasFatalFailure(); ++s) {
    const std::uint64_t n = all[s];
    for_cases(s, [&]<typename T, typename OpT>(ItemType type, Operator op, bool inclusive_first) {
      if (n == 0 || !inclusive_first) return;
      if (!std::is_integral_v<T> && op == Operator::kSum) return;  // another order of rounding
      SCOPED_TRACE(testing::Message() << n << " items of type " << static_cast<int>(type) << ", operator "
                                      << static_cast<int>(op));
      const std::vector<T> items = random_items<T>(n + 1, n);
      const std::vector<T> inclusive = scanned(type, op, true, items);
      const std::vector<T> exclusive = scanned(type, op, false, items);
      ASSERT_EQ(exclusive[0], OpT::template identity<T>());
      ASSERT_EQ(inclusive[0], items[0]);
      for (std::uint64_t i = 1; i < n; ++i) ASSERT_EQ(exclusive[i], inclusive[i - 1]) << "at " << i;
      for (std::uint64_t i = 0; i < n; ++i) ASSERT_EQ(inclusive[i], OpT{}(exclusive[i], items[i])) << "at " << i;
    });
  }
}

TEST_P(ScanFamily, RefusesMoreThanItCounts) {
  Workspace workspace(scratch_memory(), 0);
  const ScanCall call{ItemType::kUint32, Operator::kSum, true, nullptr, std::uint64_t{1} << 32, nullptr};
  EXPECT_THROW(variant().run(call, workspace, stream()), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Variants, ScanFamily, testing::ValuesIn(parameters_of(scan_variants())), name_of_parameter);

}  // namespace
}  // namespace sluice::test
