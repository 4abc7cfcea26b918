// SPDX-License-Identifier: Apache-2.0
#include "sluice/where.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <cstdio>
#include <locale>
#include <string>

#include "sluice/core/error.hpp"

namespace sluice {
namespace {

using Kind = Expression::Kind;
using testing::HasSubstr;

std::string text_of(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kSigned:
      return "i" + std::to_string(value.i);
    case Value::Kind::kUnsigned:
      return "u" + std::to_string(value.u);
    default: {
      char text[64];
      std::snprintf(text, sizeof text, "r%a", value.r);
      return text;
    }
  }
}

std::string text_of(const Term& term) { return term.is_field ? "<" + term.field + ">" : text_of(term.number); }

/// A tree in prefix form, with the kind of every number.
std::string text_of(const Expression& e) {
  static constexpr const char* kOperators[] = {"==", "!=", "<", "<=", ">", ">="};
  std::string out;
  switch (e.kind) {
    case Kind::kCompare:
      return "(" + std::string(kOperators[static_cast<int>(e.comparison)]) + " " + text_of(e.left) + " " +
             text_of(e.right) + ")";
    case Kind::kInSet:
      out = "(in " + text_of(e.left);
      for (const Value& value : e.set) out += " " + text_of(value);
      return out + ")";
    case Kind::kNot:
      out = "(!";
      break;
    case Kind::kAnd:
      out = "(&&";
      break;
    case Kind::kOr:
      out = "(||";
      break;
  }
  for (const Expression& child : e.children) out += " " + text_of(child);
  return out + ")";
}

std::string parsed(const std::string& text) { return text_of(parse_where(text)); }

/// The message of the refusal; empty where the text is taken.
std::string refusal(const std::string& text) {
  try {
    (void)parse_where(text);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return {};
}

TEST(Where, ReadsEveryComparison) {
  EXPECT_EQ(parsed("a == 1"), "(== <a> i1)");
  EXPECT_EQ(parsed("a != 1"), "(!= <a> i1)");
  EXPECT_EQ(parsed("a < 1"), "(< <a> i1)");
  EXPECT_EQ(parsed("a <= 1"), "(<= <a> i1)");
  EXPECT_EQ(parsed("a > 1"), "(> <a> i1)");
  EXPECT_EQ(parsed("a >= 1"), "(>= <a> i1)");
  EXPECT_EQ(parsed("a in (1)"), "(in <a> i1)");
  EXPECT_EQ(parsed("a in (2, -6,0.5)"), "(in <a> i2 i-6 r0x1p-1)");
}

TEST(Where, TakesFieldsAndNumbersOnEitherSide) {
  EXPECT_EQ(parsed("100 < intensity"), "(< i100 <intensity>)");
  EXPECT_EQ(parsed("return_number == number_of_returns"), "(== <return_number> <number_of_returns>)");
  EXPECT_EQ(parsed("1 == 2"), "(== i1 i2)");
}

TEST(Where, BindsNotTighterThanAndTighterThanOr) {
  EXPECT_EQ(parsed("a==1 || b==2 && c==3"), "(|| (== <a> i1) (&& (== <b> i2) (== <c> i3)))");
  EXPECT_EQ(parsed("a==1 && b==2 || c==3"), "(|| (&& (== <a> i1) (== <b> i2)) (== <c> i3))");
  EXPECT_EQ(parsed("(a==1 || b==2) && c==3"), "(&& (|| (== <a> i1) (== <b> i2)) (== <c> i3))");
  EXPECT_EQ(parsed("!a==1 && b==2"), "(&& (! (== <a> i1)) (== <b> i2))");
  EXPECT_EQ(parsed("!(a==1 && b==2)"), "(! (&& (== <a> i1) (== <b> i2)))");
  EXPECT_EQ(parsed("!!a==1"), "(! (! (== <a> i1)))");
  EXPECT_EQ(parsed("a==1 && b==2 && c==3"), "(&& (== <a> i1) (== <b> i2) (== <c> i3))");
  EXPECT_EQ(parsed("a==1 || b==2 || c==3"), "(|| (== <a> i1) (== <b> i2) (== <c> i3))");
}

TEST(Where, DoesNotNeedSpace) {
  EXPECT_EQ(parsed("classification in(2,6)&&intensity>100&&!(z<5)"),
            "(&& (in <classification> i2 i6) (> <intensity> i100) (! (< <z> i5)))");
  EXPECT_EQ(parsed("  \t\r\n a  ==  \n 1 \t"), "(== <a> i1)");
  EXPECT_EQ(parsed("a<-1"), "(< <a> i-1)");
  EXPECT_EQ(parsed("a!=-1"), "(!= <a> i-1)");
}

TEST(Where, NamesMayLookLikeKeywordsOrBeQuoted) {
  EXPECT_EQ(parsed("in in (1)"), "(in <in> i1)");
  EXPECT_EQ(parsed("intensity in (1)"), "(in <intensity> i1)");
  EXPECT_EQ(parsed("inch == 1"), "(== <inch> i1)");
  EXPECT_EQ(parsed("\"height above ground\" > 2"), "(> <height above ground> i2)");
  EXPECT_EQ(parsed("\"5\" == 5"), "(== <5> i5)");
  EXPECT_EQ(parsed("\"a && b\" in (1)"), "(in <a && b> i1)");
  EXPECT_EQ(parsed("_a1[2].b:c == 1"), "(== <_a1[2].b:c> i1)");
  EXPECT_EQ(parsed("1 == \"a\""), "(== i1 <a>)");
}

TEST(Where, KeepsWholeNumbersExact) {
  EXPECT_EQ(parsed("a == 9223372036854775807"), "(== <a> i9223372036854775807)");
  EXPECT_EQ(parsed("a == -9223372036854775808"), "(== <a> i-9223372036854775808)");
  EXPECT_EQ(parsed("a == 9223372036854775808"), "(== <a> u9223372036854775808)");
  EXPECT_EQ(parsed("a == 18446744073709551615"), "(== <a> u18446744073709551615)");
  EXPECT_EQ(parsed("a == 18446744073709551616"), "(== <a> r0x1p+64)");
  EXPECT_EQ(parsed("a == -9223372036854775809"), "(== <a> r-0x1p+63)");
  EXPECT_EQ(parsed("a == 9007199254740993"), "(== <a> i9007199254740993)");
  EXPECT_EQ(parsed("a == +7"), "(== <a> i7)");
  EXPECT_EQ(parsed("a == 007"), "(== <a> i7)");
}

TEST(Where, ReadsRealNumbersAsTheNearestDouble) {
  EXPECT_EQ(parsed("a == 0.1"), "(== <a> r0x1.999999999999ap-4)");
  EXPECT_EQ(parsed("a == .5"), "(== <a> r0x1p-1)");
  EXPECT_EQ(parsed("a == 5."), "(== <a> r0x1.4p+2)");
  EXPECT_EQ(parsed("a == 1e3"), "(== <a> r0x1.f4p+9)");
  EXPECT_EQ(parsed("a == -2.5E-1"), "(== <a> r-0x1p-2)");
  EXPECT_EQ(parsed("a == 1e300"),
            text_of(Expression{
                Kind::kCompare, Comparison::kEqual, {true, "a", {}}, {false, "", Value::of_real(1e300)}, {}, {}}));
}

/// Writes and reads numbers with a decimal comma and dots between thousands.
class CommaNumbers : public std::numpunct<char> {
 protected:
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Where, ReadsThePointWhateverTheLocale) {
  const char* const before = std::setlocale(LC_ALL, nullptr);
  const std::string restore = before != nullptr ? before : "C";
  const std::locale streams = std::locale::global(std::locale(std::locale::classic(), new CommaNumbers));
  // Of the C library too, where one is installed.
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"}) {
    if (std::setlocale(LC_ALL, name) != nullptr) break;
  }
  const std::string point = parsed("a == 0.5");
  const std::string comma = refusal("a == 0,5");
  std::locale::global(streams);
  std::setlocale(LC_ALL, restore.c_str());
  EXPECT_EQ(point, "(== <a> r0x1p-1)");
  EXPECT_THAT(comma, HasSubstr("column 7"));
}

TEST(Where, ShowsOfALongTextWhatSurroundsTheFault) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "z > 1\n&& ";
  const std::size_t fault = text.size();
  text += "&& intensity < 5";
  for (int i = 0; i < 500; ++i) text += " && z > 1";
  const std::string message = refusal(text);
  EXPECT_LT(message.size(), 200U);
  EXPECT_THAT(message, HasSubstr("z > 1 && [here]&& intensity < 5"));
  EXPECT_THAT(message, HasSubstr("column " + std::to_string(fault + 1)));
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

struct Refused {
  const char* text;
  int column;
  const char* expected;
};

class WhereRefuses : public testing::TestWithParam<Refused> {};

TEST_P(WhereRefuses, NamingTheColumn) {
  const Refused& refused = GetParam();
  const std::string message = refusal(refused.text);
  EXPECT_THAT(message, HasSubstr("column " + std::to_string(refused.column) + ": expected " + refused.expected))
      << refused.text;
  EXPECT_THAT(message, HasSubstr("'" + std::string(refused.text) + "'"));
}

INSTANTIATE_TEST_SUITE_P(Texts, WhereRefuses,
                         testing::Values(Refused{"", 1, "a field or a number"},                 //
                                         Refused{"   ", 4, "a field or a number"},              //
                                         Refused{"a", 2, "one of == != < <= > >= in"},          //
                                         Refused{"a =", 3, "one of"},                           //
                                         Refused{"a = 1", 3, "one of"},                         //
                                         Refused{"a ==", 5, "a field or a number"},             //
                                         Refused{"a == 1 &&", 10, "a field or a number"},       //
                                         Refused{"a == 1 & b == 2", 8, "'&&', '||'"},           //
                                         Refused{"a == 1 b", 8, "'&&', '||'"},                  //
                                         Refused{"a == 1)", 7, "'&&', '||'"},                   //
                                         Refused{"(a == 1", 8, "')'"},                          //
                                         Refused{"a in 1", 6, "'('"},                           //
                                         Refused{"a in ()", 7, "a number"},                     //
                                         Refused{"a in (1 2)", 9, "',' or ')'"},                //
                                         Refused{"a in (1,)", 9, "a number"},                   //
                                         Refused{"a in (b)", 7, "a number"},                    //
                                         Refused{"1 in (1)", 3, "a field before 'in'"},         //
                                         Refused{"a == 1x", 6, "a number"},                     //
                                         Refused{"a == 1.2.3", 6, "a number"},                  //
                                         Refused{"a == 0x10", 6, "a number"},                   //
                                         Refused{"a == 1e999", 6, "a number within"},           //
                                         Refused{"a == -inf", 6, "a number"},                   //
                                         Refused{"a == -nan", 6, "a number"},                   //
                                         Refused{"a == +-5", 6, "a field or a number"},         //
                                         Refused{"a == --5", 6, "a field or a number"},         //
                                         Refused{"a == - 5", 6, "a field or a number"},         //
                                         Refused{"\"a == 1", 1, "a closing '\"'"},              //
                                         Refused{"\"\" == 1", 1, "a name between the quotes"},  //
                                         Refused{"a == 'x'", 6, "a field or a number"},         //
                                         Refused{"a == 1 && (b", 13, "one of"},                 //
                                         Refused{"! ", 3, "a field or a number"}));

TEST(Where, RefusesNestingThatWouldExhaustTheStack) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '(') + "a == 1" + std::string(depth, ')'); };
  EXPECT_EQ(refusal(nested(100)), "");
  EXPECT_THAT(refusal(nested(100000)), HasSubstr("less nesting"));
  EXPECT_THAT(refusal(std::string(100000, '!') + "a == 1"), HasSubstr("less nesting"));
}

TEST(Where, LongChainsAreNotNesting) {
  std::string text = "a == 0";
  for (int i = 1; i < 5000; ++i) text += " || a == " + std::to_string(i);
  EXPECT_EQ(parse_where(text).children.size(), 5000U);
}

}  // namespace
}  // namespace sluice
