// SPDX-License-Identifier: Apache-2.0
/// \file
/// Integers coded by how far they are from a prediction.
#pragma once

#include <bit>
#include <cstdint>

#include "models.hpp"

namespace sluice::laz {

/// Where in its interval a difference lies: what all contexts of a codec learn together.
template <std::uint32_t kBits>
struct PlaceModels {
  Bank<256, kBits> place;  ///< of interval k at k - 1, run with 2^k symbols up to 256
  BitModel zero_or_one;    ///< of interval 0
};

template <std::uint32_t kBits>
SLUICE_HD void start(PlaceModels<kBits>& models) {
  start(models.place);
  start(models.zero_or_one);
}

/// Models for integers of kBits bits in kContexts contexts. Intervals are powers of two.
template <std::uint32_t kBits, std::uint32_t kContexts>
struct IntegerCodec {
  Bank<kBits + 1, kContexts> interval;
  PlaceModels<kBits> places;
};

template <std::uint32_t kBits, std::uint32_t kContexts>
SLUICE_HD void start(IntegerCodec<kBits, kContexts>& codec) {
  start(codec.interval);
  start(codec.places);
}

/// An integer, and the interval that its difference fell into.
struct CodedInteger {
  std::uint32_t value;  ///< kBits bits, zeros above
  std::uint32_t interval;
};

/// Codes `real` given `pred`; of both only the lower kBits bits matter.
template <class Coder, std::uint32_t kIntervals, std::uint32_t kBits>
SLUICE_LAZ_INLINE CodedInteger code_integer(Coder& coder, Alphabet<kIntervals>& interval, PlaceModels<kBits>& places,
                                            std::uint32_t pred, std::uint32_t real) {
  static_assert(kIntervals == kBits + 1);
  constexpr std::uint32_t kMask = 0xFFFFFFFFU >> (32 - kBits);
  std::uint32_t difference = 0;  // sign-extended to 32 bits
  std::uint32_t k = 0;
  if constexpr (Coder::kEncodes) {
    difference = (real - pred) << (32 - kBits);
    difference = static_cast<std::uint32_t>(static_cast<std::int32_t>(difference) >> (32 - kBits));
    const bool positive = static_cast<std::int32_t>(difference) > 0;
    k = 32 - static_cast<std::uint32_t>(std::countl_zero(positive ? difference - 1 : 0U - difference));
  }
  k = coder.symbol(interval, k);
  if (k == 0) {
    difference = coder.bit(places.zero_or_one, difference);
  } else if (kBits < 32 || k < 32) {
    const std::uint32_t below = (1U << k) - 1;
    std::uint32_t place = 0;
    if constexpr (Coder::kEncodes) place = difference + (static_cast<std::int32_t>(difference) < 0 ? below : ~0U);
    if (kBits <= 8 || k <= 8) {
      place = coder.symbol(places.place.at(k - 1, below + 1), place, below + 1);
    } else {
      const std::uint32_t high = coder.symbol(places.place.at(k - 1), place >> (k - 8));
      const std::uint32_t low = coder.raw(k - 8, place & ((1U << (k - 8)) - 1));
      place = high << (k - 8) | low;
    }
    difference = place + (place >> (k - 1) != 0 ? 1U : 0U - below);
  } else {
    difference = 0x80000000U;
  }
  return {(pred + difference) & kMask, k};
}

template <class Coder, std::uint32_t kBits, std::uint32_t kContexts>
SLUICE_LAZ_INLINE CodedInteger code_integer(Coder& coder, IntegerCodec<kBits, kContexts>& codec, std::uint32_t context,
                                            std::uint32_t pred, std::uint32_t real) {
  return code_integer(coder, codec.interval.at(context), codec.places, pred, real);
}

}  // namespace sluice::laz
