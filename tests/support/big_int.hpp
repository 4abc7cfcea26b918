// SPDX-License-Identifier: Apache-2.0
/// \file
/// Integers of any size for oracles: plain schoolbook arithmetic that shares nothing with the library.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "sluice/core/hd.hpp"

namespace sluice::test {

class BigInt {
 public:
  BigInt() = default;
  BigInt(int128 value) : negative_(value < 0) {  // NOLINT: a number is a number
    uint128 rest = value < 0 ? -static_cast<uint128>(value) : static_cast<uint128>(value);
    for (; rest != 0; rest >>= 32) words_.push_back(static_cast<std::uint32_t>(rest));
  }

  /// digits with an optional '-' before them
  static BigInt parse(const std::string& digits) {
    BigInt out;
    const bool negative = !digits.empty() && digits[0] == '-';
    for (std::size_t i = negative ? 1 : 0; i < digits.size(); ++i) out = out * BigInt(10) + BigInt(digits[i] - '0');
    return negative ? -out : out;
  }

  static BigInt power(int base, int exponent) {
    if (exponent == 0) return {1};
    const BigInt root = power(base, exponent / 2);
    return exponent % 2 == 0 ? root * root : root * root * BigInt(base);
  }

  /// -1, 0 or 1
  [[nodiscard]] int sign() const { return words_.empty() ? 0 : negative_ ? -1 : 1; }

  friend BigInt operator-(BigInt a) {
    a.negative_ = !a.negative_;
    return a;
  }
  friend BigInt operator+(const BigInt& a, const BigInt& b) {
    if (a.negative_ == b.negative_) return make(a.negative_, add(a.words_, b.words_));
    if (order(a.words_, b.words_) >= 0) return make(a.negative_, subtract(a.words_, b.words_));
    return make(b.negative_, subtract(b.words_, a.words_));
  }
  friend BigInt operator-(const BigInt& a, const BigInt& b) { return a + -b; }
  friend BigInt operator*(const BigInt& a, const BigInt& b) {
    std::vector<std::uint32_t> out(a.words_.size() + b.words_.size());
    for (std::size_t i = 0; i < a.words_.size(); ++i) {
      std::uint64_t carry = 0;
      for (std::size_t j = 0; j < b.words_.size() || carry != 0; ++j) {
        carry += out[i + j];
        if (j < b.words_.size()) carry += std::uint64_t{a.words_[i]} * b.words_[j];
        out[i + j] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
      }
    }
    return make(a.negative_ != b.negative_, std::move(out));
  }
  friend bool operator==(const BigInt& a, const BigInt& b) { return (a - b).sign() == 0; }
  friend bool operator<(const BigInt& a, const BigInt& b) { return (a - b).sign() < 0; }

  /// Floor of the quotient, bit by bit. \pre b > 0
  friend BigInt floor_div(const BigInt& a, const BigInt& b) {
    BigInt quotient;
    BigInt rest;
    for (std::size_t i = 32 * a.words_.size(); i-- > 0;) {
      rest = rest + rest + BigInt((a.words_[i / 32] >> (i % 32)) & 1U);
      quotient = quotient + quotient;
      if (!(rest < b)) {
        rest = rest - b;
        quotient = quotient + BigInt(1);
      }
    }
    if (!a.negative_) return quotient;
    return rest.sign() == 0 ? -quotient : -quotient - BigInt(1);
  }

  /// \pre fits
  [[nodiscard]] int128 value() const {
    uint128 out = 0;
    for (std::size_t i = words_.size(); i-- > 0;) out = out << 32 | words_[i];
    return negative_ ? -static_cast<int128>(out) : static_cast<int128>(out);
  }
  [[nodiscard]] std::size_t bits() const {
    std::size_t out = 32 * words_.size();
    while (out > 0 && ((words_[(out - 1) / 32] >> ((out - 1) % 32)) & 1U) == 0) --out;
    return out;
  }

 private:
  static BigInt make(bool negative, std::vector<std::uint32_t> words) {
    while (!words.empty() && words.back() == 0) words.pop_back();
    BigInt out;
    out.negative_ = negative && !words.empty();
    out.words_ = std::move(words);
    return out;
  }
  static int order(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    for (std::size_t i = a.size(); i-- > 0;) {
      if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    }
    return 0;
  }
  static std::vector<std::uint32_t> add(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
    std::vector<std::uint32_t> out;
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < std::max(a.size(), b.size()) || carry != 0; ++i) {
      carry += (i < a.size() ? a[i] : 0U);
      carry += (i < b.size() ? b[i] : 0U);
      out.push_back(static_cast<std::uint32_t>(carry));
      carry >>= 32;
    }
    return out;
  }
  static std::vector<std::uint32_t> subtract(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
    std::vector<std::uint32_t> out;
    std::int64_t borrow = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::int64_t digit = std::int64_t{a[i]} - (i < b.size() ? std::int64_t{b[i]} : 0) + borrow;
      out.push_back(static_cast<std::uint32_t>(digit));
      borrow = digit < 0 ? -1 : 0;
    }
    return out;
  }

  bool negative_ = false;
  std::vector<std::uint32_t> words_;
};

/// A finite double times 2^1100, which is a whole number.
inline BigInt exact_scaled(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  const auto digits = static_cast<std::int64_t>(std::ldexp(fraction, 53));
  return BigInt(digits) * BigInt::power(2, 1100 + exponent - 53);
}

/// A number `digits * 10^exponent`, from its text.
struct Fraction {
  BigInt digits;
  int exponent = 0;
  [[nodiscard]] BigInt at(int other) const { return digits * BigInt::power(10, exponent - other); }
};

/// The shortest decimal number that reads back as `value`, found by trying.
inline Fraction shortest_decimal(double value) {
  char text[64];
  for (int precision = 0; precision < 18; ++precision) {
    std::snprintf(text, sizeof text, "%.*e", precision, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  const std::string all = text;
  const std::size_t e = all.find('e');
  std::string digits = all.substr(0, e);
  int exponent = std::atoi(all.c_str() + e + 1);
  const std::size_t point = digits.find('.');
  if (point != std::string::npos) {
    exponent -= static_cast<int>(digits.size() - point - 1);
    digits.erase(point, 1);
  }
  return {BigInt::parse(digits), exponent};
}

}  // namespace sluice::test
