// SPDX-License-Identifier: Apache-2.0
#include "exact_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "support/big_int.hpp"

namespace sluice::app {
namespace {

using test::BigInt;

constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

ExactSum sum_of(const std::vector<double>& values) {
  ExactSum sum;
  for (const double value : values) sum.add(value);
  return sum;
}

std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

/// A number in units of the smallest double. Infinity is the double that would follow the largest.
BigInt in_units(double value) {
  if (std::isinf(value)) return value < 0 ? -BigInt::power(2, 1024 + 1074) : BigInt::power(2, 1024 + 1074);
  int exponent = 0;
  (void)std::frexp(value, &exponent);
  const int unit = std::max(exponent - 53, -1074);
  // In two steps: 2^1074 is no double.
  const double digits = std::ldexp(std::ldexp(value, -unit / 2), -unit + unit / 2);
  return BigInt(static_cast<std::int64_t>(digits)) * BigInt::power(2, unit + 1074);
}

/// Whether `got` is the double nearest to units / count, and of two the even one: whether the quotient lies between
/// the middles to its neighbours.
::testing::AssertionResult is_nearest(const BigInt& units, std::uint64_t count, double got) {
  const BigInt n(static_cast<int128>(count));
  const BigInt twice = units + units;
  const bool even = bits_of(got) % 2 == 0;
  for (const double towards : {-kInfinity, kInfinity}) {
    if (got == towards) continue;
    const BigInt beyond = twice - n * (in_units(got) + in_units(std::nextafter(got, towards)));
    const int side = towards < 0 ? -beyond.sign() : beyond.sign();
    if (side > 0 || (side == 0 && !even)) return ::testing::AssertionFailure() << got << " is not the nearest";
  }
  return ::testing::AssertionSuccess();
}

double random_double(std::mt19937_64& random, int least_exponent, int exponents) {
  const auto digits = static_cast<double>(random() >> 11) * 0x1p-53;
  const double size =
      std::ldexp(digits, least_exponent + static_cast<int>(random() % static_cast<unsigned>(exponents)));
  return random() % 2 == 0 ? size : -size;
}

TEST(ExactSum, OfNothingIsPositiveZero) {
  EXPECT_EQ(bits_of(ExactSum().value()), 0U);
  EXPECT_EQ(bits_of(sum_of({-0.0, -0.0}).value()), 0U);
  EXPECT_EQ(bits_of(sum_of({-1e300, 1e300}).value()), 0U);
}

TEST(ExactSum, OfOneValueIsThatValue) {
  std::mt19937_64 random(1);
  for (const double value :
       {1.0, -1.0, kSmallest, -kSmallest, kLargest, -kLargest, 0x1p-1022, 0x1.fffffffffffffp-1023}) {
    EXPECT_EQ(sum_of({value}).value(), value);
  }
  for (int i = 0; i < 20000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(bits_of(sum_of({value}).value()), bits_of(value)) << value;
  }
}

TEST(ExactSum, CancellationLosesNothing) {
  EXPECT_EQ(sum_of({0x1p1000, 1.0, -0x1p1000}).value(), 1.0);
  EXPECT_EQ(sum_of({0x1p1000, -kSmallest, -0x1p1000}).value(), -kSmallest);
  EXPECT_EQ(sum_of({kLargest, kLargest, -1.0, -kLargest, -kLargest}).value(), -1.0);
  EXPECT_EQ(sum_of({1e16, 1.0, 1.0, -1e16}).value(), 2.0);
  std::vector<double> alternating(1001, 0.1);
  for (std::size_t i = 1; i < alternating.size(); i += 2) alternating[i] = -0.1;
  EXPECT_EQ(sum_of(alternating).value(), 0.1);
}

TEST(ExactSum, TiesGoToEven) {
  EXPECT_EQ(sum_of({1.0, 0x1p-53}).value(), 1.0);
  EXPECT_EQ(sum_of({1.0, 0x1p-52, 0x1p-53}).value(), 1.0 + 0x1p-51);
  EXPECT_EQ(sum_of({-1.0, -0x1p-52, -0x1p-53}).value(), -1.0 - 0x1p-51);
  EXPECT_EQ(sum_of({1.0, 0x1p-53, kSmallest}).value(), 1.0 + 0x1p-52);
  EXPECT_EQ(sum_of({1.0, 0x1p-52, 0x1p-53, -kSmallest}).value(), 1.0 + 0x1p-52);
  EXPECT_EQ(sum_of({0x1p53, 1.0}).value(), 0x1p53);
  EXPECT_EQ(sum_of({0x1p53 - 1, 0.5}).value(), 0x1p53);
}

TEST(ExactSum, SubnormalsCount) {
  EXPECT_EQ(sum_of({kSmallest, kSmallest, kSmallest}).value(), 3 * kSmallest);
  EXPECT_EQ(sum_of({0x1p-1022, -kSmallest}).value(), 0x1.ffffffffffffep-1023);
  EXPECT_EQ(sum_of({0x1.ffffffffffffep-1023, kSmallest}).value(), 0x1p-1022);
}

TEST(ExactSum, IsInfiniteOnlyBeyondTheLargestDouble) {
  EXPECT_EQ(sum_of({kLargest, kLargest}).value(), kInfinity);
  EXPECT_EQ(sum_of({-kLargest, -kLargest}).value(), -kInfinity);
  EXPECT_EQ(sum_of({kLargest, 0x1p970}).value(), kInfinity);
  EXPECT_EQ(sum_of({kLargest, 0x1p970, -kSmallest}).value(), kLargest);
  EXPECT_EQ(sum_of({kLargest, kLargest, -kLargest}).value(), kLargest);
}

TEST(ExactSum, MeansAreRoundedOnce) {
  EXPECT_EQ(sum_of({kLargest, kLargest, kLargest}).mean(3), kLargest);
  EXPECT_EQ(sum_of({-kLargest, -kLargest}).mean(2), -kLargest);
  EXPECT_EQ(sum_of({kSmallest}).mean(2), 0.0);
  EXPECT_EQ(sum_of({3 * kSmallest}).mean(2), 2 * kSmallest);
  EXPECT_EQ(sum_of({2 * kSmallest}).mean(3), kSmallest);
  EXPECT_EQ(sum_of({-kSmallest}).mean(3), 0.0);
  EXPECT_EQ(sum_of({1.0}).mean(std::numeric_limits<std::uint64_t>::max()), 0x1p-64);
  // Rounding the sum first, to 2^53, and then the quotient gives another number.
  const ExactSum sum = sum_of({0x1p53, 1.0});
  EXPECT_EQ(sum.mean(3), 0x1.5555555555556p51);
  EXPECT_NE(sum.value() / 3.0, sum.mean(3));
}

TEST(ExactSum, IsTheNearestToTheTrueSum) {
  struct Range {
    int least_exponent, exponents;
  };
  std::mt19937_64 random(2);
  for (const Range range : {Range{-1073, 2097}, Range{-1073, 60}, Range{-30, 60}, Range{0, 1}, Range{1020, 5}}) {
    for (int repeat = 0; repeat < 40; ++repeat) {
      ExactSum sum;
      BigInt units;
      for (int i = 0; i < 40; ++i) {
        const double value = random_double(random, range.least_exponent, range.exponents);
        sum.add(value);
        units = units + in_units(value);
        // Most of what is large goes again, so that all places get to be rounded.
        if (i % 8 != 0) {
          sum.add(-value);
          units = units - in_units(value);
        }
        const std::uint64_t count = 1 + (random() >> (random() % 64));
        EXPECT_TRUE(is_nearest(units, 1, sum.value()));
        EXPECT_TRUE(is_nearest(units, count, sum.mean(count))) << count;
      }
    }
  }
}

TEST(ExactSum, OrderAndGroupsDoNotMatter) {
  std::mt19937_64 random(3);
  std::vector<double> values;
  for (int i = 0; i < 3000; ++i) {
    values.push_back(random_double(random, 0, 90));
    values.push_back(-values.back());
  }
  values.push_back(0.1);
  values.push_back(random_double(random, -40, 30));
  const double expected = values[values.size() - 2] + values.back();
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::shuffle(values.begin(), values.end(), random);
    std::vector<ExactSum> groups(1 + random() % 20);
    for (const double value : values) groups[random() % groups.size()].add(value);
    while (groups.size() > 1) {
      const ExactSum last = groups.back();
      groups.pop_back();
      groups[random() % groups.size()].add(last);
    }
    EXPECT_EQ(bits_of(groups[0].value()), bits_of(expected));
  }
}

TEST(ExactSum, HoldsMoreAdditionsThanALimb) {
  constexpr int kDoublings = 60;
  for (const double value : {kLargest, -kLargest, 0x1.fffffffffffffp0, kSmallest, -kSmallest}) {
    ExactSum many = sum_of({value});
    ExactSum opposite = sum_of({-value});
    for (int i = 0; i < kDoublings; ++i) {
      many.add(many);
      opposite.add(opposite);
    }
    EXPECT_EQ(many.value(), std::ldexp(value, kDoublings));
    EXPECT_EQ(many.mean(std::uint64_t{1} << kDoublings), value);
    many.add(0.25);
    many.add(opposite);
    EXPECT_EQ(many.value(), 0.25);
  }
}

}  // namespace
}  // namespace sluice::app
