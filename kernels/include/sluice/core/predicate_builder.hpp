// SPDX-License-Identifier: Apache-2.0
/// \file
/// Turns a selection into a predicate program for clouds of one layout.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sluice/core/decimal.hpp"
#include "sluice/core/error.hpp"
#include "sluice/core/point_view.hpp"
#include "sluice/core/polygon_bands.hpp"
#include "sluice/core/predicate_program.hpp"
#include "sluice/core/region.hpp"
#include "sluice/core/schema.hpp"

namespace sluice {

/// Where a real number lies among stored integers n that mean n * scale + offset.
struct LatticeBound {
  int128 ceiling = 0;    ///< smallest n whose meaning is not below (with a negative scale: not above) the number
  int128 floor = 0;      ///< largest n whose meaning is not above (with a negative scale: not below) it
  bool on_step = false;  ///< within 1/100 of a step of a lattice number; ceiling == floor is that number
  bool exact = false;    ///< the number is that lattice number, as decimal numbers
};

/// Bounds of this magnitude lie beyond any stored integer, of 64 bits too.
inline constexpr int128 kBeyondLattice = int128{1} << 66;

namespace detail {

/// The cosine and sine of an angle in degrees, exact at multiples of 90.
inline void direction_of(double degrees, double& cosine, double& sine) {
  double turn = std::fmod(degrees, 360.0);
  if (turn < 0.0) turn += 360.0;
  const int quarter = static_cast<int>(turn / 90.0) % 4;
  const double rest = (turn - 90.0 * quarter) * (3.14159265358979323846 / 180.0);
  const double c = std::cos(rest);
  const double s = std::sin(rest);
  cosine = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
  sine = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
}

}  // namespace detail

namespace detail {

/// The bound of a number in the lattice cell that starts at lattice number `floor`.
inline LatticeBound bound_within(int128 floor, bool exact, bool near_floor, bool near_next) {
  if (floor >= kBeyondLattice) return {kBeyondLattice, kBeyondLattice, false, false};
  if (floor < -kBeyondLattice) return {-kBeyondLattice, -kBeyondLattice, false, false};
  LatticeBound out;
  out.exact = exact;
  out.on_step = near_floor || near_next;
  out.floor = near_next ? floor + 1 : floor;
  out.ceiling = near_floor ? floor : floor + 1;
  return out;
}

/// In doubles, for numbers that 128 bits do not hold.
inline LatticeBound rounded_bound(double value, double scale, double offset) {
  const double steps = (value - offset) / scale;
  const double limit = std::ldexp(1.0, 66);
  if (!(steps < limit)) return bound_within(kBeyondLattice, false, false, false);
  if (!(steps >= -limit)) return bound_within(-kBeyondLattice - 1, false, false, false);
  const double below = std::floor(steps);
  const double part = steps - below;
  return bound_within(static_cast<int128>(below), part == 0.0, part <= 0.01, part >= 0.99);
}

}  // namespace detail

/// Finds a decimal number among stored integers, in exact arithmetic.
/// \throws Unsupported where that needs more than 128 bits
inline LatticeBound lattice_bound(const Decimal& value, double scale, double offset) {
  const Decimal step = Decimal::of(scale);
  Decimal shift = Decimal::of(offset);
  shift.digits = -shift.digits;
  const Decimal distance = value + shift;
  const int unit = distance.digits == 0 ? step.exponent : std::min(step.exponent, distance.exponent);
  int128 numerator = distance.digits_at(unit);
  int128 denominator = step.digits_at(unit);
  if (denominator == 0) throw Unsupported("a lattice without steps");
  if (denominator < 0) {
    numerator = -numerator;
    denominator = -denominator;
  }
  const int128 below = detail::floor_div(numerator, denominator);
  const int128 part = numerator - below * denominator;
  const int128 hundredth = denominator / 100;
  return detail::bound_within(below, part == 0, part <= hundredth, denominator - part <= hundredth);
}

/// Finds a real number among stored integers, in exact decimal arithmetic where 128 bits allow it.
/// \pre value is not NaN
inline LatticeBound lattice_bound(double value, double scale, double offset) {
  if (!std::isfinite(value)) return detail::rounded_bound(value, scale, offset);
  try {
    return lattice_bound(Decimal::of(value), scale, offset);
  } catch (const Unsupported&) {
    return detail::rounded_bound(value, scale, offset);
  }
}

/// Builds programs. Use `build_predicate`.
class PredicateBuilder {
 public:
  PredicateBuilder(const Schema& schema, const CoordinateFrame& frame) : schema_(schema), frame_(frame) {}

