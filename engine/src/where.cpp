// SPDX-License-Identifier: Apache-2.0
#include "sluice/where.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "sluice/core/error.hpp"

namespace sluice {

namespace {

/// Recursive descent over
///   either     := both ('||' both)*
///   both       := condition ('&&' condition)*
///   condition  := '!' condition | '(' either ')' | term (operator term | 'in' '(' number (',' number)* ')')
class WhereParser {
 public:
  explicit WhereParser(std::string_view text) : text_(text) {}

  Expression parse() {
    Expression out = either();
    skip_space();
    if (at_ < text_.size()) fail("'&&', '||' or the end");
    return out;
  }

 private:
  // Deeper nesting is refused before it can exhaust the stack; the evaluator allows less anyway.
  static constexpr int kMaxDepth = 200;

  [[noreturn]] void fail(const std::string& expected) const {
    throw InvalidArgument("condition '" + excerpt() + "', column " + std::to_string(at_ + 1) + ": expected " +
                          expected);
  }

  /// The text on one line; of a long one what surrounds the place, which is marked.
  [[nodiscard]] std::string excerpt() const {
    constexpr std::size_t kWhole = 80;
    constexpr std::size_t kAround = 30;
    std::string out(text_);
    if (text_.size() > kWhole) {
      std::size_t begin = at_ > kAround ? at_ - kAround : 0;
      std::size_t end = std::min(at_ + kAround, text_.size());
      // Never within a character of UTF-8.
      const auto within = [&](std::size_t i) {
        return i > 0 && i < text_.size() && (static_cast<unsigned char>(text_[i]) & 0xc0U) == 0x80U;
      };
      while (within(begin)) --begin;
      while (within(end)) ++end;
      out = begin > 0 ? "..." : "";
      out += text_.substr(begin, at_ - begin);
      out += "[here]";
      out += text_.substr(at_, end - at_);
      if (end < text_.size()) out += "...";
    }
    for (char& c : out) {
      if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    return out;
  }

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  bool take(std::string_view token) {
    skip_space();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  static bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool continues_name(char c) {
    return starts_name(c) || is_digit(c) || c == '.' || c == '[' || c == ']' || c == ':';
  }

  Expression either() { return chain("||", Expression::Kind::kOr, &WhereParser::both); }
  Expression both() { return chain("&&", Expression::Kind::kAnd, &WhereParser::condition); }

  Expression chain(std::string_view joint, Expression::Kind kind, Expression (WhereParser::*part)()) {
    Expression first = (this->*part)();
    if (!take(joint)) return first;
    Expression out;
    out.kind = kind;
    out.children.push_back(std::move(first));
    do {
      out.children.push_back((this->*part)());
    } while (take(joint));
    return out;
  }

  Expression condition() {
    if (++depth_ > kMaxDepth) fail("less nesting");
    Expression out;
    skip_space();
    if (at_ < text_.size() && text_[at_] == '!' && text_.substr(at_, 2) != "!=") {
      ++at_;
      out.kind = Expression::Kind::kNot;
      out.children.push_back(condition());
    } else if (take("(")) {
      out = either();
      if (!take(")")) fail("')'");
    } else {
      out = comparison();
    }
    --depth_;
    return out;
  }

  Expression comparison() {
    Expression out;
    out.left = term();
    const std::size_t after_left = at_;
    if (take_word("in")) {
      if (!out.left.is_field) {
        at_ = after_left;
        skip_space();
        fail("a field before 'in'");
      }
      out.kind = Expression::Kind::kInSet;
      if (!take("(")) fail("'('");
      do {
        out.set.push_back(number("a number"));
      } while (take(","));
      if (!take(")")) fail("',' or ')'");
      return out;
    }
    out.kind = Expression::Kind::kCompare;
    // Longer operators first, so that '<=' is not read as '<'.
    static constexpr std::pair<std::string_view, Comparison> kOperators[] = {
        {"==", Comparison::kEqual},        {"!=", Comparison::kNotEqual}, {"<=", Comparison::kLessEqual},
        {">=", Comparison::kGreaterEqual}, {"<", Comparison::kLess},      {">", Comparison::kGreater}};
    for (const auto& [token, comparison] : kOperators) {
      if (take(token)) {
        out.comparison = comparison;
        out.right = term();
        return out;
      }
    }
    fail("one of == != < <= > >= in");
  }

  bool take_word(std::string_view word) {
    skip_space();
    if (text_.substr(at_, word.size()) != word) return false;
    const std::size_t after = at_ + word.size();
    if (after < text_.size() && continues_name(text_[after])) return false;
    at_ = after;
    return true;
  }

  Term term() {
    skip_space();
    Term out;
    if (at_ < text_.size() && text_[at_] == '"') {
      const std::size_t end = text_.find('"', at_ + 1);
      if (end == std::string_view::npos) fail("a closing '\"'");
      if (end == at_ + 1) fail("a name between the quotes");
      out.is_field = true;
      out.field = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
    } else if (at_ < text_.size() && starts_name(text_[at_])) {
      const std::size_t begin = at_;
      while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
      out.is_field = true;
      out.field = text_.substr(begin, at_ - begin);
    } else {
      out.number = number("a field or a number");
    }
    return out;
  }

  Value number(const char* expected) {
    skip_space();
    std::size_t begin = at_;
    const bool plus = begin < text_.size() && text_[begin] == '+';
    if (plus) ++begin;
    const char* const from = text_.data() + begin;
    const char* const last = text_.data() + text_.size();
    if (from == last || !(is_digit(*from) || *from == '.' || (*from == '-' && !plus))) fail(expected);
    double real = 0.0;
    const auto as_real = std::from_chars(from, last, real);
    if (as_real.ec == std::errc::invalid_argument) fail(expected);
    if (as_real.ec != std::errc() || !std::isfinite(real)) fail("a number within the range of doubles");
    if (as_real.ptr != last && continues_name(*as_real.ptr)) fail("a number");
    at_ = static_cast<std::size_t>(as_real.ptr - text_.data());
    std::int64_t whole = 0;
    const auto as_signed = std::from_chars(from, last, whole);
    if (as_signed.ec == std::errc() && as_signed.ptr == as_real.ptr) return Value::of_signed(whole);
    std::uint64_t large = 0;
    const auto as_unsigned = std::from_chars(from, last, large);
    if (as_unsigned.ec == std::errc() && as_unsigned.ptr == as_real.ptr) return Value::of_unsigned(large);
    return Value::of_real(real);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Expression parse_where(std::string_view text) { return WhereParser(text).parse(); }

}  // namespace sluice
