// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sums of doubles without rounding.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "sluice/core/hd.hpp"

namespace sluice::app {

/// The exact sum of up to 2^64 finite doubles: neither their order nor how they are grouped into partial sums makes a
/// difference. Rounding happens once, in `value` or `mean`.
///
/// A fixed-point number that spans all doubles, kept in limbs that overlap so that carries can wait: the small
/// superaccumulator of R. M. Neal, "Fast exact summation using small and large superaccumulators" (2015), after
/// U. Kulisch's long accumulator. An addition touches three limbs; an object takes about half a KiB.
class ExactSum {
 public:
  /// \pre value is finite
  void add(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const unsigned exponent = static_cast<unsigned>(bits >> kFractionBits) & 0x7ff;
    const std::uint64_t fraction = bits & (kHiddenBit - 1);
    const bool normal = exponent != 0;
    const std::uint64_t digits = normal ? fraction | kHiddenBit : fraction;
    const unsigned place = normal ? exponent - 1 : 0;
    const uint128 shifted = static_cast<uint128>(digits) << (place % kLimbBits);
    const std::int64_t sign = (bits >> 63) != 0 ? -1 : 1;
    std::int64_t* limb = &limbs_[place / kLimbBits];
    limb[0] += sign * static_cast<std::int64_t>(static_cast<std::uint32_t>(shifted));
    limb[1] += sign * static_cast<std::int64_t>(static_cast<std::uint32_t>(shifted >> kLimbBits));
    limb[2] += sign * static_cast<std::int64_t>(static_cast<std::uint32_t>(shifted >> (2 * kLimbBits)));
    if (++waiting_ >= kMostWaiting) carry();
  }

  /// Adds all that was added to another sum, which may be this one.
  void add(const ExactSum& other);

  /// The sum, rounded to the nearest double, ties to even; infinite beyond the largest. Zero is positive.
  [[nodiscard]] double value() const { return mean(1); }

  /// The exact sum divided by `count`, rounded only then, in the same way.
  /// \pre count > 0
  [[nodiscard]] double mean(std::uint64_t count) const;

 private:
  static constexpr unsigned kFractionBits = 52;
  static constexpr std::uint64_t kHiddenBit = std::uint64_t{1} << kFractionBits;
  static constexpr unsigned kLimbBits = 32;
  // 2^64 numbers below 2^1024, in units of the smallest double, 2^-1074: 2162 bits.
  static constexpr std::size_t kLimbs = 68;
  // A limb stays below 2^32 * (waiting_ + 1) in size. Two such sums, just before they carry, still add up in 63 bits.
  static constexpr std::uint64_t kMostWaiting = std::uint64_t{1} << 29;

  /// Brings all limbs but the highest, which has the sign, into 0 to 2^32 - 1.
  void carry();

  std::array<std::int64_t, kLimbs> limbs_{};  ///< limb i counts 2^(32 * i - 1074)
  std::uint64_t waiting_ = 0;                 ///< additions since the last carry
};

}  // namespace sluice::app
