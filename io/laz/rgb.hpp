// SPDX-License-Identifier: Apache-2.0
/// \file
/// Colours: item RGB12 version 2, and the colour and infrared layers of RGB14 and RGBNIR14.
#pragma once

#include <cstdint>

#include "memory.hpp"
#include "models.hpp"

namespace sluice::laz {

struct Rgb {
  static constexpr std::uint32_t kBytes = 6;
  static constexpr std::uint32_t kMaxCoded = 14;

  std::uint32_t red, green, blue;
};

SLUICE_LAZ_INLINE Rgb load_rgb(const std::byte* item) {
  return {load_unaligned<std::uint16_t>(item), load_unaligned<std::uint16_t>(item + 2),
          load_unaligned<std::uint16_t>(item + 4)};
}

SLUICE_LAZ_INLINE void store_rgb(std::byte* item, const Rgb& c) {
  store_unaligned(item, static_cast<std::uint16_t>(c.red));
  store_unaligned(item + 2, static_cast<std::uint16_t>(c.green));
  store_unaligned(item + 4, static_cast<std::uint16_t>(c.blue));
}

struct RgbModels {
  Alphabet<128> used;
  Bank<256, 6> difference;  ///< red low, red high, green low, ...
};

SLUICE_HD void start(RgbModels& m) {
  start(m.used);
  start(m.difference);
}

SLUICE_LAZ_INLINE std::int32_t clamp_to_byte(std::int32_t value) { return value < 0 ? 0 : value > 255 ? 255 : value; }

/// A byte that has changed, given what it is expected to be.
template <class Coder>
SLUICE_LAZ_INLINE std::int32_t code_byte(Coder& coder, Alphabet<256>& m, std::int32_t pred, std::int32_t value) {
  const std::uint32_t step = coder.symbol(m, static_cast<std::uint32_t>(value - pred) & 255U);
  return static_cast<std::int32_t>((static_cast<std::uint32_t>(pred) + step) & 255U);
}

/// Low or high byte of the three channels.
struct RgbBytes {
  std::int32_t red, green, blue;
};

SLUICE_LAZ_INLINE RgbBytes bytes_of(const Rgb& c, std::uint32_t shift) {
  return {static_cast<std::int32_t>(c.red >> shift & 255U), static_cast<std::int32_t>(c.green >> shift & 255U),
          static_cast<std::int32_t>(c.blue >> shift & 255U)};
}

/// \param colour  the colour to encode
template <class Coder>
SLUICE_LAZ_INLINE Rgb code_rgb(Coder& coder, RgbModels& m, const Rgb& last, const Rgb& colour) {
  const RgbBytes last_low = bytes_of(last, 0);
  const RgbBytes last_high = bytes_of(last, 8);
  RgbBytes low = last_low;
  RgbBytes high = last_high;
  std::uint32_t used = 0;
  if constexpr (Coder::kEncodes) {
    low = bytes_of(colour, 0);
    high = bytes_of(colour, 8);
    used = (low.red != last_low.red ? 1U : 0U) | (high.red != last_high.red ? 2U : 0U) |
           (low.green != last_low.green ? 4U : 0U) | (high.green != last_high.green ? 8U : 0U) |
           (low.blue != last_low.blue ? 16U : 0U) | (high.blue != last_high.blue ? 32U : 0U) |
           (colour.green != colour.red || colour.blue != colour.red ? 64U : 0U);
  }
  used = coder.symbol(m.used, used);
  if ((used & 1U) != 0) low.red = code_byte(coder, m.difference.at(0), last_low.red, low.red);
  if ((used & 2U) != 0) high.red = code_byte(coder, m.difference.at(1), last_high.red, high.red);
  if ((used & 64U) == 0) {
    const auto grey = static_cast<std::uint32_t>(high.red << 8 | low.red);
    return {grey, grey, grey};
  }
  const std::int32_t red_low = low.red - last_low.red;
  const std::int32_t red_high = high.red - last_high.red;
  if ((used & 4U) != 0)
    low.green = code_byte(coder, m.difference.at(2), clamp_to_byte(last_low.green + red_low), low.green);
  if ((used & 16U) != 0) {
    // The average is truncated towards zero.
    const std::int32_t average = (red_low + (low.green - last_low.green)) / 2;
    low.blue = code_byte(coder, m.difference.at(4), clamp_to_byte(last_low.blue + average), low.blue);
  }
  if ((used & 8U) != 0)
    high.green = code_byte(coder, m.difference.at(3), clamp_to_byte(last_high.green + red_high), high.green);
  if ((used & 32U) != 0) {
    const std::int32_t average = (red_high + (high.green - last_high.green)) / 2;
    high.blue = code_byte(coder, m.difference.at(5), clamp_to_byte(last_high.blue + average), high.blue);
  }
  return {static_cast<std::uint32_t>(high.red << 8 | low.red), static_cast<std::uint32_t>(high.green << 8 | low.green),
          static_cast<std::uint32_t>(high.blue << 8 | low.blue)};
}

struct NirModels {
  static constexpr std::uint32_t kMaxCoded = 6;

  Alphabet<4> used;
  Bank<256, 2> difference;
};

SLUICE_HD void start(NirModels& m) {
  start(m.used);
  start(m.difference);
}

/// A value of 16 bits, byte by byte.
template <class Coder>
SLUICE_LAZ_INLINE std::uint32_t code_nir(Coder& coder, NirModels& m, std::uint32_t last, std::uint32_t value) {
  std::uint32_t used = 0;
  if constexpr (Coder::kEncodes)
    used = (((value ^ last) & 0xFFU) != 0 ? 1U : 0U) | (((value ^ last) & 0xFF00U) != 0 ? 2U : 0U);
  used = coder.symbol(m.used, used);
  std::uint32_t low = last & 0xFFU;
  std::uint32_t high = last >> 8;
  if ((used & 1U) != 0) low = (low + coder.symbol(m.difference.at(0), (value - low) & 0xFFU)) & 0xFFU;
  if ((used & 2U) != 0) high = (high + coder.symbol(m.difference.at(1), ((value >> 8) - high) & 0xFFU)) & 0xFFU;
  return high << 8 | low;
}

}  // namespace sluice::laz
