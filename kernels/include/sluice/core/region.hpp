// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a user says of the points to keep: regions of space and conditions on fields. Plain values; nothing here is
/// checked against a cloud until `predicate_builder.hpp` turns it into a program.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "sluice/core/predicate.hpp"
#include "sluice/core/types.hpp"

namespace sluice {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Closed axis-aligned box; infinite bounds are free. On a lattice decided in integers: a bound within 1/100 of a step
/// of a lattice number means that number.
struct Box {
  double min[3] = {-kInfinity, -kInfinity, -kInfinity};
  double max[3] = {kInfinity, kInfinity, kInfinity};
};

/// Closed box with edges of `length` around `center`, turned by yaw about z, then pitch about the new y, then roll
/// about the new x (the z-y'-x'' convention), in degrees.
struct OrientedBox {
  double center[3] = {0, 0, 0};
  double length[3] = {0, 0, 0};
  double yaw = 0, pitch = 0, roll = 0;
};

/// Closed ball.
struct Sphere {
  double center[3] = {0, 0, 0};
  double radius = 0;
};

/// Closed upright cylinder; z bounds are those of a box.
struct Cylinder {
  double center[2] = {0, 0};
  double radius = 0;
  double z_min = -kInfinity, z_max = kInfinity;
};

/// Even-odd over all rings together (holes, several polygons, any direction, self-crossing); half-open. Rings are
/// closed by themselves; a repeated last vertex does no harm.
struct Polygon {
  struct Vertex {
    double x, y;
  };
  std::vector<std::vector<Vertex>> rings;
};

/// normal . p + offset >= 0
struct HalfSpace {
  double normal[3] = {0, 0, 1};
  double offset = 0;
};

/// All of several half-spaces: the inside of a camera's view, or any convex polyhedron.
struct Frustum {
  std::vector<HalfSpace> planes;
};

/// Closed range of distances from a sensor.
struct RangeRing {
  double min = 0, max = kInfinity;
  double center[3] = {0, 0, 0};
};

/// Closed range of directions from a sensor, degrees: azimuth counter-clockwise from +x, from `az0` to `az1` through
/// the wrap (a difference of 360 or more is all round), elevation from the horizontal plane.
struct Sector {
  double az0 = 0, az1 = 360;
  double el0 = -90, el1 = 90;
  double center[3] = {0, 0, 0};
};

using Region = std::variant<Box, OrientedBox, Sphere, Cylinder, Polygon, HalfSpace, Frustum, RangeRing, Sector>;

/// A field or a number in a condition.
struct Term {
  bool is_field = false;
  std::string field;  ///< any case
  Value number = Value::of_signed(0);
};

/// A condition on fields: a tree of comparisons, set memberships, and, or, not.
struct Expression {
  enum class Kind : std::uint8_t { kCompare, kInSet, kAnd, kOr, kNot };
  Kind kind = Kind::kAnd;
  Comparison comparison = Comparison::kEqual;
  Term left, right;                  ///< kCompare; kInSet: left is the field
  std::vector<Value> set;            ///< kInSet
  std::vector<Expression> children;  ///< kAnd, kOr: any number (none: true, false); kNot: one
};

/// Which points to keep: (any region, or no region given) and all conditions, negated as a whole by `invert`; of those
/// a random `fraction`; of those every `every`-th in input order, the first one included.
struct Selection {
  std::vector<Region> regions;
  std::vector<Expression> where;
  bool invert = false;
  bool drop_zero = false;  ///< points at exactly 0,0,0 count as non-finite
  double fraction = 1.0;   ///< 0 to 1; by seed and index in the whole input
  std::uint64_t seed = 0;
  std::uint64_t every = 1;
};

}  // namespace sluice
