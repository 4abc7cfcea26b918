// SPDX-License-Identifier: Apache-2.0
/// \file
/// Predicate programs: which points are kept. A program is a postfix list of operations over one point's position and
/// attributes; one evaluator runs it on host and device, so that both decide every point alike. Programs are made by
/// `predicate_builder.hpp`.
///
/// Regions are closed: a point on a face or at distance exactly r is inside. Polygons alone are half-open: of two that
/// share an edge exactly one holds a point on it. A point with a coordinate that is not finite is never kept.
#pragma once

#include <cstdint>

#include "sluice/core/exact_orientation.hpp"
#include "sluice/core/hd.hpp"
#include "sluice/core/random.hpp"
#include "sluice/core/types.hpp"

namespace sluice {

/// What became of a point.
enum class Verdict : std::uint8_t {
  kRejected = 0,
  kKept = 1,
  kNonFinite = 2,  ///< not finite, or exactly zero where zeros count as no-returns
};

enum class Comparison : std::uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

/// One side of a comparison.
struct Operand {
  enum class Kind : std::uint8_t {
    kConstant,
    kColumn,        ///< the stored value
    kScaledColumn,  ///< stored * scale + shift, as a double
    kRawAxis,       ///< lattice number of x, y or z
    kWorldAxis,     ///< world coordinate
  };
  Value constant;
  double scale;
  double shift;
  std::uint32_t index;  ///< column slot or axis
  Kind kind;
};

/// One operation of a program.
struct PredicateOp {
  enum class Code : std::uint8_t {
    kConstant,        ///< first != 0
    kLatticeBox,      ///< integers[0..2] <= raw <= integers[3..5]
    kWorldBox,        ///< reals[0..2] <= world <= reals[3..5]
    kOrientedBox,     ///< |axis . (p - centre)| <= half: centre 0..2, unit axes 3..11, half lengths 12..14
    kSphere,          ///< centre 0..2, squared radius 3
    kDisc,            ///< centre 0..1, squared radius 2; z is free
    kRing,            ///< centre 0..2, squared radii 3 <= d2 <= 4
    kHalfSpace,       ///< ((n0*x + n1*y) + n2*z) + d >= 0
    kAzimuth,         ///< apex 0..2, first direction 3..4, last 5..6; flag: over half a turn; count: under a quarter
    kElevation,       ///< apex 0..2, lower direction 3..4 (cosine, sine), upper 5..6
    kLatticePolygon,  ///< p = integers[0,2] * raw + integers[1,3] in decimal units; box 4..7, band height 2^integers[8]
    kWorldPolygon,    ///< box 0..3, bands per unit of y 4
    kCompare,         ///< left `comparison` right
    kInSet,           ///< left is one of values[first..first+count], which ascend
    kFraction,        ///< counter_random(seed = first|count, index) < integers[0] as unsigned
    kAnd,
    kOr,
    kNot,
  };
  union {
    std::int64_t integers[9];
    double reals[15];
    Operand operands[2];
  };
  std::uint32_t first;
  std::uint32_t count;
  Code code;
  Comparison comparison;
  bool flag;
};

// The edges of a polygon are listed by bands of y: band b of `count` has the edges bands[first + b] up to
// bands[first + b + 1] of the program, which are all that may pass a point with a y in that band. An edge is in each
// band that it touches, hence more than once where it is long. The box of the edges is x0, y0, x1, y1: half-open, as
// no point beyond it, or on its upper sides, has an odd number of edges to its right.

/// Edge of a polygon on a lattice, lower end first, in decimal units; |values| < 2^62.
struct LatticeEdge {
  std::int64_t x0, y0, x1, y1;
};

/// Edge of a polygon in world units, lower end first.
struct WorldEdge {
  double x0, y0, x1, y1;
};

/// A program whose tables lie in memory that the evaluator can reach.
struct PredicateView {
  const PredicateOp* ops = nullptr;
  std::uint32_t op_count = 0;
  const LatticeEdge* lattice_edges = nullptr;
  const WorldEdge* world_edges = nullptr;
  const std::uint32_t* bands = nullptr;
  const Value* values = nullptr;
  const Column* columns = nullptr;   ///< one per slot
  bool needs_world = false;          ///< some operation reads world coordinates of a lattice cloud
  bool drop_zero = false;            ///< points at exactly (0,0,0) count as non-finite
  bool zero_exists = false;          ///< lattice: some lattice point is exactly zero,
  std::int32_t zero[3] = {0, 0, 0};  ///< namely this one
};

/// Deepest stack of truth values that a program may need.
inline constexpr int kMaxPredicateDepth = 64;

namespace detail {

/// The comparison with its sides exchanged: a < b is b > a.
SLUICE_HD Comparison mirrored(Comparison comparison) {
  switch (comparison) {
    case Comparison::kLess:
      return Comparison::kGreater;
    case Comparison::kLessEqual:
      return Comparison::kGreaterEqual;
    case Comparison::kGreater:
      return Comparison::kLess;
    case Comparison::kGreaterEqual:
      return Comparison::kLessEqual;
    default:
      return comparison;
  }
}

SLUICE_HD bool holds(Comparison comparison, Ordering order) {
  switch (comparison) {
    case Comparison::kEqual:
      return order == Ordering::kEqual;
    case Comparison::kNotEqual:
      return order != Ordering::kEqual;
    case Comparison::kLess:
      return order == Ordering::kLess;
    case Comparison::kLessEqual:
      return order == Ordering::kLess || order == Ordering::kEqual;
    case Comparison::kGreater:
      return order == Ordering::kGreater;
    default:
      return order == Ordering::kGreater || order == Ordering::kEqual;
  }
}

SLUICE_HD Value read_operand(const Operand& operand, const PredicateView& program, const Position& position,
                             std::uint64_t row) {
  switch (operand.kind) {
    case Operand::Kind::kConstant:
      return operand.constant;
    case Operand::Kind::kColumn:
      return program.columns[operand.index].at(row);
    case Operand::Kind::kScaledColumn: {
      const double product = program.columns[operand.index].at(row).as_real() * operand.scale;
      return Value::of_real(product + operand.shift);
    }
    case Operand::Kind::kRawAxis:
      return Value::of_signed(position.raw[operand.index]);
    default:
      return Value::of_real(position.world[operand.index]);
  }
}

SLUICE_HD bool in_set(const Value* values, std::uint32_t count, const Value& wanted) {
  std::uint32_t low = 0;
  std::uint32_t high = count;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    switch (compare(values[middle], wanted)) {
      case Ordering::kEqual:
        return true;
      case Ordering::kLess:
        low = middle + 1;
        break;
      case Ordering::kGreater:
        high = middle;
        break;
      default:
        return false;
    }
  }
  return false;
}

/// Even-odd over some edges: one counts when its half-open range of y holds the point and it passes right of it.
SLUICE_HD bool in_polygon(const LatticeEdge* edges, std::uint32_t count, std::int64_t px, std::int64_t py) {
  bool inside = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const LatticeEdge& e = edges[i];
    if (py < e.y0 || py >= e.y1) continue;
    if (px < e.x0 && px < e.x1) {
      inside = !inside;
    } else if (px < e.x0 || px < e.x1) {
      const int128 at_edge = static_cast<int128>(e.x1 - e.x0) * (py - e.y0);
      const int128 at_point = static_cast<int128>(px - e.x0) * (e.y1 - e.y0);
      if (at_edge > at_point) inside = !inside;
    }
  }
  return inside;
}

