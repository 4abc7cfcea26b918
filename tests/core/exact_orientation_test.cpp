// SPDX-License-Identifier: Apache-2.0
#include "sluice/core/exact_orientation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/big_int.hpp"

namespace sluice {
namespace {

using test::BigInt;
using test::exact_scaled;

int exact_sign(const double p[6]) {
  BigInt v[6];
  for (int i = 0; i < 6; ++i) v[i] = exact_scaled(p[i]);
  return ((v[2] - v[0]) * (v[5] - v[1]) - (v[3] - v[1]) * (v[4] - v[0])).sign();
}

void check(const double p[6]) {
  ASSERT_EQ(exact_orientation(p[0], p[1], p[2], p[3], p[4], p[5]), exact_sign(p))
      << p[0] << ' ' << p[1] << ' ' << p[2] << ' ' << p[3] << ' ' << p[4] << ' ' << p[5];
}

TEST(Orientation, OfPlainTurns) {
  EXPECT_EQ(exact_orientation(0, 0, 1, 0, 0, 1), 1);
  EXPECT_EQ(exact_orientation(0, 0, 0, 1, 1, 0), -1);
  EXPECT_EQ(exact_orientation(0, 0, 1, 1, 2, 2), 0);
  EXPECT_EQ(exact_orientation(0.1, 0.1, 0.2, 0.2, 0.3, 0.3), 0);
  EXPECT_EQ(exact_orientation(5, 5, 5, 5, 7, 9), 0);
}

TEST(Orientation, IsExactForPointsNextToALine) {
  std::mt19937_64 random(13);
  std::uniform_real_distribution<double> coordinate(-1000.0, 1000.0);
  std::uniform_real_distribution<double> along(-2.0, 2.0);
  int close = 0;
  for (int i = 0; i < 4000; ++i) {
    double p[6];
    for (int k = 0; k < 4; ++k) p[k] = coordinate(random);
    const double t = along(random);
    p[4] = p[0] + t * (p[2] - p[0]);
    p[5] = p[1] + t * (p[3] - p[1]);
    for (int k = 4; k < 6; ++k) {
      const int steps = static_cast<int>(random() % 5) - 2;
      for (int s = 0; s < std::abs(steps); ++s) p[k] = std::nextafter(p[k], steps > 0 ? 1e9 : -1e9);
    }
    check(p);
    const double plain = (p[2] - p[0]) * (p[5] - p[1]) - (p[3] - p[1]) * (p[4] - p[0]);
    if ((plain > 0) - (plain < 0) != exact_sign(p)) ++close;
  }
  EXPECT_GT(close, 10) << "no case was hard";
}

TEST(Orientation, IsExactOnAGridOfTheLowestBits) {
  // The classic example: points a few bits away from a diagonal.
  for (int i = 0; i < 24; ++i) {
    for (int k = 0; k < 24; ++k) {
      const double p[6] = {0.5 + i * 0x1p-53, 0.5 + k * 0x1p-53, 12.0, 12.0, 24.0, 24.0};
      check(p);
    }
  }
}

TEST(Orientation, IsExactForMixedMagnitudes) {
  std::mt19937_64 random(14);
  for (int i = 0; i < 2000; ++i) {
    double p[6];
    for (double& x : p) {
      x = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random()) >> 11),
                     static_cast<int>(random() % 200) - 150);
      if (random() % 8 == 0) x = 0.0;
    }
    check(p);
  }
}

}  // namespace
}  // namespace sluice
