// SPDX-License-Identifier: Apache-2.0
#include "support/big_int.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sluice::test {
namespace {

// The oracle of other tests is held against the compiler's 128-bit integers, where they reach.
TEST(BigInt, AgreesWithTheCompiler) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto a = static_cast<int128>(static_cast<std::int64_t>(random())) >> (random() % 64);
    const auto b = static_cast<int128>(static_cast<std::int64_t>(random())) >> (random() % 64);
    EXPECT_TRUE((BigInt(a) + BigInt(b)).value() == a + b);
    EXPECT_TRUE((BigInt(a) - BigInt(b)).value() == a - b);
    EXPECT_TRUE((BigInt(a) * BigInt(b)).value() == a * b);
    EXPECT_EQ(BigInt(a) < BigInt(b), a < b);
    if (b > 0) {
      int128 quotient = a / b;
      if (a % b < 0) --quotient;
      EXPECT_TRUE(floor_div(BigInt(a), BigInt(b)).value() == quotient);
    }
  }
  EXPECT_TRUE(BigInt::parse("-1000000000000000000000") == -BigInt::power(10, 21));
}

TEST(BigInt, FindsTheShortestDecimal) {
  const Fraction tenth = shortest_decimal(0.1);
  EXPECT_TRUE(tenth.at(-3).value() == 100);
  const Fraction odd = shortest_decimal(7.13160261843867e-08);
  EXPECT_TRUE(odd.at(-22) == BigInt::parse("713160261843867"));
}

}  // namespace
}  // namespace sluice::test
