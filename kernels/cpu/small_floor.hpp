// SPDX-License-Identifier: Apache-2.0
/// \file
/// A floor that becomes vector code: `floor` itself does not as long as floating-point exceptions count.
#pragma once

namespace sluice::kernels {

/// What is at most this far from zero can be floored here.
inline constexpr double kMostSmall = 0x1p50;

/// Numbers around this one are one apart, so adding it rounds to a whole number.
inline constexpr double kWholeStep = 0x1.8p52;

/// floor(value) for |value| <= kMostSmall; some number for others.
inline double small_floor(double value) {
  const double nearest = (value + kWholeStep) - kWholeStep;
  return nearest > value ? nearest - 1.0 : nearest;
}

}  // namespace sluice::kernels
