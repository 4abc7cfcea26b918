// SPDX-License-Identifier: Apache-2.0
#include "numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "json_text.hpp"
#include "usage_error.hpp"

namespace sluice::app {
namespace {

TEST(Numbers, ListsHaveTheWantedLength) {
  EXPECT_EQ(parse_bounds(" 1, -2.5 ,3e2", "--x", {3}, "a,b,c"), (std::vector<double>{1.0, -2.5, 300.0}));
  EXPECT_THROW((void)parse_bounds("1,2", "--x", {3, 5}, "a,b,c"), UsageError);
  EXPECT_THROW((void)parse_bounds("1,2,3,", "--x", {3}, "a,b,c"), UsageError);
  EXPECT_THROW((void)parse_bounds("1,,3", "--x", {3}, "a,b,c"), UsageError);
}

TEST(Numbers, JunkIsRefused) {
  for (const char* text : {"", "nan", "-nan", "1x", "0x5", "1 2", "+-3", "1e999", "--2", "1,5"}) {
    EXPECT_THROW((void)parse_bound(text, "--x"), UsageError) << text;
  }
  EXPECT_EQ(parse_bound("-inf", "--x"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_bound("+3", "--x"), 3.0);
  EXPECT_THROW((void)parse_real("inf", "--x"), UsageError);
}

TEST(Numbers, WholeNumbersHaveARange) {
  EXPECT_EQ(parse_whole("010", "--x", 0, 100), 10U);
  EXPECT_EQ(parse_whole("18446744073709551615", "--x", 0, std::numeric_limits<std::uint64_t>::max()),
            std::numeric_limits<std::uint64_t>::max());
  for (const char* text : {"-1", "1.0", "101", "", "1e2", "18446744073709551616"}) {
    EXPECT_THROW((void)parse_whole(text, "--x", 0, 100), UsageError) << text;
  }
}

TEST(Numbers, SizesHaveUnits) {
  EXPECT_EQ(parse_size("1000", "--memory"), 1000U);
  EXPECT_EQ(parse_size("2K", "--memory"), 2048U);
  EXPECT_EQ(parse_size("3MiB", "--memory"), 3U << 20);
  EXPECT_EQ(parse_size("4 gb", "--memory"), 4000000000U);
  EXPECT_EQ(parse_size("1t", "--memory"), std::uint64_t{1} << 40);
  for (const char* text : {"", "0", "-1", "1X", "1.5G", "G", "20000000T", "1KiBs"}) {
    EXPECT_THROW((void)parse_size(text, "--memory"), UsageError) << text;
  }
}

TEST(Numbers, DecimalsPrintAllTheirDigits) {
  EXPECT_EQ(text_of(Decimal{-1234, -2}), "-12.34");
  EXPECT_EQ(text_of(Decimal{1234, -4}), "0.1234");
  EXPECT_EQ(text_of(Decimal{-1234, -6}), "-0.001234");
  EXPECT_EQ(text_of(Decimal{5, 3}), "5000");
  EXPECT_EQ(text_of(Decimal{5, 300}), "5e300");
  EXPECT_EQ(text_of(Decimal{}), "0");
}

TEST(Numbers, JsonKeepsDigitsAndOrder) {
  Json document;
  document["z"] = 0.1;
  document["a"] = exact_number(Decimal::parse("12345678901234567890.123"));
  document["nan"] = std::nan("");
  document["list"] = {1, 2.5, "x"};
  document["empty"] = Json::array();
  document["text"] = "\xff\"";
  const std::string text = json_text(document);
  EXPECT_EQ(text,
            "{\n  \"z\": 0.1,\n  \"a\": 12345678901234567890.123,\n  \"nan\": null,\n  \"list\": [1, 2.5, \"x\"],\n"
            "  \"empty\": [],\n  \"text\": \"\xef\xbf\xbd\\\"\"\n}\n");
  EXPECT_TRUE(nlohmann::json::accept(text));
}

TEST(InQuotes, AreShortAndOnOneLine) {
  EXPECT_EQ(in_quotes("a b"), "'a b'");
  EXPECT_EQ(in_quotes(""), "''");
  EXPECT_EQ(in_quotes("a\nb\x1b[0m"), "'a b [0m'");
  EXPECT_EQ(in_quotes(std::string(60, 'x')), "'" + std::string(60, 'x') + "'");
  EXPECT_EQ(in_quotes(std::string(61, 'x')), "'" + std::string(60, 'x') + "...'");
  EXPECT_EQ(in_quotes(std::string(59, 'x') + "\xc3\xbc"), "'" + std::string(59, 'x') + "...'");
}

}  // namespace
}  // namespace sluice::app
