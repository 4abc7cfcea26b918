// SPDX-License-Identifier: Apache-2.0
#include "sluice/core/polygon_bands.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sluice/core/predicate_builder.hpp"
#include "support/predicates.hpp"

namespace sluice {
namespace {

using Random = std::mt19937_64;

template <typename T>
struct Vertex {
  T x, y;
};

template <typename T>
using Rings = std::vector<std::vector<Vertex<T>>>;

using Numbers = Rings<std::int64_t>;

std::int64_t number_below(Random& random, std::int64_t end) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
}

int turn(const Vertex<std::int64_t>& a, const Vertex<std::int64_t>& b, const Vertex<std::int64_t>& p) {
  const int128 left = static_cast<int128>(b.x - a.x) * (p.y - a.y);
  const int128 right = static_cast<int128>(b.y - a.y) * (p.x - a.x);
  return left > right ? 1 : left < right ? -1 : 0;
}

int turn(const Vertex<double>& a, const Vertex<double>& b, const Vertex<double>& p) {
  return exact_orientation(a.x, a.y, b.x, b.y, p.x, p.y);
}

/// Even-odd over every edge of every ring.
template <typename T>
bool inside_all_edges(const Rings<T>& rings, const Vertex<T>& p) {
  bool inside = false;
  for (const auto& ring : rings) {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const Vertex<T>& a = ring[i];
      const Vertex<T>& b = ring[(i + 1) % ring.size()];
      if ((a.y <= p.y) == (b.y <= p.y)) continue;
      // Beside an edge no product is needed, which may underflow.
      if (p.x < std::min(a.x, b.x)) inside = !inside;
      if (p.x < std::min(a.x, b.x) || p.x >= std::max(a.x, b.x)) continue;
      const bool left = a.y < b.y ? turn(a, b, p) > 0 : turn(b, a, p) > 0;
      if (left) inside = !inside;
    }
  }
  return inside;
}

enum class Shape { kStar, kScatter, kStairs, kZigzag, kCoarse, kFlat };
constexpr Shape kShapes[] = {Shape::kStar,   Shape::kScatter, Shape::kStairs,
                             Shape::kZigzag, Shape::kCoarse,  Shape::kFlat};

/// A ring of whole numbers in 0 .. size.
std::vector<Vertex<std::int64_t>> ring_of(Shape shape, std::int64_t n, std::int64_t size, Random& random) {
  std::vector<Vertex<std::int64_t>> out;
  const auto half = static_cast<double>(size) / 2;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto along =
        static_cast<std::int64_t>(static_cast<double>(size) * (static_cast<double>(i) / static_cast<double>(n)));
    switch (shape) {
      case Shape::kStar: {
        const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
        const double radius = half * (0.7 + 0.3 * static_cast<double>(random() % 1000) / 1000.0);
        out.push_back({static_cast<std::int64_t>(half + radius * std::cos(angle)),
                       static_cast<std::int64_t>(half + radius * std::sin(angle))});
        break;
      }
      case Shape::kScatter:
        out.push_back({number_below(random, size + 1), number_below(random, size + 1)});
        break;
      case Shape::kStairs:  // level and upright edges, and runs on one line
        out.push_back({i % 4 < 2 ? along : out.back().x, i % 3 == 0 || i == 0 ? along : out.back().y});
        break;
      case Shape::kZigzag:
        out.push_back({along, i % 2 == 0 ? number_below(random, 2) : size});
        break;
      case Shape::kCoarse: {  // corners that come again, and edges without length
        const std::int64_t step = std::max<std::int64_t>(1, size / 5);
        out.push_back({step * number_below(random, 6), step * number_below(random, 6)});
        break;
      }
      case Shape::kFlat:
        out.push_back({number_below(random, size + 1), size / 2 + (n % 2 == 0 ? 0 : number_below(random, 2))});
        break;
    }
  }
  return out;
}

/// One to three rings, `n` vertices in all but for rounding.
Numbers rings_of(Shape shape, std::int64_t n, std::int64_t size, Random& random) {
  const std::int64_t rings = n < 9 ? 1 : 1 + number_below(random, 3);
  Numbers out;
  for (std::int64_t i = 0; i < rings; ++i) out.push_back(ring_of(shape, n / rings, size, random));
  return out;
}

