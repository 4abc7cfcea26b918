// SPDX-License-Identifier: Apache-2.0
/// \file
/// All reductions by name: the value of a loop, integers and extremes to the bit, sums of floats within the error that
/// n roundings can make.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "support/family_test.hpp"

namespace sluice::test {
namespace {

using namespace kernels::family;
using kernels::Workspace;

class ReduceFamily : public FamilyTest<reduce_variants> {
 protected:
  template <typename T>
  T reduced(ItemType type, Operator op, const std::vector<T>& items) {
    const std::uint64_t n = items.size();
    // One item in, so that pointers are aligned to an item and no more.
    const BackendArray<T> in = upload(items, 1);
    const BackendArray<T> out = room<T>(1, 1);
    Workspace workspace(scratch_memory(), variant().scratch(type, n));
    variant().run({type, op, in.data(), n, out.data()}, workspace, stream());
    EXPECT_EQ(workspace.used(), 0U);
    EXPECT_EQ(in.get(), items) << "the input was written";
    return out.get()[0];
  }

  template <typename T, typename OpT>
  void expect_loop(ItemType type, Operator op, const std::vector<T>& items, LargestError& largest) {
    SCOPED_TRACE(testing::Message() << items.size() << " items of type " << static_cast<int>(type) << ", operator "
                                    << static_cast<int>(op));
    const T found = reduced(type, op, items);
    constexpr bool kRounds = !std::is_integral_v<T> && std::is_same_v<OpT, Sum>;
    using Exact = std::conditional_t<kRounds, long double, T>;
    Exact expected = OpT::template identity<T>();
    long double magnitude = 0;
    for (const T item : items) {
      expected = OpT{}(expected, static_cast<Exact>(item));
      if constexpr (kRounds) magnitude += std::abs(static_cast<long double>(item));
    }
    if constexpr (kRounds) {
      const long double error = std::abs(static_cast<long double>(found) - expected);
      largest.add(static_cast<double>(error));
      EXPECT_LE(error, static_cast<long double>(items.size()) * std::numeric_limits<T>::epsilon() * magnitude);
    } else {
      EXPECT_EQ(found, expected);
    }
  }

  /// Calls `body<T, OpT>(type, op)` for all cases, or for some of them in turn.
  template <typename BodyT>
  void for_cases(std::size_t size, const BodyT& body) {
    std::size_t one = 0;
    for (const Operator op : kOperators) {
      for (const ItemType type : kItemTypes) {
        if (!takes(size, one++, std::size(kItemTypes) * std::size(kOperators))) continue;
        with_type(type, [&]<typename T>() {
          with_operator(op, [&]<typename OpT>() { body.template operator()<T, OpT>(type, op); });
        });
      }
    }
  }
};

TEST_P(ReduceFamily, IsAsALoop) {
  LargestError float32;
  LargestError float64;
  std::vector<std::uint64_t> all = sizes();
  if (GetParam().schedule <= 2) all.push_back(66'000);
  for (std::size_t s = 0; s < all.size(); ++s) {
    for_cases(s, [&]<typename T, typename OpT>(ItemType type, Operator op) {
      expect_loop<T, OpT>(type, op, random_items<T>(s + 1, all[s]), sizeof(T) == 4 ? float32 : float64);
    });
  }
  float32.report("largest_error_float32");
  float64.report("largest_error_float64");
}

// Of many floats the bound on rounding is wider than an item is large; here no order of additions rounds.
TEST_P(ReduceFamily, SumsOfWholeFloatsAreExact) {
  const std::vector<std::uint64_t> all = sizes();
  for (std::size_t s = 0; s < all.size(); ++s) {
    for_cases(s, [&]<typename T, typename OpT>(ItemType type, Operator op) {
      if (std::is_integral_v<T> || op != Operator::kSum) return;
      const std::vector<T> items = whole_items<T>(all[s]);
      EXPECT_EQ(reduced(type, op, items), std::accumulate(items.begin(), items.end(), T{0})) << all[s] << " items";
    });
  }
}

// Extremes of floats travel as integers.
TEST_P(ReduceFamily, FindsExtremesOfEverySign) {
  LargestError none;
  for_cases(0, [&]<typename T, typename OpT>(ItemType type, Operator op) {
    if constexpr (!std::is_integral_v<T> && !std::is_same_v<OpT, Sum>) {
      using Limits = std::numeric_limits<T>;
      for (const std::vector<T>& items :
           {std::vector<T>{T{-1}, T{-2}, T{-3}}, std::vector<T>{T{1}, T{2}, T{3}}, std::vector<T>{T{-1}, T{0}, T{1}},
            std::vector<T>{T{0}, -T{0}, T{0}}, std::vector<T>{Limits::lowest(), Limits::max()},
            std::vector<T>{Limits::denorm_min(), -Limits::denorm_min()},
            std::vector<T>{-Limits::infinity(), T{5}, Limits::infinity()}}) {
        expect_loop<T, OpT>(type, op, items, none);
      }
    }
  });
}

TEST_P(ReduceFamily, RefusesMoreThanItCounts) {
  Workspace workspace(scratch_memory(), 0);
  const ReduceCall call{ItemType::kUint32, Operator::kSum, nullptr, std::uint64_t{1} << 32, nullptr};
  EXPECT_THROW(variant().run(call, workspace, stream()), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Variants, ReduceFamily, testing::ValuesIn(parameters_of(reduce_variants())),
                         name_of_parameter);

}  // namespace
}  // namespace sluice::test
