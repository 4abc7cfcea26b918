// SPDX-License-Identifier: Apache-2.0
/// \file
/// Unsigned keys that order as signed or floating-point numbers do.
#pragma once

#include <cstdint>
#include <cstring>

#include "sluice/core/hd.hpp"

namespace sluice {

/// Orders as the signed number.
SLUICE_HD std::uint32_t radix_key(std::int32_t value) { return static_cast<std::uint32_t>(value) ^ 0x80000000U; }
SLUICE_HD std::uint64_t radix_key(std::int64_t value) {
  return static_cast<std::uint64_t>(value) ^ 0x8000000000000000ULL;
}

/// Orders as the double: both zeros are equal, every NaN comes last.
SLUICE_HD std::uint64_t radix_key(double value) {
  if (value != value) return ~std::uint64_t{0};
  std::uint64_t bits;
  const double folded = value == 0.0 ? 0.0 : value;
  memcpy(&bits, &folded, sizeof bits);
  return (bits >> 63) != 0 ? ~bits : bits ^ 0x8000000000000000ULL;
}

/// Orders as the float: both zeros are equal, every NaN comes last.
SLUICE_HD std::uint32_t radix_key(float value) {
  if (value != value) return ~std::uint32_t{0};
  std::uint32_t bits;
  const float folded = value == 0.0F ? 0.0F : value;
  memcpy(&bits, &folded, sizeof bits);
  return (bits >> 31) != 0 ? ~bits : bits ^ 0x80000000U;
}

}  // namespace sluice
