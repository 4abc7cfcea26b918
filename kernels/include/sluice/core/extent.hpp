// SPDX-License-Identifier: Apache-2.0
/// \file
/// Minimum and maximum corner of a set of points.
#pragma once

#include <limits>

namespace sluice {

/// Closed axis-aligned range in world units; empty until the first `add`.
struct Extent {
  double min[3] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(),
                   std::numeric_limits<double>::infinity()};
  double max[3] = {-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                   -std::numeric_limits<double>::infinity()};

  [[nodiscard]] bool empty() const { return !(min[0] <= max[0]); }
  /// Grows to hold a finite point.
  void add(double x, double y, double z) {
    const double p[3] = {x, y, z};
    for (int axis = 0; axis < 3; ++axis) {
      if (p[axis] < min[axis]) min[axis] = p[axis];
      if (p[axis] > max[axis]) max[axis] = p[axis];
    }
  }
  /// Grows to hold another extent; an empty one changes nothing.
  void add(const Extent& other) {
    for (int axis = 0; axis < 3; ++axis) {
      if (other.min[axis] < min[axis]) min[axis] = other.min[axis];
      if (other.max[axis] > max[axis]) max[axis] = other.max[axis];
    }
  }
};

}  // namespace sluice