SLUICE_HD bool in_polygon(const WorldEdge* edges, std::uint32_t count, double px, double py) {
  bool inside = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const WorldEdge& e = edges[i];
    if (py < e.y0 || py >= e.y1) continue;
    if (px < e.x0 && px < e.x1) {
      inside = !inside;
    } else if (px < e.x0 || px < e.x1) {
      // The point is left of an edge that runs upwards where the three turn counter-clockwise.
      if (exact_orientation(e.x0, e.y0, e.x1, e.y1, px, py) > 0) inside = !inside;
    }
  }
  return inside;
}

/// Which band of its polygon a y of the box belongs to. Never falls as y grows, and is computed alike for points and
/// for the ends of edges, so that an edge whose range of y holds a point's is listed in the point's band.
SLUICE_HD std::uint32_t band_of(const PredicateOp& polygon, std::int64_t y) {
  return static_cast<std::uint32_t>((y - polygon.integers[5]) >> polygon.integers[8]);
}

SLUICE_HD std::uint32_t band_of(const PredicateOp& polygon, double y) {
  const auto band = static_cast<std::uint32_t>((y - polygon.reals[1]) * polygon.reals[4]);
  return band < polygon.count ? band : polygon.count - 1;
}

/// Of edges in bands; `box` is that of `polygon`.
template <typename EdgeT, typename CoordinateT>
SLUICE_HD bool in_polygon(const PredicateOp& polygon, const CoordinateT* box, const EdgeT* edges,
                          const std::uint32_t* bands, CoordinateT px, CoordinateT py) {
  if (px < box[0] || px >= box[2] || py < box[1] || py >= box[3]) return false;
  const std::uint32_t* band = bands + polygon.first + band_of(polygon, py);
  return in_polygon(edges + band[0], band[1] - band[0], px, py);
}

