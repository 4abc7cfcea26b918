// SPDX-License-Identifier: Apache-2.0
/// \file
/// Whether a box may hold points of some regions, for leaving out parts of a cloud whose bounds are known.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sluice/core/point_view.hpp"
#include "sluice/core/predicate_builder.hpp"
#include "sluice/core/region.hpp"

namespace sluice {

namespace detail {

/// Far more than rounding costs, and far less than any distance that matters.
inline constexpr double kReachTolerance = 0x1p-40;

/// The range of one coordinate relative to a centre. Bounds are rounded like a point's own coordinate, and rounding
/// never turns an order round, so that what is computed from a point lies between what is computed from these.
struct Spread {
  double low;
  double high;

  /// Least and greatest of factor * coordinate.
  [[nodiscard]] double least(double factor) const { return factor * (factor > 0.0 ? low : high); }
  [[nodiscard]] double most(double factor) const { return factor * (factor > 0.0 ? high : low); }
  [[nodiscard]] double least_square() const {
    const double gap = std::max({low, -high, 0.0});
    return gap * gap;
  }
  [[nodiscard]] double most_square() const {
    const double reach = std::max(std::fabs(low), std::fabs(high));
    return reach * reach;
  }
};

/// The edges of a polygon, for boxes instead of points.
class Outline {
 public:
  explicit Outline(const Polygon& polygon) {
    for (const auto& ring : polygon.rings) {
      for (std::size_t i = 0; i < ring.size(); ++i) edges_.push_back({ring[i], ring[(i + 1) % ring.size()]});
    }
    for (std::size_t first = 0; first < edges_.size(); first += kTogether) {
      Bounds bounds = bounds_of(edges_[first]);
      for (std::size_t i = first; i < std::min(first + kTogether, edges_.size()); ++i) {
        const Bounds one = bounds_of(edges_[i]);
        bounds = {std::min(bounds.x0, one.x0), std::min(bounds.y0, one.y0), std::max(bounds.x1, one.x1),
                  std::max(bounds.y1, one.y1)};
      }
      blocks_.push_back(bounds);
    }
  }

  /// True where an edge meets the box, or the box lies inside.
  [[nodiscard]] bool reaches(const Box& box) const {
    bool inside = false;
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      if (!concerns(blocks_[block], box)) continue;
      const std::size_t end = std::min((block + 1) * kTogether, edges_.size());
      for (std::size_t i = block * kTogether; i < end; ++i) {
        const Bounds bounds = bounds_of(edges_[i]);
        if (!concerns(bounds, box)) continue;
        const bool right = bounds.x0 > box.max[0];
        int side = 1;  // of the edge, run upwards, that the box lies on; 1 is left
        if (!right) {
          side = side_of(edges_[i], box);
          if (side == 0) return true;
        }
        // Even-odd for the lower left corner: no edge is near it, so that any corner would tell the same.
        if (side > 0 && bounds.y0 <= box.min[1] && box.min[1] < bounds.y1) inside = !inside;
      }
    }
    return inside;
  }

 private:
  struct Edge {
    Polygon::Vertex a, b;
  };
  struct Bounds {
    double x0, y0, x1, y1;
  };
  /// Consecutive edges are near each other: so many are passed over at a time.
  static constexpr std::size_t kTogether = 64;

  static Bounds bounds_of(const Edge& e) {
    return {std::min(e.a.x, e.b.x), std::min(e.a.y, e.b.y), std::max(e.a.x, e.b.x), std::max(e.a.y, e.b.y)};
  }

  /// False for what lies above, below or left of the box.
  static bool concerns(const Bounds& bounds, const Box& box) {
    return !(bounds.y1 < box.min[1]) && !(bounds.y0 > box.max[1]) && !(bounds.x1 < box.min[0]);
  }

  /// On which side of an edge, run upwards, the whole box lies: 1 left, -1 right, 0 on none for sure.
  static int side_of(const Edge& edge, const Box& box) {
    const Polygon::Vertex& from = edge.a.y <= edge.b.y ? edge.a : edge.b;
    const Polygon::Vertex& to = edge.a.y <= edge.b.y ? edge.b : edge.a;
    const double dx = to.x - from.x;
    const double dy = to.y - from.y;
    const double size =
        std::max({std::fabs(from.x), std::fabs(from.y), std::fabs(to.x), std::fabs(to.y), std::fabs(box.min[0]),
                  std::fabs(box.max[0]), std::fabs(box.min[1]), std::fabs(box.max[1])});
    const double doubt = kReachTolerance * size * (std::fabs(dx) + dy);
    int side = 0;
    for (int corner = 0; corner < 4; ++corner) {
      const double x = (corner & 1) != 0 ? box.max[0] : box.min[0];
      const double y = (corner & 2) != 0 ? box.max[1] : box.min[1];
      const double turn = dx * (y - from.y) - dy * (x - from.x);
      const int here = turn > doubt ? 1 : turn < -doubt ? -1 : 0;
      if (here == 0 || (corner != 0 && here != side)) return 0;
      side = here;
    }
    return side;
  }

