// SPDX-License-Identifier: Apache-2.0
#include "sluice/core/decimal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "support/big_int.hpp"

namespace sluice {
namespace {

using test::BigInt;

TEST(Decimal, IsTheNumberThatADoublePrintsAs) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    double value;
    const std::uint64_t bits = random();
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    const Decimal decimal = Decimal::of(value);
    const test::Fraction expected = test::shortest_decimal(value);
    const int unit = std::min(decimal.exponent, expected.exponent);
    ASSERT_TRUE(BigInt(decimal.digits) * BigInt::power(10, decimal.exponent - unit) == expected.at(unit)) << value;
    ASSERT_EQ(decimal.to_double(), value);
  }
}

TEST(Decimal, RefusesWhatIsNotANumber) {
  EXPECT_THROW(Decimal::of(std::nan("")), InvalidArgument);
  EXPECT_THROW(Decimal::of(HUGE_VAL), InvalidArgument);
}

TEST(Decimal, AddsAndMultipliesExactly) {
  const Decimal sum = Decimal::of(0.1) + Decimal::of(0.2);
  EXPECT_EQ(sum.to_double(), 0.3);  // doubles say 0.30000000000000004
  const Decimal product = Decimal::of(1.1) * Decimal::of(1.1);
  EXPECT_TRUE(product.digits == 121);
  EXPECT_EQ(product.exponent, -2);
  const Decimal none = Decimal::of(2.5) + Decimal::of(-2.5);
  EXPECT_TRUE(none.digits == 0);
}

TEST(Decimal, RefusesMoreThan128Bits) {
  EXPECT_THROW(static_cast<void>(Decimal::of(1e30) + Decimal::of(1e-30)), Unsupported);
  const Decimal big = Decimal::of(1.2345678901234567);
  EXPECT_THROW(static_cast<void>(big * big * big), Unsupported);
  EXPECT_THROW(static_cast<void>(Decimal::of(0.001).digits_at(-2)), Unsupported);
}

TEST(Decimal, FloorDivAndGcd) {
  EXPECT_TRUE(detail::floor_div(-7, 2) == -4);
  EXPECT_TRUE(detail::floor_div(7, 2) == 3);
  EXPECT_TRUE(detail::floor_div(-8, 2) == -4);
  EXPECT_TRUE(detail::gcd(-12, 18) == 6);
  EXPECT_TRUE(detail::gcd(0, 5) == 5);
}

}  // namespace
}  // namespace sluice