  PredicateProgram build(const Selection& selection) {
    program_.drop_zero = selection.drop_zero;
    if (selection.drop_zero && on_lattice()) find_zero();
    bool any = false;
    for (const Region& region : selection.regions) {
      std::visit([this](const auto& shape) { emit(shape); }, region);
      if (any) combine(PredicateOp::Code::kOr);
      any = true;
    }
    for (const Expression& condition : selection.where) {
      emit(condition);
      if (any) combine(PredicateOp::Code::kAnd);
      any = true;
    }
    if (selection.invert) {
      if (!any) emit_constant(true);
      push(PredicateOp::Code::kNot, 0);
      any = true;
    }
    if (!(selection.fraction >= 0.0 && selection.fraction <= 1.0)) {
      throw InvalidArgument("a fraction must be from 0 to 1");
    }
    if (selection.fraction < 1.0) {
      PredicateOp& op = push(PredicateOp::Code::kFraction, 1);
      op.integers[0] = static_cast<std::int64_t>(static_cast<std::uint64_t>(std::ldexp(selection.fraction, 64)));
      op.integers[1] = static_cast<std::int64_t>(selection.seed);
      if (any) combine(PredicateOp::Code::kAnd);
    }
    return std::move(program_);
  }

 private:
  [[nodiscard]] bool on_lattice() const { return frame_.kind == CoordinateKind::kLattice; }

  PredicateOp& push(PredicateOp::Code code, int depth_change) {
    depth_ += depth_change;
    // One place of the evaluator's stack is below the program's own.
    if (depth_ >= kMaxPredicateDepth) throw InvalidArgument("a condition is nested too deeply");
    PredicateOp op{};
    op.code = code;
    program_.ops.push_back(op);
    return program_.ops.back();
  }
  void combine(PredicateOp::Code code) { push(code, -1); }
  void emit_constant(bool value) { push(PredicateOp::Code::kConstant, 1).first = value ? 1 : 0; }
  PredicateOp& push_world(PredicateOp::Code code) {
    if (on_lattice()) program_.needs_world = true;
    return push(code, 1);
  }

  static void require_finite(const double* values, int count, const char* what) {
    for (int i = 0; i < count; ++i) {
      if (!std::isfinite(values[i])) throw InvalidArgument(std::string(what) + " must be finite");
    }
  }
  static double squared_radius(double radius, const char* what) {
    if (!(radius >= 0.0)) throw InvalidArgument(std::string(what) + " must not be negative");
    return radius * radius;
  }

  void find_zero() {
    program_.zero_exists = true;
    for (int d = 0; d < 3; ++d) {
      const LatticeBound bound = lattice_bound(0.0, frame_.scale[d], frame_.offset[d]);
      if (!bound.exact || bound.floor > INT32_MAX || bound.floor < INT32_MIN) {
        program_.zero_exists = false;
        return;
      }
      program_.zero[d] = static_cast<std::int32_t>(bound.floor);
    }
  }

  /// Lattice numbers have 32 bits; any number beyond them will do for a bound that is.
  static std::int64_t raw_bound(int128 n) {
    constexpr int128 kBeyondRaw = int128{1} << 62;
    return static_cast<std::int64_t>(n > kBeyondRaw ? kBeyondRaw : n < -kBeyondRaw ? -kBeyondRaw : n);
  }

  void emit(const Box& box) {
    for (int d = 0; d < 3; ++d) {
      if (std::isnan(box.min[d]) || std::isnan(box.max[d])) throw InvalidArgument("a bound of a box is not a number");
      if (box.min[d] > box.max[d]) throw InvalidArgument("a box's lower bound is above its upper bound");
    }
    if (!on_lattice()) {
      PredicateOp& op = push(PredicateOp::Code::kWorldBox, 1);
      for (int d = 0; d < 3; ++d) {
        op.reals[d] = box.min[d];
        op.reals[3 + d] = box.max[d];
      }
      return;
    }
    PredicateOp& op = push(PredicateOp::Code::kLatticeBox, 1);
    for (int d = 0; d < 3; ++d) {
      const bool rising = frame_.scale[d] > 0.0;
      const double low = rising ? box.min[d] : box.max[d];
      const double high = rising ? box.max[d] : box.min[d];
      op.integers[d] = raw_bound(lattice_bound(low, frame_.scale[d], frame_.offset[d]).ceiling);
      op.integers[3 + d] = raw_bound(lattice_bound(high, frame_.scale[d], frame_.offset[d]).floor);
    }
  }