  std::vector<Edge> edges_;
  std::vector<Bounds> blocks_;
};

/// Whether an operation on world coordinates may hold for some point of a box.
inline bool may_hold(const PredicateOp& op, const Box& box) {
  // A NaN, which comes of overflow, is never a reason to say no.
  const double* r = op.reals;
  const auto around = [&](int d) { return Spread{box.min[d] - r[d], box.max[d] - r[d]}; };
  switch (op.code) {
    case PredicateOp::Code::kWorldBox:
      for (int d = 0; d < 3; ++d) {
        if (box.max[d] < r[d] || box.min[d] > r[3 + d]) return false;
      }
      return true;
    case PredicateOp::Code::kOrientedBox: {
      const Spread p[3] = {around(0), around(1), around(2)};
      for (int d = 0; d < 3; ++d) {
        const double* axis = r + 3 + 3 * d;
        const double least = (p[0].least(axis[0]) + p[1].least(axis[1])) + p[2].least(axis[2]);
        const double most = (p[0].most(axis[0]) + p[1].most(axis[1])) + p[2].most(axis[2]);
        if (least > r[12 + d] || most < -r[12 + d]) return false;
        // How far the turned box goes along the world's axis.
        double reach = kReachTolerance * (r[12] + r[13] + r[14]);
        for (int i = 0; i < 3; ++i) reach += std::fabs(r[3 + 3 * i + d]) * r[12 + i];
        if (p[d].low > reach || p[d].high < -reach) return false;
      }
      return true;
    }
    case PredicateOp::Code::kSphere:
      return !((around(0).least_square() + around(1).least_square()) + around(2).least_square() > r[3]);
    case PredicateOp::Code::kDisc:
      return !(around(0).least_square() + around(1).least_square() > r[2]);
    case PredicateOp::Code::kRing:
      return !((around(0).least_square() + around(1).least_square()) + around(2).least_square() > r[4]) &&
             !((around(0).most_square() + around(1).most_square()) + around(2).most_square() < r[3]);
    case PredicateOp::Code::kHalfSpace: {
      const Spread p[3] = {{box.min[0], box.max[0]}, {box.min[1], box.max[1]}, {box.min[2], box.max[2]}};
      return !(((p[0].most(r[0]) + p[1].most(r[1])) + p[2].most(r[2])) + r[3] < 0.0);
    }
    case PredicateOp::Code::kAzimuth: {
      const Spread x = around(0);
      const Spread y = around(1);
      const bool after_first = !(y.most(r[3]) - x.least(r[4]) < 0.0);
      const bool before_last = !(x.most(r[6]) - y.least(r[5]) < 0.0);
      if (op.flag) return after_first || before_last;
      const bool same_side = op.count == 0 || !(x.most(r[3]) + y.most(r[4]) < 0.0);
      return after_first && before_last && same_side;
    }
    case PredicateOp::Code::kElevation: {
      const Spread z = around(2);
      const Spread level{std::sqrt(around(0).least_square() + around(1).least_square()),
                         std::sqrt(around(0).most_square() + around(1).most_square())};
      return !(z.most(r[3]) - level.least(r[4]) < 0.0) && !(level.most(r[6]) - z.least(r[5]) < 0.0);
    }
    default:
      return true;
  }
}

}  // namespace detail

/// Tells boxes that may hold points of some regions from those that surely do not. Immutable; any thread.
class RegionReach {
 public:
  /// \param frame  of the cloud: on a lattice a bound of a box means the nearest step
  /// \throws InvalidArgument for a region that makes no sense
  RegionReach(const std::vector<Region>& regions, const CoordinateFrame& frame) : all_(regions.empty()) {
    if (frame.kind == CoordinateKind::kLattice) {
      for (int d = 0; d < 3; ++d) step_[d] = std::fabs(frame.scale[d]);
    }
    Selection others;
    for (const Region& region : regions) {
      if (const auto* polygon = std::get_if<Polygon>(&region)) {
        outlines_.emplace_back(*polygon);
      } else {
        others.regions.push_back(region);
      }
    }
    CoordinateFrame world;
    world.kind = CoordinateKind::kFloat64;
    program_ = build_predicate(others, Schema{}, world);
  }

  /// \param box  closed, in world coordinates
  /// \return false only where `evaluate` keeps no point of the box; true without regions, and where a bound is not
  /// finite
  [[nodiscard]] bool reaches(const Box& box) const {
    if (all_) return true;
    Box grown = box;
    for (int d = 0; d < 3; ++d) {
      if (!is_finite(box.min[d]) || !is_finite(box.max[d])) return true;
      // A world coordinate is rounded, and what the regions see of a lattice point may be the number itself.
      const double more = step_[d] + detail::kReachTolerance * std::max(std::fabs(box.min[d]), std::fabs(box.max[d]));
      grown.min[d] -= more;
      grown.max[d] += more;
    }
    for (const detail::Outline& outline : outlines_) {
      if (outline.reaches(grown)) return true;
    }
    std::uint64_t stack = 0;
    for (const PredicateOp& op : program_.ops) {
      if (op.code == PredicateOp::Code::kAnd) {
        stack = (stack >> 1) & (stack | ~std::uint64_t{1});
      } else if (op.code == PredicateOp::Code::kOr) {
        stack = (stack >> 1) | (stack & 1);
      } else {
        stack = (stack << 1) | (detail::may_hold(op, grown) ? 1U : 0U);
      }
    }
    return (stack & 1) != 0;
  }

 private:
  bool all_;
  double step_[3] = {0.0, 0.0, 0.0};
  PredicateProgram program_;  ///< of all regions but polygons
  std::vector<detail::Outline> outlines_;
};

}  // namespace sluice
