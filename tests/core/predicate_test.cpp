// SPDX-License-Identifier: Apache-2.0
#include "sluice/core/predicate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "sluice/core/polygon_bands.hpp"
#include "support/predicates.hpp"

namespace sluice {
namespace {

using test::add_ring;
using test::axis_operand;
using test::azimuth_op;
using test::Code;
using test::column_operand;
using test::compare_op;
using test::constant_operand;
using test::lattice_box;
using test::op_of;
using test::real_op;
using test::scaled_operand;

Verdict verdict_of(const PredicateProgram& program, double x, double y, double z, const Column* columns = nullptr,
                   std::uint64_t index = 0) {
  const Record32 record{x, y, z, 0};
  return evaluate(program.view(columns), Positions::packed(&record), 0, index);
}

PredicateProgram program_of(std::vector<PredicateOp> ops) {
  PredicateProgram out;
  out.ops = std::move(ops);
  return out;
}

bool holds(const PredicateOp& op, double x, double y, double z = 0.0) {
  return verdict_of(program_of({op}), x, y, z) == Verdict::kKept;
}

double up(double x) { return std::nextafter(x, 1e300); }
double down(double x) { return std::nextafter(x, -1e300); }

TEST(Regions, BoxIsClosed) {
  const PredicateOp box = real_op(Code::kWorldBox, {-1.0, 2.0, 3.0, 1.0, 4.0, 5.0});
  for (const double x : {-1.0, 1.0}) {
    for (const double y : {2.0, 4.0}) {
      for (const double z : {3.0, 5.0}) EXPECT_TRUE(holds(box, x, y, z));
    }
  }
  EXPECT_FALSE(holds(box, down(-1.0), 3.0, 4.0));
  EXPECT_FALSE(holds(box, up(1.0), 3.0, 4.0));
  EXPECT_FALSE(holds(box, 0.0, down(2.0), 4.0));
  EXPECT_FALSE(holds(box, 0.0, up(4.0), 4.0));
  EXPECT_FALSE(holds(box, 0.0, 3.0, down(3.0)));
  EXPECT_FALSE(holds(box, 0.0, 3.0, up(5.0)));
}

TEST(Regions, LatticeBoxIsClosedAndTakesBoundsBeyondTheLattice) {
  const auto holds_raw = [](const PredicateOp& op, std::int32_t x, std::int32_t y, std::int32_t z) {
    const Record16 record{x, y, z, 0};
    return evaluate(program_of({op}).view(nullptr), Positions::packed(&record, CoordinateKind::kLattice), 0, 0) ==
           Verdict::kKept;
  };
  const PredicateOp box = lattice_box({-1, 2, 3, 1, 4, 5});
  EXPECT_TRUE(holds_raw(box, -1, 2, 3));
  EXPECT_TRUE(holds_raw(box, 1, 4, 5));
  EXPECT_FALSE(holds_raw(box, -2, 2, 3));
  EXPECT_FALSE(holds_raw(box, 0, 5, 3));
  EXPECT_FALSE(holds_raw(box, 0, 3, 6));
  const std::int64_t far = std::int64_t{1} << 40;
  const PredicateOp all = lattice_box({-far, -far, -far, far, far, far});
  EXPECT_TRUE(holds_raw(all, std::numeric_limits<std::int32_t>::min(), 0, std::numeric_limits<std::int32_t>::max()));
  EXPECT_FALSE(holds_raw(lattice_box({far, -far, -far, far, far, far}), 2147483647, 0, 0));
}

TEST(Regions, OrientedBoxIsClosed) {
  // A quarter turn: the first axis is y, the second -x.
  const PredicateOp box = real_op(Code::kOrientedBox, {1, 1, 0, 0, 1, 0, -1, 0, 0, 0, 0, 1, 2, 0.5, 1});
  EXPECT_TRUE(holds(box, 1.0, 3.0, 0.0));
  EXPECT_TRUE(holds(box, 1.5, 1.0, 1.0));
  EXPECT_TRUE(holds(box, 0.5, -1.0, -1.0));
  EXPECT_FALSE(holds(box, 1.0, up(3.0), 0.0));
  EXPECT_FALSE(holds(box, up(1.5), 1.0, 0.0));
  EXPECT_FALSE(holds(box, 1.0, 1.0, up(1.0)));
}

TEST(Regions, SphereDiscAndRingAreClosed) {
  const PredicateOp sphere = real_op(Code::kSphere, {0, 0, 0, 25});
  EXPECT_TRUE(holds(sphere, 3, 4, 0));
  EXPECT_TRUE(holds(sphere, 0, 0, -5));
  EXPECT_FALSE(holds(sphere, up(3), up(4), 0));
  const PredicateOp disc = real_op(Code::kDisc, {0, 0, 25});
  EXPECT_TRUE(holds(disc, 3, 4, 1e9));
  EXPECT_FALSE(holds(disc, 5.0000001, 0, 0));
  const PredicateOp ring = real_op(Code::kRing, {0, 0, 0, 9, 25});
  EXPECT_TRUE(holds(ring, 3, 0, 0));
  EXPECT_TRUE(holds(ring, 0, 0, 5));
  EXPECT_FALSE(holds(ring, down(3), 0, 0));
  EXPECT_FALSE(holds(ring, 0, 5.0000001, 0));
  EXPECT_FALSE(holds(ring, 0, 0, 0));
}

TEST(Regions, HalfSpaceIsClosed) {
  const PredicateOp half = real_op(Code::kHalfSpace, {1, 0, 0, -2});
  EXPECT_TRUE(holds(half, 2, 9, 9));
  EXPECT_TRUE(holds(half, up(2), 9, 9));
  EXPECT_FALSE(holds(half, down(2), 9, 9));
}

TEST(Regions, AzimuthRunsCounterClockwiseThroughTheWrap) {
  const auto at = [](const PredicateOp& op, double degrees) {
    const double radians = degrees * 0.017453292519943295;
    return holds(op, 10.0 + 5.0 * std::cos(radians), -3.0 + 5.0 * std::sin(radians));
  };
  const std::pair<double, double> sectors[] = {{0, 90},   {350, 10}, {90, 270},  {45, 44},    {0, 180}, {180, 0},
                                               {10, 200}, {200, 10}, {300, 250}, {89, 91},    {0, 89},  {135, 235},
                                               {271, 91}, {1, 359},  {359, 1},   {120, 120.5}};
  for (const auto& [from, to] : sectors) {
    const PredicateOp op = azimuth_op(10.0, -3.0, from, to);
    double width = std::fmod(to - from + 360.0, 360.0);
    for (double degrees = 0.25; degrees < 360.0; degrees += 0.5) {
      const double offset = std::fmod(degrees - from + 720.0, 360.0);
      // Points this close to a border are decided by rounding; the borders have tests of their own.
      if (std::fabs(offset - width) < 1e-6 || offset < 1e-6 || offset > 360.0 - 1e-6) continue;
      EXPECT_EQ(at(op, degrees), offset < width) << from << ".." << to << " at " << degrees;
    }
  }
}

TEST(Regions, AzimuthBordersAreInside) {
  const PredicateOp quarter = azimuth_op(0, 0, 0, 90);
  EXPECT_TRUE(holds(quarter, 7, 0));
  EXPECT_TRUE(holds(quarter, 0, 7));
  EXPECT_FALSE(holds(quarter, 7, -1e-300));
  EXPECT_FALSE(holds(quarter, -1e-300, 7));
  const PredicateOp half = azimuth_op(0, 0, 0, 180);
  EXPECT_TRUE(holds(half, 1, 0));
  EXPECT_TRUE(holds(half, -1, 0));
  EXPECT_TRUE(holds(half, 0, 1));
  EXPECT_FALSE(holds(half, 0, -1));
  const PredicateOp three_quarters = azimuth_op(0, 0, 90, 0);
  EXPECT_TRUE(holds(three_quarters, 1, 0));
  EXPECT_TRUE(holds(three_quarters, 0, 1));
  EXPECT_TRUE(holds(three_quarters, -1, -1));
  EXPECT_FALSE(holds(three_quarters, 1, 1e-300));
}

TEST(Regions, AzimuthOfNoWidthIsARay) {
  const PredicateOp ray = azimuth_op(0, 0, 0, 0);
  EXPECT_TRUE(holds(ray, 3, 0));
  EXPECT_FALSE(holds(ray, -3, 0));
  EXPECT_FALSE(holds(ray, 3, 1e-300));
  EXPECT_FALSE(holds(ray, 3, -1e-300));
  const PredicateOp north = azimuth_op(0, 0, 90, 90);
  EXPECT_TRUE(holds(north, 0, 2));
  EXPECT_FALSE(holds(north, 0, -2));
}

TEST(Regions, ElevationIsClosedAndSeenFromTheApex) {
  // From level to straight up.
  const PredicateOp upper = real_op(Code::kElevation, {0, 0, 1, 1, 0, 0, 1});
  EXPECT_TRUE(holds(upper, 5, 5, 1));
  EXPECT_TRUE(holds(upper, 0, 0, 9));
  EXPECT_FALSE(holds(upper, 5, 5, down(1)));
  // Between -45 and 45 degrees, with directions that 3-4-5 triangles make exact.
  const PredicateOp band = real_op(Code::kElevation, {0, 0, 0, 0.8, -0.6, 0.8, 0.6});
  EXPECT_TRUE(holds(band, 4, 0, 2.99));
  EXPECT_FALSE(holds(band, 4, 0, 3.01));
  EXPECT_TRUE(holds(band, 0, -4, -2.99));
  EXPECT_FALSE(holds(band, 0, -4, -3.01));
}

/// Two polygons that share every edge between them tile a square: each point of it lies in exactly one.
TEST(Polygons, NeighboursShareNoPoint) {
  const std::vector<std::pair<double, double>> left = {{0, 0}, {0.5, 0}, {0.3, 0.4}, {0.7, 0.7}, {0.1, 1}, {0, 1}};
  const std::vector<std::pair<double, double>> right = {{0.5, 0}, {1, 0}, {1, 1}, {0.1, 1}, {0.7, 0.7}, {0.3, 0.4}};
  PredicateProgram program;
  const auto polygon_of = [&](const std::vector<std::pair<double, double>>& ring) {
    std::vector<WorldEdge> edges;
    add_ring(edges, ring);
    PredicateOp op = op_of(Code::kWorldPolygon);
    add_edges(program, op, edges);
    return op;
  };
  const PredicateOp first = polygon_of(left);
  const PredicateOp second = polygon_of(right);
  const auto inside = [&](const PredicateOp& op, double x, double y) {
    program.ops = {op};
    return verdict_of(program, x, y, 0.0) == Verdict::kKept;
  };
  std::mt19937_64 random(17);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  const auto check = [&](double x, double y) {
    if (x < 0.0 || x >= 1.0 || y < 0.0 || y >= 1.0) return;
    ASSERT_EQ((inside(first, x, y) ? 1 : 0) + (inside(second, x, y) ? 1 : 0), 1) << x << ' ' << y;
  };
  for (const auto& [x, y] : left) check(x, y);
  for (const auto& [x, y] : right) check(x, y);
  for (int i = 0; i < 20000; ++i) {
    check(unit(random), unit(random));
    const WorldEdge& e = program.world_edges[random() % program.world_edges.size()];
    const double t = unit(random);
    const double x = e.x0 + t * (e.x1 - e.x0);
    const double y = e.y0 + t * (e.y1 - e.y0);
    for (const double near : {down(x), x, up(x)}) check(near, y);
  }
}

TEST(Polygons, OnALatticeNeighboursShareNoPoint) {
  // Coordinates so large that products need 128 bits.
  const std::int64_t k = (std::int64_t{1} << 61) / 1000;
  std::vector<std::pair<std::int64_t, std::int64_t>> left = {
      {0, 0}, {500 * k, 0}, {300 * k, 400 * k}, {100 * k, 1000 * k}, {0, 1000 * k}};
  std::vector<std::pair<std::int64_t, std::int64_t>> right = {
      {500 * k, 0}, {1000 * k, 0}, {1000 * k, 1000 * k}, {100 * k, 1000 * k}, {300 * k, 400 * k}};
  PredicateProgram program;
  add_ring(program.lattice_edges, left);
  const auto first = static_cast<std::uint32_t>(program.lattice_edges.size());
  add_ring(program.lattice_edges, right);
  const auto all = static_cast<std::uint32_t>(program.lattice_edges.size());
  std::mt19937_64 random(18);
  int on_edge = 0;
  for (int i = 0; i < 20000; ++i) {
    std::int64_t x = static_cast<std::int64_t>(random() % 1000) * k;
    std::int64_t y = static_cast<std::int64_t>(random() % 1000) * k;
    if (i % 2 == 0) {
      const std::int64_t t = static_cast<std::int64_t>(random() % 401);  // on the edge from (500, 0) to (300, 400)
      x = 500 * k - t * k / 2;
      y = t * k;
      if (i % 4 == 0) x += static_cast<std::int64_t>(random() % 3) - 1;
      ++on_edge;
    }
    const bool in_left = detail::in_polygon(program.lattice_edges.data(), first, x, y);
    const bool in_right = detail::in_polygon(program.lattice_edges.data() + first, all - first, x, y);
    ASSERT_NE(in_left, in_right) << x << ' ' << y;
  }
  EXPECT_GT(on_edge, 0);
}

TEST(Polygons, HolesAreEvenOdd) {
  PredicateProgram program;
  std::vector<WorldEdge> edges;
  add_ring(edges, std::vector<std::pair<double, double>>{{0, 0}, {10, 0}, {10, 10}, {0, 10}});
  add_ring(edges, std::vector<std::pair<double, double>>{{3, 3}, {3, 7}, {7, 7}, {7, 3}});
  PredicateOp op = op_of(Code::kWorldPolygon);
  add_edges(program, op, edges);
  program.ops = {op};
  const auto inside = [&](double x, double y) { return verdict_of(program, x, y, 0) == Verdict::kKept; };
  EXPECT_TRUE(inside(1, 1));
  EXPECT_FALSE(inside(5, 5));
  EXPECT_TRUE(inside(5, 9));
  EXPECT_FALSE(inside(11, 5));
  EXPECT_FALSE(inside(-1, 5));
}

TEST(Points, WithoutFiniteCoordinatesAreNeverKept) {
  PredicateProgram all;
  PredicateProgram inverted = program_of({real_op(Code::kSphere, {0, 0, 0, 1}), op_of(Code::kNot)});
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    for (const PredicateProgram& program : {all, inverted}) {
      EXPECT_EQ(verdict_of(program, bad, 0, 0), Verdict::kNonFinite);
      EXPECT_EQ(verdict_of(program, 0, bad, 0), Verdict::kNonFinite);
      EXPECT_EQ(verdict_of(program, 0, 0, bad), Verdict::kNonFinite);
    }
  }
  EXPECT_EQ(verdict_of(all, 5, 5, 5), Verdict::kKept);
  EXPECT_EQ(verdict_of(inverted, 0, 0, 0), Verdict::kRejected);
}

TEST(Points, AtZeroMayCountAsNoReturns) {
  PredicateProgram program;
  EXPECT_EQ(verdict_of(program, 0.0, -0.0, 0.0), Verdict::kKept);
  program.drop_zero = true;
  EXPECT_EQ(verdict_of(program, 0.0, -0.0, 0.0), Verdict::kNonFinite);
  EXPECT_EQ(verdict_of(program, 0.0, 0.0, 1e-300), Verdict::kKept);
  const Record16 records[2] = {{5, 6, 7, 0}, {0, 0, 0, 0}};
  const Positions positions = Positions::packed(records, CoordinateKind::kLattice);
  EXPECT_EQ(evaluate(program.view(nullptr), positions, 1, 1), Verdict::kKept);
  program.zero_exists = true;
  program.zero[0] = 5;
  program.zero[1] = 6;
  program.zero[2] = 7;
  EXPECT_EQ(evaluate(program.view(nullptr), positions, 0, 0), Verdict::kNonFinite);
  EXPECT_EQ(evaluate(program.view(nullptr), positions, 1, 1), Verdict::kKept);
}

TEST(Compare, ReadsColumnsAxesAndConstants) {
  const float intensity[2] = {1.5F, std::nanf("")};
  const std::uint8_t classes[2] = {2, 9};
  const Column columns[2] = {{reinterpret_cast<const std::byte*>(intensity), 4, FieldType::kFloat32, 0, 0},
                             {reinterpret_cast<const std::byte*>(classes), 1, FieldType::kUint8, 0, 0}};
  const Record32 records[2] = {{1, 2, 3, 0}, {4, 5, 6, 0}};
  const auto holds_at = [&](const PredicateOp& op, std::uint64_t row) {
    return evaluate(program_of({op}).view(columns), Positions::packed(records), row, row) == Verdict::kKept;
  };
  const auto number = [](double v) { return constant_operand(Value::of_real(v)); };
  EXPECT_TRUE(holds_at(compare_op(column_operand(1), Comparison::kEqual, constant_operand(Value::of_signed(2))), 0));
  EXPECT_FALSE(holds_at(compare_op(column_operand(1), Comparison::kEqual, constant_operand(Value::of_signed(2))), 1));
  EXPECT_TRUE(holds_at(compare_op(axis_operand(Operand::Kind::kWorldAxis, 1), Comparison::kGreater, number(4)), 1));
  EXPECT_TRUE(holds_at(compare_op(scaled_operand(1, 0.5, 10), Comparison::kLessEqual, number(11)), 0));
  EXPECT_TRUE(holds_at(compare_op(number(1.25), Comparison::kLess, column_operand(0)), 0));
  // NaN compares true with != only.
  for (const Comparison comparison : {Comparison::kEqual, Comparison::kLess, Comparison::kLessEqual,
                                      Comparison::kGreater, Comparison::kGreaterEqual}) {
    EXPECT_FALSE(holds_at(compare_op(column_operand(0), comparison, number(1)), 1));
    EXPECT_FALSE(holds_at(compare_op(column_operand(0), comparison, column_operand(0)), 1));
  }
  EXPECT_TRUE(holds_at(compare_op(column_operand(0), Comparison::kNotEqual, number(1)), 1));
}

TEST(InSet, FindsMixedKindsExactly) {
  const std::uint64_t values[3] = {(std::uint64_t{1} << 53) + 1, 7, 8};
  const Column column{reinterpret_cast<const std::byte*>(values), 8, FieldType::kUint64, 0, 0};
  PredicateProgram program;
  program.values = {Value::of_signed(-1), Value::of_real(6.5), Value::of_unsigned(7),
                    Value::of_real(9007199254740992.0)};
  PredicateOp op = op_of(Code::kInSet);
  op.operands[0] = column_operand(0);
  op.count = 4;
  program.ops = {op};
  const Record32 records[3] = {{1, 1, 1, 0}, {1, 1, 1, 0}, {1, 1, 1, 0}};
  const auto kept = [&](std::uint64_t row) {
    return evaluate(program.view(&column), Positions::packed(records), row, row) == Verdict::kKept;
  };
  EXPECT_FALSE(kept(0));  // one more than the last of the set, which no double can tell
  EXPECT_TRUE(kept(1));
  EXPECT_FALSE(kept(2));
}

TEST(Fraction, KeepsItsShareAndDependsOnTheIndexOnly) {
  PredicateOp op = op_of(Code::kFraction);
  op.integers[0] = static_cast<std::int64_t>(std::uint64_t{1} << 62);  // a quarter
  op.integers[1] = 99;
  const PredicateProgram program = program_of({op});
  int kept = 0;
  for (std::uint64_t i = 0; i < 40000; ++i) {
    const Verdict one = verdict_of(program, 1, 2, 3, nullptr, i);
    EXPECT_EQ(one, verdict_of(program, 9, 9, 9, nullptr, i));
    kept += one == Verdict::kKept ? 1 : 0;
  }
  EXPECT_NEAR(kept, 10000, 6 * 87);
}

TEST(Program, CombinesTruthValuesInPostfixOrder) {
  for (int bits = 0; bits < 8; ++bits) {
    const auto constant = [&](int which) {
      PredicateOp out = op_of(Code::kConstant);
      out.first = static_cast<std::uint32_t>((bits >> which) & 1);
      return out;
    };
    const bool a = (bits & 1) != 0;
    const bool b = (bits & 2) != 0;
    const bool c = (bits & 4) != 0;
    const auto result = [&](std::vector<PredicateOp> ops) {
      return verdict_of(program_of(std::move(ops)), 0, 0, 0) == Verdict::kKept;
    };
    EXPECT_EQ(result({constant(0), constant(1), op_of(Code::kAnd)}), a && b);
    EXPECT_EQ(result({constant(0), constant(1), op_of(Code::kOr)}), a || b);
    EXPECT_EQ(result({constant(0), op_of(Code::kNot)}), !a);
    EXPECT_EQ(result({constant(0), constant(1), constant(2), op_of(Code::kOr), op_of(Code::kAnd)}), a && (b || c));
    EXPECT_EQ(result({constant(0), constant(1), op_of(Code::kAnd), op_of(Code::kNot), constant(2), op_of(Code::kOr)}),
              !(a && b) || c);
  }
}

TEST(Program, HoldsTheDeepestStack) {
  std::vector<PredicateOp> ops;
  PredicateOp yes = op_of(Code::kConstant);
  yes.first = 1;
  for (int i = 0; i < kMaxPredicateDepth - 1; ++i) ops.push_back(yes);
  ops[0].first = 0;
  for (int i = 0; i < kMaxPredicateDepth - 2; ++i) ops.push_back(op_of(Code::kAnd));
  EXPECT_EQ(verdict_of(program_of(ops), 0, 0, 0), Verdict::kRejected);
  ops[0].first = 1;
  EXPECT_EQ(verdict_of(program_of(ops), 0, 0, 0), Verdict::kKept);
}

}  // namespace
}  // namespace sluice