  void emit(const OrientedBox& box) {
    require_finite(box.center, 3, "the centre of an oriented box");
    const double angles[3] = {box.yaw, box.pitch, box.roll};
    require_finite(angles, 3, "the angles of an oriented box");
    double cy, sy, cp, sp, cr, sr;
    detail::direction_of(box.yaw, cy, sy);
    detail::direction_of(box.pitch, cp, sp);
    detail::direction_of(box.roll, cr, sr);
    PredicateOp& op = push_world(PredicateOp::Code::kOrientedBox);
    // Columns of Rz(yaw) * Ry(pitch) * Rx(roll): the box's own axes in the world.
    const double axes[9] = {cy * cp,
                            sy * cp,
                            -sp,
                            cy * sp * sr - sy * cr,
                            sy * sp * sr + cy * cr,
                            cp * sr,
                            cy * sp * cr + sy * sr,
                            sy * sp * cr - cy * sr,
                            cp * cr};
    for (int d = 0; d < 3; ++d) {
      if (!(box.length[d] >= 0.0)) throw InvalidArgument("an edge of an oriented box must not be negative");
      op.reals[d] = box.center[d];
      op.reals[12 + d] = box.length[d] / 2.0;
    }
    for (int i = 0; i < 9; ++i) op.reals[3 + i] = axes[i];
  }

  void emit(const Sphere& sphere) {
    require_finite(sphere.center, 3, "the centre of a sphere");
    PredicateOp& op = push_world(PredicateOp::Code::kSphere);
    for (int d = 0; d < 3; ++d) op.reals[d] = sphere.center[d];
    op.reals[3] = squared_radius(sphere.radius, "the radius of a sphere");
  }

  void emit(const Cylinder& cylinder) {
    require_finite(cylinder.center, 2, "the centre of a cylinder");
    PredicateOp& op = push_world(PredicateOp::Code::kDisc);
    op.reals[0] = cylinder.center[0];
    op.reals[1] = cylinder.center[1];
    op.reals[2] = squared_radius(cylinder.radius, "the radius of a cylinder");
    if (cylinder.z_min == -kInfinity && cylinder.z_max == kInfinity) return;
    Box slab;
    slab.min[2] = cylinder.z_min;
    slab.max[2] = cylinder.z_max;
    emit(slab);
    combine(PredicateOp::Code::kAnd);
  }

  void emit(const HalfSpace& plane) {
    require_finite(plane.normal, 3, "the normal of a half-space");
    require_finite(&plane.offset, 1, "the offset of a half-space");
    PredicateOp& op = push_world(PredicateOp::Code::kHalfSpace);
    for (int d = 0; d < 3; ++d) op.reals[d] = plane.normal[d];
    op.reals[3] = plane.offset;
  }

  void emit(const Frustum& frustum) {
    if (frustum.planes.empty()) throw InvalidArgument("a frustum needs at least one plane");
    for (std::size_t i = 0; i < frustum.planes.size(); ++i) {
      emit(frustum.planes[i]);
      if (i != 0) combine(PredicateOp::Code::kAnd);
    }
  }

  void emit(const RangeRing& ring) {
    require_finite(ring.center, 3, "the centre of a range");
    const double near = squared_radius(ring.min, "a range");
    const double far = squared_radius(ring.max, "a range");
    if (ring.min > ring.max) throw InvalidArgument("a range's lower bound is above its upper bound");
    PredicateOp& op = push_world(PredicateOp::Code::kRing);
    for (int d = 0; d < 3; ++d) op.reals[d] = ring.center[d];
    op.reals[3] = near;
    op.reals[4] = far;
  }

