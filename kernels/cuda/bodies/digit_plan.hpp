// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the bits of a key are cut into digits, one for each pass of a radix sort.
#pragma once

#include <cstdint>

#include "kernels/simt/words.hpp"

namespace sluice::kernels::bodies {

inline constexpr unsigned kMostDigitBits = 10;
inline constexpr unsigned kMostDigits = 1U << kMostDigitBits;
/// Of keys that travel by themselves: wider digits pay only where a pass carries whole points.
inline constexpr unsigned kMostKeyDigitBits = 9;
inline constexpr unsigned kMostKeyDigits = 1U << kMostKeyDigitBits;
inline constexpr unsigned kMostPasses = 8;

/// Bits of a key that a pass sorts by.
struct Digit {
  unsigned begin_bit = 0;
  unsigned bits = 0;
  std::uint32_t mask = 0;

  Digit() = default;
  Digit(unsigned begin, unsigned count) : begin_bit(begin), bits(count), mask((1U << count) - 1) {}

  template <typename KeyT>
  [[nodiscard]] SLUICE_SIMT std::uint32_t of(KeyT key) const {
    return static_cast<std::uint32_t>(key >> begin_bit) & mask;
  }
};

/// Digits of even width: 17 bits are 9 + 8 and not 8 + 8 + 1 where digits have at most 9.
struct DigitPlan {
  unsigned passes = 0;
  Digit digits[kMostPasses] = {};

  DigitPlan() = default;
  DigitPlan(unsigned begin_bit, unsigned end_bit, unsigned most_bits) {
    passes = (end_bit - begin_bit + most_bits - 1) / most_bits;
    for (unsigned p = 0; p < passes; ++p) {
      const unsigned left = passes - p;
      const unsigned bits = (end_bit - begin_bit + left - 1) / left;
      digits[p] = Digit(begin_bit, bits);
      begin_bit += bits;
    }
  }
};

/// How often each digit of each pass occurs: a word for each digit, or one for two neighbours where the items are fewer
/// than 2^32, which halves the atomics of blocks that add what they counted.
struct DigitCounts {
  std::uint64_t words[kMostPasses][kMostDigits];
};

/// \tparam CountT  32 bits where a word counts two digits
template <typename CountT>
SLUICE_SIMT CountT count_of_digit(const std::uint64_t* words, unsigned digit) {
  if constexpr (sizeof(CountT) == 8) return words[digit];
  return static_cast<CountT>(words[digit / 2] >> (digit % 2 * 32));
}

/// By a whole block. \param counts  of an even number of digits, which the block shares, after a barrier
template <typename CountT, typename ContextT>
SLUICE_SIMT void add_digit_counts(ContextT& simt, unsigned threads, const std::uint32_t* counts, unsigned digits,
                                  std::uint64_t* words) {
  constexpr unsigned kInWord = 8 / sizeof(CountT);
  for (unsigned w = simt.thread(); w < digits / kInWord; w += threads) {
    std::uint64_t some = counts[w * kInWord];
    if constexpr (kInWord == 2) some |= std::uint64_t{counts[w * kInWord + 1]} << 32;
    if (some != 0) simt.template atomic_add<simt::Order::kRelaxed>(&words[w], some);
  }
}

}  // namespace sluice::kernels::bodies
