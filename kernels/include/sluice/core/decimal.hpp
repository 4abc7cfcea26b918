// SPDX-License-Identifier: Apache-2.0
/// \file
/// Exact decimal numbers of up to 128 bits. A double stands for the decimal number that it prints as in the shortest
/// form that reads back: 0.1 is one tenth, not the binary number next to it. Cells on a lattice are decided with these.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sluice/core/error.hpp"
#include "sluice/core/hd.hpp"

namespace sluice {

namespace detail {

inline int128 checked_mul(int128 a, int128 b) {
  int128 out;
  if (__builtin_mul_overflow(a, b, &out)) throw Unsupported("decimal numbers need more than 128 bits");
  return out;
}

inline int128 checked_add(int128 a, int128 b) {
  int128 out;
  if (__builtin_add_overflow(a, b, &out)) throw Unsupported("decimal numbers need more than 128 bits");
  return out;
}

inline int128 power_of_ten(int exponent) {
  int128 out = 1;
  for (int i = 0; i < exponent; ++i) out = checked_mul(out, 10);
  return out;
}

/// Quotient rounded towards minus infinity; `b` is positive.
inline int128 floor_div(int128 a, int128 b) {
  const int128 q = a / b;
  return a % b < 0 ? q - 1 : q;
}

inline int128 gcd(int128 a, int128 b) {
  if (a < 0) a = -a;
  if (b < 0) b = -b;
  while (b != 0) {
    const int128 r = a % b;
    a = b;
    b = r;
  }
  return a;
}

}  // namespace detail

/// digits * 10^exponent. Operations throw Unsupported where the digits would need more than 128 bits.
struct Decimal {
  int128 digits = 0;
  int exponent = 0;

  /// The number that `value` prints as, shortest form. \pre value is finite
  static Decimal of(double value) {
    if (!std::isfinite(value)) throw InvalidArgument("a number must be finite to be taken as a decimal");
    char text[64];
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
    Decimal out;
    bool negative = false;
    bool after_point = false;
    for (const char* p = text; p != end; ++p) {
      if (*p == '-') {
        negative = true;
      } else if (*p == '.') {
        after_point = true;
      } else if (*p == 'e') {
        out.exponent += std::atoi(std::string(p + 1, static_cast<const char*>(end)).c_str());
        break;
      } else {
        out.digits = out.digits * 10 + (*p - '0');
        if (after_point) --out.exponent;
      }
    }
    if (negative) out.digits = -out.digits;
    return out.normalized();
  }

  /// The exact number that `text` says: `[+-]digits[.digits][e[+-]digits]`, '.' whatever the locale, no spaces.
  /// \throws InvalidArgument for any other text; Unsupported for a number whose digits need more than 128 bits
  static Decimal parse(std::string_view text) {
    const auto refuse = [&] { return InvalidArgument("'" + std::string(text) + "' is not a decimal number"); };
    std::size_t at = 0;
    const auto sign = [&] {
      const bool negative = at < text.size() && text[at] == '-';
      if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
      return negative;
    };
    const auto is_digit = [&] { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
    const bool negative = sign();
    Decimal out;
    int zeros = 0;  // read but not yet in `digits`: trailing ones would only cost bits
    bool any = false;
    bool after_point = false;
    for (; is_digit() || (at < text.size() && text[at] == '.' && !after_point); ++at) {
      if (text[at] == '.') {
        after_point = true;
        continue;
      }
      any = true;
      if (after_point) --out.exponent;
      if (text[at] == '0') {
        ++zeros;
        continue;
      }
      for (; zeros > 0; --zeros) out.digits = detail::checked_mul(out.digits, 10);
      out.digits = detail::checked_add(detail::checked_mul(out.digits, 10), text[at] - '0');
    }
    if (!any) throw refuse();
    out.exponent += zeros;
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
      ++at;
      const bool down = sign();
      if (!is_digit()) throw refuse();
      int power = 0;
      for (; is_digit(); ++at) {
        if (power < 1000000) power = power * 10 + (text[at] - '0');
      }
      out.exponent += down ? -power : power;
    }
    if (at != text.size()) throw refuse();
    if (negative) out.digits = -out.digits;
    return out.normalized();
  }

  /// Same number without trailing zeros in `digits`.
  [[nodiscard]] Decimal normalized() const {
    Decimal out = *this;
    if (out.digits == 0) return Decimal{};
    while (out.digits % 10 == 0) {
      out.digits /= 10;
      ++out.exponent;
    }
    return out;
  }

  /// The digits at a smaller or equal exponent.
  [[nodiscard]] int128 digits_at(int at_exponent) const {
    if (digits == 0) return 0;
    if (exponent < at_exponent) throw Unsupported("a decimal number is finer than its unit");
    if (exponent - at_exponent > 38) throw Unsupported("decimal numbers need more than 128 bits");
    return detail::checked_mul(digits, detail::power_of_ten(exponent - at_exponent));
  }

  /// Decimal digits, correctly rounded to the nearest double; infinite beyond the largest.
  [[nodiscard]] double to_double() const {
    const std::string text = digits_text();
    const std::string whole = text + "e" + std::to_string(exponent);
    double out = 0.0;
    // A number out of range is left alone: it is zero or infinite, and the place of its first digit says which.
    if (std::from_chars(whole.data(), whole.data() + whole.size(), out).ec == std::errc::result_out_of_range) {
      const bool huge = static_cast<int>(text.size()) + exponent > 0;
      out = !huge ? 0.0 : digits < 0 ? -HUGE_VAL : HUGE_VAL;
    }
    return out;
  }

  [[nodiscard]] std::string digits_text() const {
    if (digits == 0) return "0";
    std::string reversed;
    for (int128 rest = digits < 0 ? -digits : digits; rest != 0; rest /= 10) {
      reversed += static_cast<char>('0' + static_cast<int>(rest % 10));
    }
    if (digits < 0) reversed += '-';
    return {reversed.rbegin(), reversed.rend()};
  }

  friend Decimal operator*(const Decimal& a, const Decimal& b) {
    return Decimal{detail::checked_mul(a.digits, b.digits), a.exponent + b.exponent}.normalized();
  }
  friend Decimal operator+(const Decimal& a, const Decimal& b) {
    if (a.digits == 0) return b;
    if (b.digits == 0) return a;
    const int unit = a.exponent < b.exponent ? a.exponent : b.exponent;
    return Decimal{detail::checked_add(a.digits_at(unit), b.digits_at(unit)), unit}.normalized();
  }
};

}  // namespace sluice