  void emit(const Sector& sector) {
    require_finite(sector.center, 3, "the centre of a sector");
    const double angles[4] = {sector.az0, sector.az1, sector.el0, sector.el1};
    require_finite(angles, 4, "the angles of a sector");
    if (sector.el0 > sector.el1) throw InvalidArgument("a sector's lower elevation is above its upper one");
    if (sector.el0 < -90.0 || sector.el1 > 90.0) throw InvalidArgument("an elevation must be from -90 to 90 degrees");
    const bool all_round = sector.az1 - sector.az0 >= 360.0;
    const bool all_heights = sector.el0 == -90.0 && sector.el1 == 90.0;
    if (!all_round) {
      double width = std::fmod(sector.az1 - sector.az0, 360.0);
      if (width < 0.0) width += 360.0;
      PredicateOp& op = push_world(PredicateOp::Code::kAzimuth);
      for (int d = 0; d < 3; ++d) op.reals[d] = sector.center[d];
      detail::direction_of(sector.az0, op.reals[3], op.reals[4]);
      detail::direction_of(sector.az1, op.reals[5], op.reals[6]);
      op.flag = width > 180.0;
      op.count = width < 90.0 ? 1 : 0;
    }
    if (!all_heights || all_round) {
      PredicateOp& op = push_world(PredicateOp::Code::kElevation);
      for (int d = 0; d < 3; ++d) op.reals[d] = sector.center[d];
      detail::direction_of(sector.el0, op.reals[3], op.reals[4]);
      detail::direction_of(sector.el1, op.reals[5], op.reals[6]);
      if (!all_round) combine(PredicateOp::Code::kAnd);
      // Straight up or down alone: the cross products cannot tell the two apart.
      if (sector.el0 == sector.el1 && std::fabs(sector.el0) == 90.0) {
        const double up = sector.el0 > 0.0 ? 1.0 : -1.0;
        emit(HalfSpace{{0.0, 0.0, up}, -up * sector.center[2]});
        combine(PredicateOp::Code::kAnd);
      }
    }
  }

  void emit(const Polygon& polygon) {
    for (const auto& ring : polygon.rings) {
      for (const Polygon::Vertex& v : ring) {
        if (!(std::fabs(v.x) <= 1e140) || !(std::fabs(v.y) <= 1e140)) {
          throw InvalidArgument("a vertex of a polygon must be finite and at most 1e140");
        }
      }
    }
    if (on_lattice() && emit_lattice_polygon(polygon)) return;
    std::vector<WorldEdge> edges;
    for_each_edge(polygon, [&edges](const Polygon::Vertex& a, const Polygon::Vertex& b) {
      if (a.y == b.y) return;
      edges.push_back(a.y < b.y ? WorldEdge{a.x, a.y, b.x, b.y} : WorldEdge{b.x, b.y, a.x, a.y});
    });
    add_edges(program_, push_world(PredicateOp::Code::kWorldPolygon), edges);
  }

  template <typename VisitorT>
  static void for_each_edge(const Polygon& polygon, VisitorT visit) {
    for (const auto& ring : polygon.rings) {
      for (std::size_t i = 0; i < ring.size(); ++i) visit(ring[i], ring[(i + 1) % ring.size()]);
    }
  }

  /// Vertices and lattice points as integers of one decimal unit per axis.
  /// \return false where they need more than 62 bits; the program is then unchanged
  bool emit_lattice_polygon(const Polygon& polygon) {
    std::int64_t slope[2];
    std::int64_t shift[2];
    int unit[2];
    const auto narrow = [](int128 value) {
      constexpr int128 kLimit = int128{1} << 62;
      if (value >= kLimit || value <= -kLimit) throw Unsupported("beyond 62 bits");
      return static_cast<std::int64_t>(value);
    };
    std::vector<LatticeEdge> edges;
    try {
      for (int d = 0; d < 2; ++d) {
        const Decimal scale = Decimal::of(frame_.scale[d]);
        const Decimal offset = Decimal::of(frame_.offset[d]);
        unit[d] = std::min(scale.exponent, offset.digits == 0 ? scale.exponent : offset.exponent);
        for (const auto& ring : polygon.rings) {
          for (const Polygon::Vertex& v : ring) {
            const Decimal at = Decimal::of(d == 0 ? v.x : v.y);
            if (at.digits != 0) unit[d] = std::min(unit[d], at.exponent);
          }
        }
        slope[d] = narrow(scale.digits_at(unit[d]));
        shift[d] = narrow(offset.digits_at(unit[d]));
        const int128 size = slope[d] < 0 ? -static_cast<int128>(slope[d]) : slope[d];
        narrow(size * (int128{1} << 31) + (shift[d] < 0 ? -static_cast<int128>(shift[d]) : shift[d]));
      }
      for_each_edge(polygon, [&](const Polygon::Vertex& a, const Polygon::Vertex& b) {
        LatticeEdge edge{};
        edge.x0 = narrow(Decimal::of(a.x).digits_at(unit[0]));
        edge.y0 = narrow(Decimal::of(a.y).digits_at(unit[1]));
        edge.x1 = narrow(Decimal::of(b.x).digits_at(unit[0]));
        edge.y1 = narrow(Decimal::of(b.y).digits_at(unit[1]));
        if (edge.y0 == edge.y1) return;
        if (edge.y0 > edge.y1) {
          std::swap(edge.x0, edge.x1);
          std::swap(edge.y0, edge.y1);
        }
        edges.push_back(edge);
      });
    } catch (const Unsupported&) {
      return false;
    }
    PredicateOp& op = push(PredicateOp::Code::kLatticePolygon, 1);
    op.integers[0] = slope[0];
    op.integers[1] = shift[0];
    op.integers[2] = slope[1];
    op.integers[3] = shift[1];
    add_edges(program_, op, edges);
    return true;
  }

