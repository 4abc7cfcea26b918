// SPDX-License-Identifier: Apache-2.0
/// \file
/// Conversion of 128-bit integers to double that rounds alike whatever compiler builds it.
#pragma once

#include <cstdint>

#include "sluice/core/hd.hpp"

namespace sluice {

/// Nearest double, halves to even. What a plain cast does is up to each compiler's support library; here only the
/// conversion of a 64-bit integer rounds, which IEEE 754 defines, and the scaling after it is exact.
SLUICE_HD double to_double(int128 value) {
  const bool negative = value < 0;
  uint128 magnitude = negative ? -static_cast<uint128>(value) : static_cast<uint128>(value);
  double scale = 1.0;
  // Once shifted, all 64 bits that stay are used, more than the 54 that tell a tie from its neighbours, and bits
  // shifted out leave a mark in the lowest.
  std::uint64_t lost = 0;
  while ((magnitude >> 80) != 0) {
    lost |= static_cast<std::uint64_t>(magnitude) & 0xffffU;
    magnitude >>= 16;
    scale *= 65536.0;
  }
  while ((magnitude >> 64) != 0) {
    lost |= static_cast<std::uint64_t>(magnitude) & 1U;
    magnitude >>= 1;
    scale *= 2.0;
  }
  const double rounded = static_cast<double>(static_cast<std::uint64_t>(magnitude) | (lost != 0 ? 1U : 0U)) * scale;
  return negative ? -rounded : rounded;
}

}  // namespace sluice
