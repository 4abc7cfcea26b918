// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the bits of a key are cut into digits, one for each pass of a radix sort.
#pragma once

#include <cstdint>

#include "kernels/simt/words.hpp"

namespace sluice::kernels::bodies {

inline constexpr unsigned kMostDigitBits = 9;
inline constexpr unsigned kMostDigits = 1U << kMostDigitBits;
inline constexpr unsigned kMostPasses = 8;

/// Bits of a key that a pass sorts by.
struct Digit {
  unsigned begin_bit;
  unsigned bits;

  template <typename KeyT>
  [[nodiscard]] SLUICE_SIMT std::uint32_t of(KeyT key) const {
    return static_cast<std::uint32_t>(key >> begin_bit) & ((1U << bits) - 1);
  }
};

/// Digits of even width, 17 bits are 9 + 8 and not 8 + 8 + 1: of up to 8 bits, or of up to 9 where that saves a pass.
struct DigitPlan {
  unsigned passes = 0;
  Digit digits[kMostPasses] = {};

  DigitPlan() = default;
  DigitPlan(unsigned begin_bit, unsigned end_bit, unsigned most_bits = kMostDigitBits) {
    passes = (end_bit - begin_bit + most_bits - 1) / most_bits;
    for (unsigned p = 0; p < passes; ++p) {
      const unsigned left = passes - p;
      const unsigned bits = (end_bit - begin_bit + left - 1) / left;
      digits[p] = Digit{begin_bit, bits};
      begin_bit += bits;
    }
  }
};

/// How often each digit of each pass occurs.
struct DigitCounts {
  std::uint64_t counts[kMostPasses][kMostDigits];
};

}  // namespace sluice::kernels::bodies