  /// A field as an operand, and the step and shift by which stored integers mean real numbers (step 0: as stored).
  struct Resolved {
    Operand stored{};
    Operand real{};
    double step = 0.0;
    double shift = 0.0;
  };

  Resolved resolve(const std::string& name) {
    Resolved out;
    for (std::uint32_t d = 0; d < 3; ++d) {
      const char axis[2] = {static_cast<char>('x' + d), '\0'};
      if (!same_name(name, axis)) continue;
      out.real.kind = Operand::Kind::kWorldAxis;
      out.real.index = d;
      out.stored = out.real;
      if (on_lattice()) {
        out.stored.kind = Operand::Kind::kRawAxis;
        out.step = frame_.scale[d];
        out.shift = frame_.offset[d];
      }
      return out;
    }
    const Field* field = schema_.find(name);
    if (field == nullptr) {
      std::string known;
      for (const Field& f : schema_.fields) known += (known.empty() ? "" : ", ") + f.name;
      throw InvalidArgument("there is no field '" + name + "'; fields are " + known);
    }
    std::uint32_t slot = 0;
    while (slot < program_.columns.size() && program_.columns[slot] != field->name) ++slot;
    if (slot == program_.columns.size()) program_.columns.push_back(field->name);
    out.stored.kind = Operand::Kind::kColumn;
    out.stored.index = slot;
    out.real = out.stored;
    if (field->scaled) {
      out.real.kind = Operand::Kind::kScaledColumn;
      out.real.scale = field->scale;
      out.real.shift = field->shift;
      const bool whole = field->type != FieldType::kFloat32 && field->type != FieldType::kFloat64;
      if (whole && std::isfinite(field->scale) && field->scale != 0.0 && std::isfinite(field->shift)) {
        out.step = field->scale;
        out.shift = field->shift;
      } else {
        out.stored = out.real;
      }
    }
    return out;
  }

  static Operand constant(const Value& value) {
    Operand out{};
    out.kind = Operand::Kind::kConstant;
    out.constant = value;
    return out;
  }

  void push_compare(const Operand& left, Comparison comparison, const Operand& right) {
    for (const Operand* side : {&left, &right}) {
      if (side->kind == Operand::Kind::kWorldAxis && on_lattice()) program_.needs_world = true;
    }
    PredicateOp& op = push(PredicateOp::Code::kCompare, 1);
    op.operands[0] = left;
    op.operands[1] = right;
    op.comparison = comparison;
  }

  void emit_against_number(const Resolved& field, Comparison comparison, const Value& number) {
    if (field.step == 0.0) {
      push_compare(field.stored, comparison, constant(number));
      return;
    }
    if (is_nan(number)) {
      emit_constant(comparison == Comparison::kNotEqual);
      return;
    }
    const LatticeBound bound = bound_of(number, field);
    if (!bound.on_step && (comparison == Comparison::kEqual || comparison == Comparison::kNotEqual)) {
      emit_constant(comparison == Comparison::kNotEqual);
      return;
    }
    if (field.step < 0.0) comparison = detail::mirrored(comparison);
    // Between two lattice numbers "below" means the lower one or less, "above" the upper one or more.
    const bool upper = comparison == Comparison::kLess || comparison == Comparison::kGreaterEqual;
    push_compare(field.stored, comparison, constant(stored_number(upper ? bound.ceiling : bound.floor)));
  }

