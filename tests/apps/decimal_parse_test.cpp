// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "numbers.hpp"
#include "sluice/core/decimal.hpp"
#include "sluice/core/error.hpp"

namespace sluice {
namespace {

std::string round_trip(const char* text) { return app::text_of(Decimal::parse(text)); }

TEST(DecimalParse, KeepsEveryDigit) {
  EXPECT_EQ(round_trip("0.1"), "0.1");
  EXPECT_EQ(round_trip("-339003.737"), "-339003.737");
  EXPECT_EQ(round_trip("123456789012345678901234567890.5"), "123456789012345678901234567890.5");
  EXPECT_EQ(round_trip("+7"), "7");
  EXPECT_EQ(round_trip(".5"), "0.5");
  EXPECT_EQ(round_trip("5."), "5");
  EXPECT_EQ(round_trip("1e3"), "1000");
  EXPECT_EQ(round_trip("25E-1"), "2.5");
  EXPECT_EQ(round_trip("12e+2"), "1200");
  EXPECT_EQ(round_trip("0.00001"), "0.00001");
}

TEST(DecimalParse, TrailingAndLeadingZerosCostNothing) {
  EXPECT_EQ(round_trip("1.0000000000000000000000000000000000000000000000000000000000"), "1");
  EXPECT_EQ(round_trip("00000000000000000000000000000000000000000000000000000000001.5"), "1.5");
  EXPECT_EQ(round_trip("100"), "100");
  EXPECT_EQ(Decimal::parse("100").exponent, 2);
  EXPECT_EQ(round_trip("1001"), "1001");
  EXPECT_EQ(round_trip("10.010"), "10.01");
}

TEST(DecimalParse, ZeroIsZero) {
  for (const char* text : {"0", "-0", "0.000", "0e99", "-0.0e-99"}) {
    EXPECT_TRUE(Decimal::parse(text).digits == 0) << text;
    EXPECT_EQ(round_trip(text), "0");
  }
}

TEST(DecimalParse, AgreesWithTheShortestFormOfDoubles) {
  for (const double value : {0.1, 1.0 / 3.0, 1e22, 5e-324, 1.7976931348623157e308, -635000.25}) {
    const Decimal expected = Decimal::of(value);
    const Decimal parsed = Decimal::parse(app::text_of(expected));
    EXPECT_TRUE(parsed.digits == expected.digits && parsed.exponent == expected.exponent) << value;
  }
}

TEST(DecimalParse, RefusesJunk) {
  for (const char* text :
       {"", " 1", "1 ", "1,5", "1.2.3", "abc", "--1", "e5", "1e", "1e+", ".", "-", "0x10", "nan", "inf"}) {
    EXPECT_THROW(Decimal::parse(text), InvalidArgument) << text;
  }
}

TEST(DecimalParse, RefusesMoreThan128Bits) {
  EXPECT_THROW(Decimal::parse("1234567890123456789012345678901234567891"), Unsupported);
}

}  // namespace
}  // namespace sluice
