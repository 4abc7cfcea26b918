// SPDX-License-Identifier: Apache-2.0
/// \file
/// The exact sign of the turn of three points given in doubles, after J. R. Shewchuk, "Adaptive precision
/// floating-point arithmetic and fast robust geometric predicates", 1997: a filtered determinant, then an exact
/// expansion.
///
/// Exact where no product over- or underflows: coordinates are 0 or of magnitude 1e-140 to 1e140.
#pragma once

#include <cmath>

#include "sluice/core/hd.hpp"

namespace sluice {

namespace detail {

/// a * b = high + low, exactly (Dekker, Veltkamp). Not written with a fused multiply-add, which hosts may lack.
SLUICE_HD void two_product(double a, double b, double& high, double& low) {
  constexpr double kSplitter = 134217729.0;  // 2^27 + 1
  high = a * b;
  const double a_big = kSplitter * a;
  const double a_high = a_big - (a_big - a);
  const double a_low = a - a_high;
  const double b_big = kSplitter * b;
  const double b_high = b_big - (b_big - b);
  const double b_low = b - b_high;
  low = a_low * b_low - (((high - a_high * b_high) - a_low * b_high) - a_high * b_low);
}

/// a + b = high + low, exactly (Knuth).
SLUICE_HD void two_sum(double a, double b, double& high, double& low) {
  high = a + b;
  const double b_part = high - a;
  low = (a - (high - b_part)) + (b - b_part);
}

/// Adds b to an expansion of `size` components that grow in magnitude; it gets one component more.
SLUICE_HD void grow_expansion(double* expansion, int size, double b) {
  double carry = b;
  for (int i = 0; i < size; ++i) {
    double high;
    double low;
    two_sum(carry, expansion[i], high, low);
    expansion[i] = low;
    carry = high;
  }
  expansion[size] = carry;
}

}  // namespace detail

/// +1 where a, b, c turn counter-clockwise, -1 where clockwise, 0 where they lie on one line: the exact sign of
/// (bx-ax)*(cy-ay) - (by-ay)*(cx-ax).
SLUICE_HD int exact_orientation(double ax, double ay, double bx, double by, double cx, double cy) {
  const double left = (ax - cx) * (by - cy);
  const double right = (ay - cy) * (bx - cx);
  const double determinant = left - right;
  const double magnitude = fabs(left) + fabs(right);
  if (fabs(determinant) > 3.3306690738754716e-16 * magnitude) return determinant > 0.0 ? 1 : -1;

  // ax*by - ax*cy - cx*by - ay*bx + ay*cx + cy*bx; the product of c with itself cancels.
  const double factors[6][2] = {{ax, by}, {-ax, cy}, {-cx, by}, {-ay, bx}, {ay, cx}, {cy, bx}};
  double expansion[12];
  int size = 0;
  for (int i = 0; i < 6; ++i) {
    double high;
    double low;
    detail::two_product(factors[i][0], factors[i][1], high, low);
    detail::grow_expansion(expansion, size++, low);
    detail::grow_expansion(expansion, size++, high);
  }
  for (int i = 11; i >= 0; --i) {
    if (expansion[i] != 0.0) return expansion[i] > 0.0 ? 1 : -1;
  }
  return 0;
}

}  // namespace sluice
