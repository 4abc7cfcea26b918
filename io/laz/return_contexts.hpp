// SPDX-License-Identifier: Apache-2.0
/// \file
/// Contexts that follow from number of returns n and return number r. Every pair has one, whether it makes sense or
/// not.
#pragma once

#include <cstdint>

#include "inline.hpp"

namespace sluice::laz {

/// 0 to 15, for n and r of three bits.
SLUICE_LAZ_INLINE std::uint32_t returns_context_8(std::uint32_t n, std::uint32_t r) {
  // A row for each n; r counts digits from the right.
  constexpr std::uint32_t kRows[8] = {0x89ABCDEF, 0x9AA6310E, 0xABB7421D, 0xBCC8543C,
                                      0xCDD9876B, 0xDEEDCBAA, 0xEFEDCBA9, 0xFEDCBA98};
  return kRows[n] >> (4 * r) & 15U;
}

/// 0 to 5, for n and r of four bits.
SLUICE_LAZ_INLINE std::uint32_t returns_context_16(std::uint32_t n, std::uint32_t r) {
  constexpr std::uint64_t kRows[16] = {0x5555555443543210, 0x3333333333333101, 0x3333344444444212, 0x4444444444445433,
                                       0x4444444444454434, 0x4444444444544435, 0x4444444445444433, 0x4444444454444434,
                                       0x4444444544444434, 0x4444445444444435, 0x4444454444444435, 0x4445544444444335,
                                       0x4455544444444335, 0x4555444444444335, 0x5554444444444335, 0x5544444444444335};
  return static_cast<std::uint32_t>(kRows[n] >> (4 * r)) & 15U;
}

}  // namespace sluice::laz
