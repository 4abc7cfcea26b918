// SPDX-License-Identifier: Apache-2.0
/// \file
/// Streaming median of five.
#pragma once

#include <cstdint>

#include "inline.hpp"

namespace sluice::laz {

/// The middle of five sorted values, of which the largest and the smallest take turns in making room for a new one.
struct Median {
  std::int32_t sorted[5];
  std::int32_t drop_bottom;  ///< 0: the largest leaves next; 1: the smallest

  [[nodiscard]] SLUICE_LAZ_INLINE std::uint32_t middle() const { return static_cast<std::uint32_t>(sorted[2]); }

  /// Without branches: where the value belongs cannot be foreseen.
  SLUICE_LAZ_INLINE void add(std::uint32_t value) {
    const auto x = static_cast<std::int32_t>(value);
    const std::int32_t middle = sorted[2];
    const std::int32_t* kept = sorted + drop_bottom;
    const std::int32_t a = kept[0];
    const std::int32_t b = kept[1];
    const std::int32_t c = kept[2];
    const std::int32_t d = kept[3];
    drop_bottom = (x > middle ? 1 : 0) | ((x == middle ? 1 : 0) & (drop_bottom ^ 1));
    sorted[0] = smaller(a, x);
    sorted[1] = larger(a, smaller(b, x));
    sorted[2] = larger(b, smaller(c, x));
    sorted[3] = larger(c, smaller(d, x));
    sorted[4] = larger(d, x);
  }

 private:
  static SLUICE_LAZ_INLINE std::int32_t smaller(std::int32_t a, std::int32_t b) { return a < b ? a : b; }
  static SLUICE_LAZ_INLINE std::int32_t larger(std::int32_t a, std::int32_t b) { return a < b ? b : a; }
};

SLUICE_HD void start(Median& m) { m = {{0, 0, 0, 0, 0}, 0}; }

}  // namespace sluice::laz