SLUICE_HD bool evaluate_op(const PredicateOp& op, const PredicateView& program, const Position& position,
                           std::uint64_t row, std::uint64_t index) {
  const double* r = op.reals;
  const double* p = position.world;
  switch (op.code) {
    case PredicateOp::Code::kConstant:
      return op.first != 0;
    case PredicateOp::Code::kLatticeBox:
      return position.raw[0] >= op.integers[0] && position.raw[0] <= op.integers[3] &&
             position.raw[1] >= op.integers[1] && position.raw[1] <= op.integers[4] &&
             position.raw[2] >= op.integers[2] && position.raw[2] <= op.integers[5];
    case PredicateOp::Code::kWorldBox:
      return p[0] >= r[0] && p[0] <= r[3] && p[1] >= r[1] && p[1] <= r[4] && p[2] >= r[2] && p[2] <= r[5];
    case PredicateOp::Code::kOrientedBox: {
      const double dx = p[0] - r[0];
      const double dy = p[1] - r[1];
      const double dz = p[2] - r[2];
      for (int d = 0; d < 3; ++d) {
        const double along = (r[3 + 3 * d] * dx + r[4 + 3 * d] * dy) + r[5 + 3 * d] * dz;
        if (!(along <= r[12 + d] && along >= -r[12 + d])) return false;
      }
      return true;
    }
    case PredicateOp::Code::kSphere: {
      const double dx = p[0] - r[0];
      const double dy = p[1] - r[1];
      const double dz = p[2] - r[2];
      return (dx * dx + dy * dy) + dz * dz <= r[3];
    }
    case PredicateOp::Code::kDisc: {
      const double dx = p[0] - r[0];
      const double dy = p[1] - r[1];
      return dx * dx + dy * dy <= r[2];
    }
    case PredicateOp::Code::kRing: {
      const double dx = p[0] - r[0];
      const double dy = p[1] - r[1];
      const double dz = p[2] - r[2];
      const double d2 = (dx * dx + dy * dy) + dz * dz;
      return d2 >= r[3] && d2 <= r[4];
    }
    case PredicateOp::Code::kHalfSpace:
      return ((r[0] * p[0] + r[1] * p[1]) + r[2] * p[2]) + r[3] >= 0.0;
    case PredicateOp::Code::kAzimuth: {
      const double dx = p[0] - r[0];
      const double dy = p[1] - r[1];
      const bool after_first = r[3] * dy - r[4] * dx >= 0.0;
      const bool before_last = dx * r[6] - dy * r[5] >= 0.0;
      if (op.flag) return after_first || before_last;
      // Narrow sectors must not take in the ray opposite to them, which lies in both half-planes when the two
      // directions are the same.
      const bool same_side = op.count == 0 || r[3] * dx + r[4] * dy >= 0.0;
      return after_first && before_last && same_side;
    }
    case PredicateOp::Code::kElevation: {
      const double dx = p[0] - r[0];
      const double dy = p[1] - r[1];
      const double dz = p[2] - r[2];
      const double level = sqrt(dx * dx + dy * dy);
      return r[3] * dz - r[4] * level >= 0.0 && level * r[6] - dz * r[5] >= 0.0;
    }
    case PredicateOp::Code::kLatticePolygon:
      return in_polygon(op, op.integers + 4, program.lattice_edges, program.bands,
                        op.integers[0] * position.raw[0] + op.integers[1],
                        op.integers[2] * position.raw[1] + op.integers[3]);
    case PredicateOp::Code::kWorldPolygon:
      return in_polygon(op, op.reals, program.world_edges, program.bands, p[0], p[1]);
    case PredicateOp::Code::kCompare:
      return holds(op.comparison, compare(read_operand(op.operands[0], program, position, row),
                                          read_operand(op.operands[1], program, position, row)));
    case PredicateOp::Code::kInSet:
      return in_set(program.values + op.first, op.count, read_operand(op.operands[0], program, position, row));
    case PredicateOp::Code::kFraction:
      return counter_random(static_cast<std::uint64_t>(op.integers[1]), index) <
             static_cast<std::uint64_t>(op.integers[0]);
    default:
      return false;
  }
}

}  // namespace detail