  static bool is_nan(const Value& value) { return value.kind == Value::Kind::kReal && value.r != value.r; }

  /// Whole numbers are taken as they are, as a double may not hold them.
  static LatticeBound bound_of(const Value& number, const Resolved& field) {
    try {
      if (number.kind == Value::Kind::kSigned) {
        return lattice_bound(Decimal{number.i, 0}.normalized(), field.step, field.shift);
      }
      if (number.kind == Value::Kind::kUnsigned) {
        return lattice_bound(Decimal{static_cast<int128>(number.u), 0}.normalized(), field.step, field.shift);
      }
    } catch (const Unsupported&) {
      return detail::rounded_bound(number.as_real(), field.step, field.shift);
    }
    return lattice_bound(number.r, field.step, field.shift);
  }

  /// A number to compare stored integers with; one that none of them can reach is as good as infinite.
  static Value stored_number(int128 n) {
    if (n >= INT64_MIN && n <= INT64_MAX) return Value::of_signed(static_cast<std::int64_t>(n));
    if (n > 0 && n <= static_cast<int128>(UINT64_MAX)) return Value::of_unsigned(static_cast<std::uint64_t>(n));
    return Value::of_real(n > 0 ? kInfinity : -kInfinity);
  }

  void emit(const Expression& expression) {
    switch (expression.kind) {
      case Expression::Kind::kCompare:
        emit_compare(expression);
        return;
      case Expression::Kind::kInSet:
        emit_set(expression);
        return;
      case Expression::Kind::kNot:
        if (expression.children.size() != 1) throw InvalidArgument("a negation has one condition");
        emit(expression.children.front());
        push(PredicateOp::Code::kNot, 0);
        return;
      case Expression::Kind::kAnd:
      case Expression::Kind::kOr: {
        const bool conjunction = expression.kind == Expression::Kind::kAnd;
        if (expression.children.empty()) emit_constant(conjunction);
        for (std::size_t i = 0; i < expression.children.size(); ++i) {
          emit(expression.children[i]);
          if (i != 0) combine(conjunction ? PredicateOp::Code::kAnd : PredicateOp::Code::kOr);
        }
        return;
      }
    }
  }

  void emit_compare(const Expression& expression) {
    const Term& left = expression.left;
    const Term& right = expression.right;
    if (!left.is_field && !right.is_field) {
      emit_constant(detail::holds(expression.comparison, compare(left.number, right.number)));
    } else if (left.is_field && right.is_field) {
      const Operand a = resolve(left.field).real;
      const Operand b = resolve(right.field).real;
      push_compare(a, expression.comparison, b);
    } else if (left.is_field) {
      emit_against_number(resolve(left.field), expression.comparison, right.number);
    } else {
      emit_against_number(resolve(right.field), detail::mirrored(expression.comparison), left.number);
    }
  }

  void emit_set(const Expression& expression) {
    if (!expression.left.is_field) throw InvalidArgument("the left side of 'in' must be a field");
    const Resolved field = resolve(expression.left.field);
    std::vector<Value> values;
    for (const Value& value : expression.set) {
      if (is_nan(value)) continue;
      if (field.step == 0.0) {
        values.push_back(value);
        continue;
      }
      const LatticeBound bound = bound_of(value, field);
      if (bound.on_step) values.push_back(stored_number(bound.floor));
    }
    std::sort(values.begin(), values.end(),
              [](const Value& a, const Value& b) { return compare(a, b) == Ordering::kLess; });
    if (field.stored.kind == Operand::Kind::kWorldAxis && on_lattice()) program_.needs_world = true;
    PredicateOp& op = push(PredicateOp::Code::kInSet, 1);
    op.operands[0] = field.stored;
    op.first = static_cast<std::uint32_t>(program_.values.size());
    op.count = static_cast<std::uint32_t>(values.size());
    program_.values.insert(program_.values.end(), values.begin(), values.end());
  }

  const Schema& schema_;
  const CoordinateFrame& frame_;
  PredicateProgram program_;
  int depth_ = 0;
};

/// The program of a selection for clouds of one layout. `Selection::every` is not part of it: it counts what a program
/// kept.
/// \throws InvalidArgument for an unknown field or a region that makes no sense
inline PredicateProgram build_predicate(const Selection& selection, const Schema& schema,
                                        const CoordinateFrame& frame) {
  return PredicateBuilder(schema, frame).build(selection);
}

}  // namespace sluice