/// Points on and about vertices and edges, on the sides of the box and anywhere in it.
std::vector<Vertex<std::int64_t>> points_near(const Numbers& rings, std::int64_t size, Random& random) {
  std::vector<Vertex<std::int64_t>> out;
  const auto nudge = [&] { return number_below(random, 3) - 1; };
  for (int i = 0; i < 150; ++i) {
    const auto& ring = rings[random() % rings.size()];
    const std::size_t k = random() % ring.size();
    const Vertex<std::int64_t> a = ring[k];
    const Vertex<std::int64_t> b = ring[(k + 1) % ring.size()];
    out.push_back(a);
    out.push_back({a.x + nudge(), a.y + nudge()});
    out.push_back({a.x + (b.x - a.x) / 2 + nudge(), a.y + (b.y - a.y) / 2});
    out.push_back({number_below(random, size + 1), a.y + nudge()});
    out.push_back({number_below(random, size + 1), number_below(random, size + 1)});
  }
  for (const std::int64_t x : {std::int64_t{-1}, std::int64_t{0}, size - 1, size, size + 1}) {
    for (const std::int64_t y : {std::int64_t{-1}, std::int64_t{0}, size - 1, size, size + 1}) out.push_back({x, y});
  }
  return out;
}

constexpr std::int64_t kVertexCounts[] = {3, 4, 5, 15, 16, 17, 18, 33, 100, 1000, 5000};

/// digits * 10^-4 as the nearest double.
double decimal(std::int64_t digits) { return std::strtod((std::to_string(digits) + "e-4").c_str(), nullptr); }

template <typename T, typename ToDouble>
Polygon polygon_of(const Rings<T>& rings, ToDouble to_double) {
  Polygon out;
  for (const auto& ring : rings) {
    out.rings.emplace_back();
    for (const Vertex<T>& v : ring) out.rings.back().push_back({to_double(v.x), to_double(v.y)});
  }
  return out;
}

template <typename T, typename F>
Numbers mapped(const Rings<T>& rings, F f) {
  Numbers out;
  for (const auto& ring : rings) {
    out.emplace_back();
    for (const Vertex<T>& v : ring) out.back().push_back({f(v.x), f(v.y)});
  }
  return out;
}

/// Vertices on points of a lattice of steps of 10 units, or moved off them; all in units of 10^-4.
TEST(PolygonBands, DecideAsAllEdgesDoOnALattice) {
  constexpr std::int64_t kOffset = 5000000000;
  constexpr std::int64_t kLow = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kHigh = std::numeric_limits<std::int32_t>::max();
  CoordinateFrame frame;
  frame.kind = CoordinateKind::kLattice;
  for (int d = 0; d < 3; ++d) {
    frame.scale[d] = 0.001;
    frame.offset[d] = 500000.0;
  }
  Positions positions;
  positions.kind = CoordinateKind::kLattice;
  Random random(41);
  for (const Shape shape : kShapes) {
    for (const std::int64_t n : kVertexCounts) {
      for (const std::int64_t size : {std::int64_t{1}, std::int64_t{7}, std::int64_t{100000}, kHigh - kLow}) {
        SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape) << ", " << n << " vertices, size "
                                        << size);
        const std::int64_t start = size == kHigh - kLow ? kLow : -size / 2;
        const Numbers raw = rings_of(shape, n, size, random);
        const bool off = random() % 2 == 0;
        const Numbers units = mapped(
            raw, [&](std::int64_t v) { return 10 * (start + v) + kOffset + (off ? number_below(random, 10) : 0); });
        Selection selection;
        selection.regions.emplace_back(polygon_of(units, decimal));
        const PredicateProgram program = build_predicate(selection, Schema{}, frame);
        ASSERT_EQ(program.ops.size(), 1U);
        ASSERT_EQ(program.ops[0].code, PredicateOp::Code::kLatticePolygon);
        for (const auto& near : points_near(raw, size, random)) {
          const std::int64_t x = start + near.x;
          const std::int64_t y = start + near.y;
          if (x < kLow || x > kHigh || y < kLow || y > kHigh) continue;
          const Position position = {{static_cast<std::int32_t>(x), static_cast<std::int32_t>(y), 0}, {}};
          const bool kept = evaluate(program.view(nullptr), positions, position, 0, 0) == Verdict::kKept;
          ASSERT_EQ(kept, inside_all_edges(units, {10 * x + kOffset, 10 * y + kOffset})) << x << ' ' << y;
        }
      }
    }
  }
}