/// Decides one point that is loaded already; its world coordinates are completed where the program needs them.
/// \param program    its tables and columns must be reachable where this runs
/// \param positions  kind, scale and offset of the cloud; its memory is not read
/// \param position   as `load_position` leaves it
/// \param row        which point of the columns
/// \param index      number of the point in the whole input, for random choices
SLUICE_HD Verdict evaluate(const PredicateView& program, const Positions& positions, Position position,
                           std::uint64_t row, std::uint64_t index) {
  if (positions.kind == CoordinateKind::kLattice) {
    if (program.drop_zero && program.zero_exists && position.raw[0] == program.zero[0] &&
        position.raw[1] == program.zero[1] && position.raw[2] == program.zero[2]) {
      return Verdict::kNonFinite;
    }
    if (program.needs_world) complete_world(positions, position);
  } else {
    const double* p = position.world;
    if (!is_finite(p[0]) || !is_finite(p[1]) || !is_finite(p[2])) return Verdict::kNonFinite;
    if (program.drop_zero && p[0] == 0.0 && p[1] == 0.0 && p[2] == 0.0) return Verdict::kNonFinite;
  }
  std::uint64_t stack = 1;  // an empty program keeps everything
  for (std::uint32_t i = 0; i < program.op_count; ++i) {
    const PredicateOp& op = program.ops[i];
    switch (op.code) {
      case PredicateOp::Code::kAnd:
        stack = (stack >> 1) & (stack | ~std::uint64_t{1});
        break;
      case PredicateOp::Code::kOr:
        stack = (stack >> 1) | (stack & 1);
        break;
      case PredicateOp::Code::kNot:
        stack ^= 1;
        break;
      default:
        stack = (stack << 1) | (detail::evaluate_op(op, program, position, row, index) ? 1U : 0U);
        break;
    }
  }
  return (stack & 1) != 0 ? Verdict::kKept : Verdict::kRejected;
}

/// Loads and decides point `row` of `positions`; otherwise as above.
SLUICE_HD Verdict evaluate(const PredicateView& program, const Positions& positions, std::uint64_t row,
                           std::uint64_t index) {
  return evaluate(program, positions, load_position(positions, row), row, index);
}

}  // namespace sluice
