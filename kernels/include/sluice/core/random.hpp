// SPDX-License-Identifier: Apache-2.0
/// \file
/// Counter-based random numbers: a pure function of a seed and a counter, so that no order of evaluation matters.
#pragma once

#include <cstdint>

#include "sluice/core/hd.hpp"

namespace sluice {

/// The finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014): a
/// bijection of 64-bit numbers in which every input bit flips about half of the output bits.
SLUICE_HD std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// 64 random bits for one counter of one stream.
SLUICE_HD std::uint64_t counter_random(std::uint64_t seed, std::uint64_t counter) {
  return mix64(mix64(seed) ^ mix64(counter + 0x632be59bd9b4e019ULL));
}

/// 64 random bits for one counter within one cell of one stream.
SLUICE_HD std::uint64_t counter_random(std::uint64_t seed, const std::int64_t cell[3], std::uint64_t counter) {
  std::uint64_t key = mix64(seed);
  for (int d = 0; d < 3; ++d) key = mix64(key ^ static_cast<std::uint64_t>(cell[d]));
  return counter_random(key, counter);
}

}  // namespace sluice
