// SPDX-License-Identifier: Apache-2.0
#include "sluice/core/random.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <set>

namespace sluice {
namespace {

// The first outputs of SplitMix64 seeded with 0 and with 1234567, as its authors publish them.
TEST(Mix64, IsSplitMix64) {
  EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(mix64(0x9e3779b97f4a7c15ULL), 0x6e789e6aa1b965f4ULL);
  EXPECT_EQ(mix64(1234567), 6457827717110365317ULL);
  EXPECT_EQ(mix64(1234567 + 0x9e3779b97f4a7c15ULL), 3203168211198807973ULL);
}

TEST(CounterRandom, DependsOnSeedCellAndCounter) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::int64_t x = -2; x <= 2; ++x) {
      for (std::int64_t y = -2; y <= 2; ++y) {
        const std::int64_t cell[3] = {x, y, x * y};
        for (std::uint64_t i = 0; i < 20; ++i) EXPECT_TRUE(seen.insert(counter_random(seed, cell, i)).second);
      }
    }
  }
}

TEST(CounterRandom, IsUniform) {
  constexpr int kDraws = 100000;
  int bits[64] = {};
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const std::uint64_t draw = counter_random(42, i);
    for (int b = 0; b < 64; ++b) bits[b] += static_cast<int>((draw >> b) & 1);
  }
  // Six standard deviations.
  for (const int count : bits) EXPECT_NEAR(count, kDraws / 2, 6 * 158.2);
}

}  // namespace
}  // namespace sluice
