// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions of doubles that give the same bits on every machine, and random numbers that are functions of counters.
#pragma once

#include <cmath>
#include <cstdint>

#include "sluice/core/random.hpp"

namespace sluice::synth {

inline constexpr double kPi = 3.14159265358979323846;
inline constexpr double kDegrees = 180.0 / kPi;

/// A number in [0, 1) from 64 random bits.
inline double unit_from(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

/// Random numbers of one thing: a tree, a pulse. The n-th call gives the n-th number.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t thing) : key_(counter_random(seed, thing)) {}
  double unit() { return unit_from(mix64(key_ + step_++)); }
  /// In [low, high).
  double between(double low, double high) { return low + (high - low) * unit(); }
  /// Roughly normal with mean 0 and deviation 1: a sum of four, within +-3.5.
  double normal() { return (unit() + unit() + unit() + unit() - 2.0) * 1.7320508075688772; }
  bool chance(double probability) { return unit() < probability; }

 private:
  std::uint64_t key_;
  std::uint64_t step_ = 0;
};

/// A number for a place of a plane, to seed `Dice` with.
inline std::uint64_t place_key(std::int64_t x, std::int64_t y) {
  return mix64(static_cast<std::uint64_t>(x)) ^ (static_cast<std::uint64_t>(y) * 0x9e3779b97f4a7c15ULL);
}

struct SinCos {
  double sin, cos;
};

/// Sine and cosine of an angle in degrees, to about 1e-15: Taylor polynomials after folding into an eighth of a turn.
inline SinCos sin_cos_degrees(double degrees) {
  const double quarter = std::floor(degrees / 90.0 + 0.5);
  const double x = (degrees - 90.0 * quarter) / kDegrees;
  const double x2 = x * x;
  const double s =
      x *
      (1.0 -
       x2 / 6.0 *
           (1.0 -
            x2 / 20.0 *
                (1.0 - x2 / 42.0 * (1.0 - x2 / 72.0 * (1.0 - x2 / 110.0 * (1.0 - x2 / 156.0 * (1.0 - x2 / 210.0)))))));
  const double c =
      1.0 - x2 / 2.0 *
                (1.0 - x2 / 12.0 *
                           (1.0 - x2 / 30.0 *
                                      (1.0 - x2 / 56.0 * (1.0 - x2 / 90.0 * (1.0 - x2 / 132.0 * (1.0 - x2 / 182.0))))));
  switch (static_cast<std::int64_t>(quarter) & 3) {
    case 0:
      return {s, c};
    case 1:
      return {c, -s};
    case 2:
      return {-s, -c};
    default:
      return {-c, s};
  }
}

/// Arc tangent in degrees of a slope of magnitude below 0.7, to about 1e-6 degrees.
inline double arc_tangent_degrees(double slope) {
  const double t2 = slope * slope;
  double sum = 0.0;
  for (int n = 25; n >= 1; n -= 2) sum = 1.0 / n - t2 * sum;
  return slope * sum * kDegrees;
}

/// Smooth random heights between -1 and 1: values at the corners of a square lattice, blended with a quintic. Not for
/// several threads at once: the corners of the last square are remembered, since the next point is mostly in it.
class ValueNoise {
 public:
  ValueNoise(std::uint64_t seed, double wavelength) : seed_(seed), wavelength_(wavelength) {}

  double at(double x, double y) {
    const double u = x / wavelength_;
    const double v = y / wavelength_;
    const double iu = std::floor(u);
    const double iv = std::floor(v);
    const auto ix = static_cast<std::int64_t>(iu);
    const auto iy = static_cast<std::int64_t>(iv);
    if (!known_ || ix != ix_ || iy != iy_) {
      for (int corner = 0; corner < 4; ++corner) {
        corners_[corner] =
            2.0 * unit_from(counter_random(seed_, place_key(ix + (corner & 1), iy + (corner >> 1)))) - 1.0;
      }
      ix_ = ix;
      iy_ = iy;
      known_ = true;
    }
    const double a = fade(u - iu);
    const double b = fade(v - iv);
    const double low = corners_[0] + a * (corners_[1] - corners_[0]);
    const double high = corners_[2] + a * (corners_[3] - corners_[2]);
    return low + b * (high - low);
  }

 private:
  static double fade(double t) { return t * t * t * (t * (t * 6.0 - 15.0) + 10.0); }

  std::uint64_t seed_;
  double wavelength_;
  std::int64_t ix_ = 0, iy_ = 0;
  double corners_[4] = {};
  bool known_ = false;
};

}  // namespace sluice::synth