/// Several polygons of a selection, in frames of either precision.
TEST(PolygonBands, DecideAsAllEdgesDoInWorldUnits) {
  struct Grid {
    double origin, unit;
  };
  constexpr Grid kGrids[] = {{0, 1},       {-0.5, 0.015625}, {500000.1, 0.001}, {0, 1e-30},
                             {1e15, 0.25}, {-3e30, 1e30},    {0, 1e-300},       {0, 5e-324}};
  Positions positions;
  Random random(42);
  for (const CoordinateKind kind : {CoordinateKind::kFloat32, CoordinateKind::kFloat64}) {
    positions.kind = kind;
    CoordinateFrame frame;
    frame.kind = kind;
    for (const Grid& grid : kGrids) {
      const auto world = [&](std::int64_t v) { return grid.origin + grid.unit * static_cast<double>(v); };
      for (const std::int64_t n : kVertexCounts) {
        const std::int64_t size = random() % 2 == 0 ? 1000 : 30000;
        Selection selection;
        std::vector<Rings<double>> all;
        std::vector<Vertex<std::int64_t>> points;
        for (int i = 0; i < 2; ++i) {
          const Shape shape = kShapes[random() % std::size(kShapes)];
          const Numbers raw = rings_of(shape, n, size, random);
          Rings<double> rings;
          for (const auto& ring : raw) {
            rings.emplace_back();
            for (const auto& v : ring) rings.back().push_back({world(v.x), world(v.y)});
          }
          selection.regions.emplace_back(polygon_of(rings, [](double v) { return v; }));
          all.push_back(std::move(rings));
          const auto near = points_near(raw, size, random);
          points.insert(points.end(), near.begin(), near.end());
        }
        const PredicateProgram program = build_predicate(selection, Schema{}, frame);
        for (const auto& near : points) {
          Vertex<double> p = {world(near.x), world(near.y)};
          if (kind == CoordinateKind::kFloat32) {
            p = {static_cast<double>(static_cast<float>(p.x)), static_cast<double>(static_cast<float>(p.y))};
          }
          if (!std::isfinite(p.x) || !std::isfinite(p.y)) continue;
          const Position position = {{}, {p.x, p.y, 0.0}};
          const bool kept = evaluate(program.view(nullptr), positions, position, 0, 0) == Verdict::kKept;
          ASSERT_EQ(kept, inside_all_edges(all[0], p) || inside_all_edges(all[1], p))
              << n << " vertices, unit " << grid.unit << ", at " << p.x << ' ' << p.y;
        }
      }
    }
  }
}

template <typename T, typename EdgeT>
PredicateProgram program_of(const Numbers& rings, std::size_t& edge_count) {
  std::vector<EdgeT> edges;
  for (const auto& ring : rings) {
    std::vector<std::pair<T, T>> corners;
    for (const auto& v : ring) corners.emplace_back(static_cast<T>(v.x), static_cast<T>(v.y));
    test::add_ring(edges, corners);
  }
  edge_count = edges.size();
  PredicateProgram program;
  program.ops.push_back(test::op_of(PredicateOp::Code::kLatticePolygon));
  add_edges(program, program.ops.back(), edges);
  return program;
}

TEST(PolygonBands, HoldFewEdgesAndFewCopies) {
  Random random(43);
  std::size_t edges = 0;
  for (const Shape shape : kShapes) {
    for (const std::int64_t n : kVertexCounts) {
      const Numbers rings = rings_of(shape, n, 1000000, random);
      const std::size_t on_lattice = program_of<std::int64_t, LatticeEdge>(rings, edges).lattice_edges.size();
      const std::size_t in_world = program_of<double, WorldEdge>(rings, edges).world_edges.size();
      EXPECT_LE(on_lattice, 4 * edges);
      EXPECT_LE(in_world, 4 * edges);
    }
  }
  const Numbers star = {ring_of(Shape::kStar, 5000, 1000000000, random)};
  EXPECT_LT((program_of<std::int64_t, LatticeEdge>(star, edges).edges_per_point()), 1000.0);
  EXPECT_LT((program_of<double, WorldEdge>(star, edges).edges_per_point()), 1000.0);
  // Edges that all span the height leave nothing to choose from.
  std::vector<Vertex<std::int64_t>> teeth;
  for (std::int64_t i = 0; i < 64; ++i) teeth.push_back({i, i % 2 == 0 ? 0 : 1000});
  EXPECT_EQ((program_of<std::int64_t, LatticeEdge>({teeth}, edges).edges_per_point()), 64.0);
  EXPECT_EQ((program_of<double, WorldEdge>({teeth}, edges).edges_per_point()), 64.0);
}

}  // namespace
}  // namespace sluice
