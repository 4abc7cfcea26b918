// SPDX-License-Identifier: Apache-2.0
#include "exact_sum.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::app {

void ExactSum::add(const ExactSum& other) {
  for (std::size_t i = 0; i < kLimbs; ++i) limbs_[i] += other.limbs_[i];
  waiting_ += other.waiting_ + 1;
  if (waiting_ >= kMostWaiting) carry();
}

void ExactSum::carry() {
  for (std::size_t i = 0; i + 1 < kLimbs; ++i) {
    limbs_[i + 1] += limbs_[i] >> kLimbBits;
    limbs_[i] = static_cast<std::uint32_t>(limbs_[i]);
  }
  waiting_ = 0;
}

double ExactSum::mean(std::uint64_t count) const {
  ExactSum size = *this;
  size.carry();
  const bool negative = size.limbs_.back() < 0;
  if (negative) {
    for (std::int64_t& limb : size.limbs_) limb = -limb;
    size.carry();
  }

  // Long division into one digit for each limb and one below them, which only serves to round. The zero on top lets
  // three digits be read from any place.
  std::array<std::uint32_t, kLimbs + 2> digits{};
  uint128 rest = 0;
  for (std::size_t i = kLimbs + 1; i-- > 0;) {
    rest = rest << kLimbBits | static_cast<uint128>(i == 0 ? 0 : size.limbs_[i - 1]);
    digits[i] = static_cast<std::uint32_t>(rest / count);
    rest %= count;
  }

  std::size_t width = kLimbBits * digits.size();
  while (width > 0 && (digits[(width - 1) / kLimbBits] >> ((width - 1) % kLimbBits) & 1U) == 0) --width;
  // The place of the result's last bit: at least that of the smallest double.
  const std::size_t last = std::max<std::size_t>(width, kLimbBits + kFractionBits + 1) - (kFractionBits + 1);
  const std::size_t word = last / kLimbBits;
  const uint128 from_word = static_cast<uint128>(digits[word + 2]) << (2 * kLimbBits) |
                            static_cast<uint128>(digits[word + 1]) << kLimbBits | digits[word];
  auto kept = static_cast<std::uint64_t>(from_word >> (last % kLimbBits));

  const std::size_t half = last - 1;
  const std::uint32_t half_bit = std::uint32_t{1} << (half % kLimbBits);
  const std::uint32_t half_word = digits[half / kLimbBits];
  if ((half_word & half_bit) != 0) {
    const bool more =
        rest != 0 || (half_word & (half_bit - 1)) != 0 ||
        std::any_of(digits.begin(), digits.begin() + half / kLimbBits, [](std::uint32_t digit) { return digit != 0; });
    if (more || (kept & 1U) != 0) ++kept;
  }
  constexpr int kUnitExponent = -1074 - static_cast<int>(kLimbBits);
  const double rounded = std::ldexp(static_cast<double>(kept), static_cast<int>(last) + kUnitExponent);
  return negative ? -rounded : rounded;
}

}  // namespace sluice::app
