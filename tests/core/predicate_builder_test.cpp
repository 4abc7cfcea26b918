// SPDX-License-Identifier: Apache-2.0
#include "sluice/core/predicate_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "engine/clouds.hpp"

namespace sluice {
namespace {

using test::Dice;
using test::Lattice;
using test::make_lattice;
using test::make_world;
using test::RawPoint;
using test::WorldPoint;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Indices of the points that a selection keeps, decided one by one.
std::vector<std::uint32_t> kept_by(const Selection& selection, const PointCloud& cloud) {
  const PredicateProgram program = build_predicate(selection, cloud.info().schema, cloud.info().frame);
  std::vector<Column> columns;
  for (const std::string& name : program.columns) {
    columns.push_back(cloud.info().schema.find(name)->column(cloud.records().data(), cloud.info().schema.record_bytes));
  }
  const PredicateView view = program.view(columns.data());
  std::vector<std::uint32_t> out;
  for (std::uint64_t i = 0; i < cloud.count(); ++i) {
    if (evaluate(view, cloud.positions(), i, i) == Verdict::kKept) out.push_back(static_cast<std::uint32_t>(i));
  }
  return out;
}

std::vector<std::uint32_t> kept_by(const Region& region, const PointCloud& cloud) {
  Selection selection;
  selection.regions.push_back(region);
  return kept_by(selection, cloud);
}

Term field(const std::string& name) { return Term{true, name, {}}; }
Term number(std::int64_t value) { return Term{false, {}, Value::of_signed(value)}; }
Term number(double value) { return Term{false, {}, Value::of_real(value)}; }

Expression comparison(Term left, Comparison how, Term right) {
  Expression out;
  out.kind = Expression::Kind::kCompare;
  out.comparison = how;
  out.left = std::move(left);
  out.right = std::move(right);
  return out;
}

Expression member(const std::string& name, std::vector<Value> values) {
  Expression out;
  out.kind = Expression::Kind::kInSet;
  out.left = field(name);
  out.set = std::move(values);
  return out;
}

std::vector<std::uint32_t> kept_by(const Expression& condition, const PointCloud& cloud) {
  Selection selection;
  selection.where.push_back(condition);
  return kept_by(selection, cloud);
}

std::string refusal(const Selection& selection, const PointCloud& cloud) {
  try {
    (void)build_predicate(selection, cloud.info().schema, cloud.info().frame);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return {};
}

std::string refusal(const Region& region, const PointCloud& cloud) {
  Selection selection;
  selection.regions.push_back(region);
  return refusal(selection, cloud);
}

constexpr Comparison kAllComparisons[] = {Comparison::kEqual,     Comparison::kNotEqual, Comparison::kLess,
                                          Comparison::kLessEqual, Comparison::kGreater,  Comparison::kGreaterEqual};

/// digits * 10^exponent as the double nearest to it.
double decimal(std::int64_t digits, int exponent) {
  return std::strtod((std::to_string(digits) + "e" + std::to_string(exponent)).c_str(), nullptr);
}

std::vector<std::uint32_t> all_of(std::uint64_t count) {
  std::vector<std::uint32_t> out(count);
  for (std::uint64_t i = 0; i < count; ++i) out[i] = static_cast<std::uint32_t>(i);
  return out;
}

// ---- numbers among lattice numbers

void expect_bound(double value, double scale, double offset, std::int64_t floor, std::int64_t ceiling, bool on_step,
                  bool exact) {
  const LatticeBound bound = lattice_bound(value, scale, offset);
  EXPECT_TRUE(bound.floor == floor) << value << ' ' << scale << ' ' << offset;
  EXPECT_TRUE(bound.ceiling == ceiling) << value << ' ' << scale << ' ' << offset;
  EXPECT_EQ(bound.on_step, on_step) << value << ' ' << scale << ' ' << offset;
  EXPECT_EQ(bound.exact, exact) << value << ' ' << scale << ' ' << offset;
}

TEST(LatticeBound, TypedAndPrintedNumbersMeanTheSamePoint) {
  expect_bound(339003.737, 0.001, 0.0, 339003737, 339003737, true, true);
  expect_bound(339003.73699999996, 0.001, 0.0, 339003737, 339003737, true, false);
  expect_bound(std::nextafter(339003.737, 1e9), 0.001, 0.0, 339003737, 339003737, true, false);
}

TEST(LatticeBound, AHundredthOfAStepCountsOnBothSides) {
  expect_bound(5.0001, 0.01, 0.0, 500, 500, true, false);
  expect_bound(4.9999, 0.01, 0.0, 500, 500, true, false);
  expect_bound(5.000101, 0.01, 0.0, 500, 501, false, false);
  expect_bound(4.999899, 0.01, 0.0, 499, 500, false, false);
  expect_bound(-5.0001, 0.01, 0.0, -500, -500, true, false);
  expect_bound(-5.000101, 0.01, 0.0, -501, -500, false, false);
  expect_bound(5.005, 0.01, 0.0, 500, 501, false, false);
}

TEST(LatticeBound, AgreesWithIntegersOnRandomDecimals) {
  Dice dice(1);
  // Numbers of steps in ten-thousandths, and what they mean.
  for (int round = 0; round < 20000; ++round) {
    const std::int64_t step = dice.between(1, 400);
    const int exponent = static_cast<int>(dice.between(-6, 0));
    const std::int64_t n = dice.between(-100000, 100000);
    static constexpr std::int64_t kParts[] = {0, 1, 50, 99, 100, 101, 3000, 5000, 7000, 9899, 9900, 9901, 9999};
    const std::int64_t part = kParts[static_cast<std::size_t>(dice.between(0, 12))];
    const std::int64_t shift = dice.between(-100000, 100000);
    const bool falling = dice.between(0, 3) == 0;
    const double scale = decimal(falling ? -step : step, exponent);
    const double offset = decimal(shift, exponent);
    // value = (n + part / 10000) * scale + offset, exactly
    const std::int64_t digits = ((n * 10000 + part) * (falling ? -step : step)) + shift * 10000;
    const double value = decimal(digits, exponent - 4);
    const bool low = part <= 100;
    const bool high = part >= 9900;
    expect_bound(value, scale, offset, high ? n + 1 : n, low ? n : n + 1, low || high, part == 0);
    if (HasFailure()) return;
  }
}

TEST(LatticeBound, IsExactWhereValueAndOffsetCancel) {
  // As decimals the difference is 0.3; as doubles it is 0.25, which is 50,000 steps away.
  expect_bound(1000000000000000.3, 1e-6, 1e15, 200000, 200000, true, true);
  expect_bound(2251799813685249.5, 0.0001, 2251799813685248.0, 15000, 15000, true, true);
  expect_bound(1e9, 1e-6, -999999999.5, 1999999999500000, 1999999999500000, true, true);
}

TEST(LatticeBound, LiesBeyondEverythingForHugeAndInfiniteNumbers) {
  for (const double value : {1e300, kInfinity}) {
    EXPECT_TRUE(lattice_bound(value, 0.01, 0.0).floor >= kBeyondLattice);
    EXPECT_TRUE(lattice_bound(value, 0.01, 0.0).ceiling >= kBeyondLattice);
    EXPECT_TRUE(lattice_bound(-value, 0.01, 0.0).floor <= -kBeyondLattice);
    EXPECT_TRUE(lattice_bound(-value, 0.01, 0.0).ceiling <= -kBeyondLattice);
    EXPECT_TRUE(lattice_bound(value, -0.01, 0.0).floor <= -kBeyondLattice);
    EXPECT_TRUE(lattice_bound(-value, -0.01, 0.0).floor >= kBeyondLattice);
    EXPECT_FALSE(lattice_bound(value, 0.01, 0.0).on_step);
  }
}

TEST(LatticeBound, ManagesWhere128BitsDoNot) {
  expect_bound(1e-300, 0.01, 0.0, 0, 0, true, false);
  expect_bound(0.3e-200, 1e-200, 0.0, 0, 1, false, false);
  expect_bound(1.0 / 3.0, 1.0 / 3.0, 0.0, 1, 1, true, true);
}

// ---- boxes

TEST(Box, KeepsThePointThatABoundNames) {
  const PointCloud cloud = make_lattice({{339003736, 0, 0}, {339003737, 0, 0}, {339003738, 0, 0}},
                                        Lattice{{0.001, 0.001, 0.001}, {0, 0, 0}});
  for (const double bound : {339003.737, 339003.73699999996, std::nextafter(339003.737, 1e9)}) {
    Box from;
    from.min[0] = bound;
    EXPECT_THAT(kept_by(from, cloud), ElementsAre(1, 2)) << bound;
    Box to;
    to.max[0] = bound;
    EXPECT_THAT(kept_by(to, cloud), ElementsAre(0, 1)) << bound;
    Box both;
    both.min[0] = both.max[0] = bound;
    EXPECT_THAT(kept_by(both, cloud), ElementsAre(1)) << bound;
  }
}

TEST(Box, IsClosedOnEveryKindOfCloud) {
  Box box;
  for (int d = 0; d < 3; ++d) {
    box.min[d] = -1;
    box.max[d] = 1;
  }
  const std::vector<WorldPoint> points = {{-1, -1, -1}, {1, 1, 1},  {0, 0, 0},     {1.25, 0, 0}, {0, -1.25, 0},
                                          {0, 0, 1.25}, {-1, 0, 1}, {0, 1.25, -1}, {-1.25, 0, 0}};
  std::vector<RawPoint> raw;
  for (const WorldPoint& p : points) {
    raw.push_back({static_cast<int>(p[0] * 100), static_cast<int>(p[1] * 100), static_cast<int>(p[2] * 100)});
  }
  EXPECT_THAT(kept_by(box, make_lattice(raw)), ElementsAre(0, 1, 2, 6));
  EXPECT_THAT(kept_by(box, make_world(CoordinateKind::kFloat32, points)), ElementsAre(0, 1, 2, 6));
  EXPECT_THAT(kept_by(box, make_world(CoordinateKind::kFloat64, points)), ElementsAre(0, 1, 2, 6));
}

TEST(Box, BetweenTwoLatticeNumbersIsEmpty) {
  Box box;
  box.min[1] = 1.002;
  box.max[1] = 1.008;
  EXPECT_THAT(kept_by(box, make_lattice({{0, 100, 0}, {0, 101, 0}})), IsEmpty());
}

TEST(Box, FollowsANegativeScale) {
  const Lattice lattice{{-0.01, 0.01, 0.01}, {10.0, 0, 0}};  // x = 10 - X / 100
  const PointCloud cloud = make_lattice({{0, 0, 0}, {100, 0, 0}, {200, 0, 0}, {300, 0, 0}}, lattice);
  Box box;
  box.min[0] = 8.0;
  box.max[0] = 9.0;
  EXPECT_THAT(kept_by(box, cloud), ElementsAre(1, 2));
  box.min[0] = 8.00005;
  box.max[0] = 9.0002;
  EXPECT_THAT(kept_by(box, cloud), ElementsAre(1, 2));
  box.min[0] = 8.0002;
  box.max[0] = 8.9998;
  EXPECT_THAT(kept_by(box, cloud), IsEmpty());
  box.min[0] = -kInfinity;
  EXPECT_THAT(kept_by(box, cloud), ElementsAre(2, 3));
  box.min[0] = 9.0;
  box.max[0] = kInfinity;
  EXPECT_THAT(kept_by(box, cloud), ElementsAre(0, 1));
}

TEST(Box, RefusesWhatMakesNoSense) {
  const PointCloud cloud = make_lattice({});
  Box box;
  box.min[0] = 2;
  box.max[0] = 1;
  EXPECT_THAT(refusal(box, cloud), HasSubstr("lower bound is above"));
  box.max[0] = std::nan("");
  EXPECT_THAT(refusal(box, cloud), HasSubstr("not a number"));
}

// ---- conditions

TEST(Where, ComparesCoordinatesAsABoxBoundWould) {
  for (const double sign : {1.0, -1.0}) {
    const Lattice lattice{{sign * 0.01, 0.01, 0.01}, {3.0, 0, 0}};
    std::vector<RawPoint> points;
    for (std::int32_t i = -20; i <= 20; ++i) points.push_back({i, 0, 0});
    const PointCloud cloud = make_lattice(points, lattice);
    for (const double value :
         {3.05, 3.0500999, 3.0499001, 3.0501001, 3.0498999, 3.055, 2.9, 100.0, -100.0, kInfinity}) {
      Box at_least;
      at_least.min[0] = value;
      Box at_most;
      at_most.max[0] = value;
      const std::vector<std::uint32_t> above = kept_by(at_least, cloud);
      const std::vector<std::uint32_t> below = kept_by(at_most, cloud);
      const auto where = [&](Comparison how) { return kept_by(comparison(field("X"), how, number(value)), cloud); };
      const auto mirrored = [&](Comparison how) { return kept_by(comparison(number(value), how, field("x")), cloud); };
      EXPECT_EQ(where(Comparison::kGreaterEqual), above) << value;
      EXPECT_EQ(where(Comparison::kLessEqual), below) << value;
      EXPECT_EQ(mirrored(Comparison::kLessEqual), above) << value;
      EXPECT_EQ(mirrored(Comparison::kGreaterEqual), below) << value;
      std::vector<std::uint32_t> rest;
      const std::vector<std::uint32_t> all = all_of(cloud.count());
      std::set_difference(all.begin(), all.end(), above.begin(), above.end(), std::back_inserter(rest));
      EXPECT_EQ(where(Comparison::kLess), rest) << value;
      EXPECT_EQ(mirrored(Comparison::kGreater), rest) << value;
      rest.clear();
      std::set_difference(all.begin(), all.end(), below.begin(), below.end(), std::back_inserter(rest));
      EXPECT_EQ(where(Comparison::kGreater), rest) << value;
      EXPECT_EQ(mirrored(Comparison::kLess), rest) << value;
      std::vector<std::uint32_t> equal;
      std::set_intersection(above.begin(), above.end(), below.begin(), below.end(), std::back_inserter(equal));
      EXPECT_EQ(where(Comparison::kEqual), equal) << value;
      rest.clear();
      std::set_difference(all.begin(), all.end(), equal.begin(), equal.end(), std::back_inserter(rest));
      EXPECT_EQ(where(Comparison::kNotEqual), rest) << value;
    }
  }
}

TEST(Where, ComparesFloatCoordinatesAsDoubles) {
  const PointCloud cloud = make_world(CoordinateKind::kFloat32, {{0.1, 0, 0}, {0.2, 0, 0}});
  EXPECT_THAT(kept_by(comparison(field("x"), Comparison::kLessEqual, number(0.1)), cloud), IsEmpty());
  EXPECT_THAT(kept_by(comparison(field("x"), Comparison::kEqual, number(static_cast<double>(0.1F))), cloud),
              ElementsAre(0));
}

/// A cloud of `count` points with one more field of chosen values.
template <typename T>
PointCloud with_extra(const std::vector<T>& values, FieldType type, bool scaled, double scale, double shift) {
  const PointCloud plain = make_lattice(std::vector<RawPoint>(values.size()));
  CloudInfo info = plain.info();
  Field extra;
  extra.name = "extra";
  extra.type = type;
  extra.offset = info.schema.record_bytes;
  extra.scaled = scaled;
  extra.scale = scale;
  extra.shift = shift;
  const std::uint32_t old_bytes = info.schema.record_bytes;
  info.schema.fields.push_back(extra);
  info.schema.record_bytes += field_bytes(type);
  std::vector<std::byte> records(values.size() * info.schema.record_bytes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::byte* record = records.data() + i * info.schema.record_bytes;
    std::memcpy(record, plain.records().data() + i * old_bytes, old_bytes);
    std::memcpy(record + old_bytes, &values[i], sizeof(T));
  }
  return {std::move(info), std::move(records)};
}

TEST(Where, ComparesScaledFieldsByTheirRealValue) {
  // 100.00 to 100.04; 100.03 as a double product is not the nearest double to 100.03.
  const PointCloud cloud = with_extra<std::int32_t>({0, 1, 2, 3, 4}, FieldType::kInt32, true, 0.01, 100.0);
  const auto where = [&](Comparison how, double value) {
    return kept_by(comparison(field("extra"), how, number(value)), cloud);
  };
  EXPECT_THAT(where(Comparison::kEqual, 100.03), ElementsAre(3));
  EXPECT_THAT(where(Comparison::kNotEqual, 100.03), ElementsAre(0, 1, 2, 4));
  EXPECT_THAT(where(Comparison::kLess, 100.03), ElementsAre(0, 1, 2));
  EXPECT_THAT(where(Comparison::kLessEqual, 100.025), ElementsAre(0, 1, 2));
  EXPECT_THAT(where(Comparison::kGreater, 100.025), ElementsAre(3, 4));
  EXPECT_THAT(where(Comparison::kEqual, 100.025), IsEmpty());
  EXPECT_THAT(where(Comparison::kNotEqual, 100.025), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(kept_by(member("extra", {Value::of_real(100.04), Value::of_signed(100), Value::of_real(100.015),
                                       Value::of_real(100.03)}),
                      cloud),
              ElementsAre(0, 3, 4));
}

TEST(Where, ComparesScaledFloatsByTheirRealValue) {
  const PointCloud cloud = with_extra<float>({1.5F, 2.5F, std::nanf("")}, FieldType::kFloat32, true, 2.0, 1.0);
  EXPECT_THAT(kept_by(comparison(field("extra"), Comparison::kEqual, number(4.0)), cloud), ElementsAre(0));
  EXPECT_THAT(kept_by(comparison(field("extra"), Comparison::kNotEqual, number(4.0)), cloud), ElementsAre(1, 2));
  EXPECT_THAT(kept_by(member("extra", {Value::of_signed(6)}), cloud), ElementsAre(1));
}

TEST(Where, ComparesTheScanAngleInDegrees) {
  std::vector<RawPoint> points(300);
  const PointCloud cloud = make_lattice(points);
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t i = 0; i < 300; ++i) {
    if (test::scan_angle_of(i) * 6 <= 5004) wanted.push_back(i);  // thousandths of a degree
  }
  EXPECT_EQ(kept_by(comparison(field("scan_angle"), Comparison::kLessEqual, number(5.004)), cloud), wanted);
}

TEST(Where, OrdersExtremesOfScaledFields) {
  const PointCloud cloud = with_extra<std::uint64_t>(
      {0, 3000000000000000000ULL, 5000000000000000000ULL, 18446744073709551615ULL}, FieldType::kUint64, true, 0.5, 0.0);
  const auto where = [&](Comparison how, double value) {
    return kept_by(comparison(field("extra"), how, number(value)), cloud);
  };
  EXPECT_THAT(where(Comparison::kLess, 2e18), ElementsAre(0, 1));
  EXPECT_THAT(where(Comparison::kGreater, 2e18), ElementsAre(2, 3));
  EXPECT_THAT(where(Comparison::kEqual, 2.5e18), ElementsAre(2));
  EXPECT_THAT(where(Comparison::kLess, 9e18), ElementsAre(0, 1, 2));
  EXPECT_THAT(where(Comparison::kLess, 1e19), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(where(Comparison::kGreater, 1e19), IsEmpty());
  EXPECT_THAT(where(Comparison::kGreaterEqual, -1.0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(where(Comparison::kLess, kInfinity), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(where(Comparison::kGreater, kInfinity), IsEmpty());
  EXPECT_THAT(where(Comparison::kGreater, -kInfinity), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(kept_by(member("extra", {Value::of_real(2.5e18), Value::of_real(1e30)}), cloud), ElementsAre(2));
}

TEST(Where, ReadsWholeNumbersOfScaledFieldsExactly) {
  const PointCloud cloud = with_extra<std::int64_t>({9007199254740992, 9007199254740993, 9007199254740994},
                                                    FieldType::kInt64, true, 1.0, 0.0);
  const auto value = number(std::int64_t{9007199254740993});
  EXPECT_THAT(kept_by(comparison(field("extra"), Comparison::kEqual, value), cloud), ElementsAre(1));
  EXPECT_THAT(kept_by(comparison(field("extra"), Comparison::kLess, value), cloud), ElementsAre(0));
}

TEST(Where, ComparesStoredIntegersExactly) {
  const PointCloud cloud = make_lattice(std::vector<RawPoint>(3));
  EXPECT_THAT(kept_by(comparison(field("deep"), Comparison::kEqual, number(std::int64_t{9007199254740993})), cloud),
              ElementsAre(1));
  EXPECT_THAT(kept_by(comparison(field("deep"), Comparison::kGreater, number(9007199254740992.0)), cloud),
              ElementsAre(1, 2));
  Term large;
  large.number = Value::of_unsigned(18446744073709551614ULL);
  EXPECT_THAT(kept_by(comparison(field("big"), Comparison::kEqual, large), cloud), ElementsAre(1));
  EXPECT_THAT(kept_by(comparison(field("big"), Comparison::kGreater, number(std::int64_t{-1})), cloud),
              ElementsAre(0, 1, 2));
  EXPECT_THAT(kept_by(comparison(field("big"), Comparison::kLess, number(18446744073709551616.0)), cloud),
              ElementsAre(0, 1, 2));
  EXPECT_THAT(kept_by(comparison(field("deep"), Comparison::kLess, field("big")), cloud), ElementsAre(0, 1, 2));
  EXPECT_THAT(kept_by(member("big", {Value::of_unsigned(18446744073709551613ULL), Value::of_signed(-3),
                                     Value::of_real(1.8446744073709552e19)}),
                      cloud),
              ElementsAre(2));
}

TEST(Where, ReadsBitFieldsUnpacked) {
  const PointCloud cloud = make_lattice(std::vector<RawPoint>(10));
  EXPECT_THAT(kept_by(comparison(field("return_number"), Comparison::kEqual, number(std::int64_t{2})), cloud),
              ElementsAre(1, 6));
}

TEST(Where, ComparesFieldsWithEachOther) {
  // x = X / 100 and z = Z / 1000: the real values are compared, not the lattice numbers.
  const PointCloud cloud = make_lattice({{5, 0, 49}, {5, 0, 50}, {5, 0, 51}}, Lattice{{0.01, 1, 0.001}, {0, 0, 0}});
  EXPECT_THAT(kept_by(comparison(field("z"), Comparison::kLess, field("x")), cloud), ElementsAre(0));
  EXPECT_THAT(kept_by(comparison(field("z"), Comparison::kEqual, field("x")), cloud), ElementsAre(1));
  EXPECT_THAT(kept_by(comparison(field("z"), Comparison::kGreater, field("x")), cloud), ElementsAre(2));
  const PointCloud many = make_lattice(std::vector<RawPoint>(200));
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t i = 0; i < 200; ++i) {
    if (static_cast<double>(test::scan_angle_of(i)) * 0.006 < test::classification_of(i)) wanted.push_back(i);
  }
  EXPECT_EQ(kept_by(comparison(field("scan_angle"), Comparison::kLess, field("Classification")), many), wanted);
}

TEST(Where, NotANumberComparesTrueOnlyWithNotEqual) {
  const PointCloud cloud = make_lattice(std::vector<RawPoint>(8));  // the warmth of point 6 is not a number
  for (const Comparison how : kAllComparisons) {
    const bool holds = how == Comparison::kNotEqual;
    const auto kept = kept_by(comparison(field("warmth"), how, number(0.5)), cloud);
    EXPECT_EQ(std::count(kept.begin(), kept.end(), 6U), holds ? 1 : 0);
    const auto itself = kept_by(comparison(field("warmth"), how, field("warmth")), cloud);
    EXPECT_EQ(std::count(itself.begin(), itself.end(), 6U), holds ? 1 : 0);
    // A condition made by a program may hold such a number too.
    for (const char* name : {"warmth", "intensity", "scan_angle", "x", "gps_time"}) {
      EXPECT_EQ(kept_by(comparison(field(name), how, number(std::nan(""))), cloud).size(), holds ? 8U : 0U) << name;
      EXPECT_EQ(kept_by(comparison(number(std::nan("")), how, field(name)), cloud).size(), holds ? 8U : 0U) << name;
    }
  }
  EXPECT_THAT(kept_by(member("warmth", {Value::of_real(0.25), Value::of_real(std::nan(""))}), cloud), ElementsAre(1));
  EXPECT_THAT(kept_by(member("x", {Value::of_real(std::nan(""))}), cloud), IsEmpty());
}

TEST(Where, NamesAnUnknownField) {
  const PointCloud cloud = make_lattice({});
  Selection selection;
  selection.where.push_back(comparison(field("colour"), Comparison::kEqual, number(std::int64_t{1})));
  EXPECT_THAT(refusal(selection, cloud), HasSubstr("no field 'colour'; fields are x, y, z, id, intensity"));
  selection.where = {member("colour", {})};
  EXPECT_THAT(refusal(selection, cloud), HasSubstr("no field 'colour'"));
  selection.where = {comparison(field("x"), Comparison::kEqual, field("colour"))};
  EXPECT_THAT(refusal(selection, cloud), HasSubstr("no field 'colour'"));
}

TEST(Where, CombinesAndRefusesDepthBeyondTheEvaluator) {
  const PointCloud cloud = make_lattice(std::vector<RawPoint>(10));
  const auto id = [](std::int64_t i) { return comparison(field("id"), Comparison::kEqual, number(i)); };
  Expression nothing;
  nothing.kind = Expression::Kind::kOr;
  Expression everything;
  everything.kind = Expression::Kind::kAnd;
  EXPECT_THAT(kept_by(nothing, cloud), IsEmpty());
  EXPECT_EQ(kept_by(everything, cloud).size(), 10U);
  // 1 or (2 or (3 or ...)), which needs a place of the stack for each level.
  const auto nested = [&](int depth) {
    Expression out = id(depth);
    for (int i = depth - 1; i > 0; --i) {
      Expression outer;
      outer.kind = Expression::Kind::kOr;
      outer.children = {id(i), out};
      out = outer;
    }
    return out;
  };
  EXPECT_THAT(kept_by(nested(4), cloud), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(kept_by(nested(63), cloud), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
  Selection deep;
  deep.where = {nested(64)};
  EXPECT_THAT(refusal(deep, cloud), HasSubstr("nested too deeply"));
}

// ---- polygons

Polygon polygon_of(std::vector<std::vector<Polygon::Vertex>> rings) {
  Polygon out;
  out.rings = std::move(rings);
  return out;
}

/// Points of a square raster of lattice numbers.
std::vector<RawPoint> raster(std::int32_t low, std::int32_t high, std::int32_t step = 1) {
  std::vector<RawPoint> out;
  for (std::int32_t y = low; y <= high; y += step) {
    for (std::int32_t x = low; x <= high; x += step) out.push_back({x, y, 0});
  }
  return out;
}

std::vector<WorldPoint> world_of(const std::vector<RawPoint>& points, double scale) {
  std::vector<WorldPoint> out;
  for (const RawPoint& p : points) out.push_back({p[0] * scale, p[1] * scale, p[2] * scale});
  return out;
}

TEST(PolygonRegion, IsDecidedInIntegersOnALattice) {
  const PointCloud cloud = make_lattice({});
  Selection selection;
  selection.regions.emplace_back(polygon_of({{{0, 0}, {0.3, 0.1}, {0.2, 0.7}}}));
  const PredicateProgram program = build_predicate(selection, cloud.info().schema, cloud.info().frame);
  ASSERT_EQ(program.ops.size(), 1U);
  EXPECT_EQ(program.ops[0].code, PredicateOp::Code::kLatticePolygon);
  EXPECT_FALSE(program.lattice_edges.empty());
  EXPECT_FALSE(program.needs_world);
}

TEST(PolygonRegion, FallsBackToDoublesForOddScales) {
  const Lattice odd{{1.0 / 3.0, 0.01, 0.01}, {0, 0, 0}};
  const PointCloud cloud = make_lattice({{3, 50, 0}, {-3, 50, 0}, {4, 50, 0}}, odd);
  Selection selection;
  selection.regions.emplace_back(polygon_of({{{0, 0}, {1.1, 0}, {1.1, 1}, {0, 1}}}));
  const PredicateProgram program = build_predicate(selection, cloud.info().schema, cloud.info().frame);
  ASSERT_EQ(program.ops.size(), 1U);
  EXPECT_EQ(program.ops[0].code, PredicateOp::Code::kWorldPolygon);
  EXPECT_TRUE(program.needs_world);
  EXPECT_TRUE(program.lattice_edges.empty());
  EXPECT_THAT(kept_by(selection, cloud), ElementsAre(0));
}

/// A tiling of [0, cells] x [0, cells] (times `unit` steps of the lattice): a raster of vertices, inner ones moved at
/// random, by no more than a quarter, so that a quadrilateral stays convex; each stays whole or is cut in two. Rings
/// run in either direction.
std::vector<Polygon> random_tiling(Dice& dice, int cells, std::int64_t unit, std::int64_t jitter, int exponent) {
  std::map<std::pair<int, int>, Polygon::Vertex> vertices;
  for (int y = 0; y <= cells; ++y) {
    for (int x = 0; x <= cells; ++x) {
      const bool border_x = x == 0 || x == cells;
      const bool border_y = y == 0 || y == cells;
      const std::int64_t dx = border_x ? 0 : dice.between(-jitter, jitter);
      const std::int64_t dy = border_y ? 0 : dice.between(-jitter, jitter);
      vertices[{x, y}] = {decimal(x * unit + dx, exponent), decimal(y * unit + dy, exponent)};
    }
  }
  std::vector<Polygon> out;
  const auto add = [&](std::vector<Polygon::Vertex> ring) {
    if (dice.between(0, 1) == 1) std::reverse(ring.begin(), ring.end());
    if (dice.between(0, 1) == 1) ring.push_back(ring.front());
    std::rotate(ring.begin(), ring.begin() + dice.between(0, 2), ring.end());
    if (dice.between(0, 3) == 0) ring.insert(ring.begin() + 1, ring[1]);
    out.push_back(polygon_of({ring}));
  };
  for (int y = 0; y < cells; ++y) {
    for (int x = 0; x < cells; ++x) {
      const auto a = vertices[{x, y}];
      const auto b = vertices[{x + 1, y}];
      const auto c = vertices[{x + 1, y + 1}];
      const auto d = vertices[{x, y + 1}];
      switch (dice.between(0, 2)) {
        case 0:
          add({a, b, c, d});
          break;
        case 1:
          add({a, b, c});
          add({a, c, d});
          break;
        default:
          add({a, b, d});
          add({b, c, d});
          break;
      }
    }
  }
  return out;
}

void expect_tiling(const std::vector<Polygon>& tiles, const PointCloud& cloud) {
  std::vector<int> owners(cloud.count(), 0);
  for (const Polygon& tile : tiles) {
    for (const std::uint32_t i : kept_by(tile, cloud)) ++owners[i];
  }
  for (std::uint64_t i = 0; i < cloud.count(); ++i) ASSERT_EQ(owners[i], 1) << "point " << i;
}

TEST(PolygonRegion, TilingsHoldEveryPointExactlyOnce) {
  Dice dice(5);
  for (int round = 0; round < 12; ++round) {
    // Vertices on lattice numbers, so that many points lie on edges and vertices; and on tenths of them.
    for (const int finer : {0, 1}) {
      const std::int64_t factor = finer == 0 ? 1 : 10;
      const std::vector<Polygon> tiles = random_tiling(dice, 5, 8 * factor, 2 * factor, -2 - finer);
      const std::vector<RawPoint> points = raster(0, 39);
      expect_tiling(tiles, make_lattice(points));
      expect_tiling(tiles, make_lattice(points, Lattice{{0.01, 0.01, 0.01}, {0, 0, 5}}));
    }
    // Binary fractions: the same points as doubles lie on the same edges.
    const std::vector<Polygon> tiles = random_tiling(dice, 5, 8, 2, 0);
    expect_tiling(tiles, make_world(CoordinateKind::kFloat64, world_of(raster(0, 39), 1.0)));
    expect_tiling(tiles, make_world(CoordinateKind::kFloat32, world_of(raster(0, 319), 0.125)));
    if (HasFatalFailure()) return;
  }
}

TEST(PolygonRegion, TilingsOfDoublesAreExact) {
  Dice dice(6);
  // Coordinates whose products do not fit a double; points on and next to the edges.
  for (int round = 0; round < 200; ++round) {
    const auto at = [&] { return dice.unit() * 1e3; };
    const Polygon::Vertex a{-at(), -at()}, b{at() + 1e3, at() * 1e-7}, c{at(), at() + 1e3}, d{-at() - 1e3, at()};
    std::vector<WorldPoint> points;
    for (int k = 0; k <= 50; ++k) {
      const double t = k / 50.0;
      points.push_back({a.x + (c.x - a.x) * t, a.y + (c.y - a.y) * t, 0});
      points.push_back({std::nextafter(points.back()[0], 1e9), points.back()[1], 0});
    }
    const PointCloud cloud = make_world(CoordinateKind::kFloat64, points);
    const auto whole = kept_by(polygon_of({{a, b, c, d}}), cloud);
    auto parts = kept_by(polygon_of({{a, c, b}}), cloud);
    const auto other = kept_by(polygon_of({{a, c, d}}), cloud);
    parts.insert(parts.end(), other.begin(), other.end());
    std::sort(parts.begin(), parts.end());
    ASSERT_EQ(parts, whole);
  }
}

/// Even-odd along a ray upwards, in integers; -1 on the boundary.
int inside_upwards(const std::vector<std::vector<std::array<std::int64_t, 2>>>& rings, std::int64_t px,
                   std::int64_t py) {
  int crossings = 0;
  for (const auto& ring : rings) {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      auto a = ring[i];
      auto b = ring[(i + 1) % ring.size()];
      const std::int64_t cross = (b[0] - a[0]) * (py - a[1]) - (b[1] - a[1]) * (px - a[0]);
      if (cross == 0 && std::min(a[0], b[0]) <= px && px <= std::max(a[0], b[0]) && std::min(a[1], b[1]) <= py &&
          py <= std::max(a[1], b[1])) {
        return -1;
      }
      if (a[0] > b[0]) std::swap(a, b);
      if (px < a[0] || px >= b[0]) continue;
      // The edge at px lies above the point.
      if ((b[1] - a[1]) * (px - a[0]) > (py - a[1]) * (b[0] - a[0])) ++crossings;
    }
  }
  return crossings % 2;
}

TEST(PolygonRegion, AgreesWithARayInAnotherDirection) {
  Dice dice(7);
  const std::vector<RawPoint> points = raster(-30, 30);
  const PointCloud lattice = make_lattice(points);
  const PointCloud world = make_world(CoordinateKind::kFloat64, world_of(points, 1.0));
  for (int round = 0; round < 60; ++round) {
    std::vector<std::vector<std::array<std::int64_t, 2>>> rings(static_cast<std::size_t>(dice.between(1, 3)));
    std::vector<std::vector<Polygon::Vertex>> in_steps(rings.size());
    std::vector<std::vector<Polygon::Vertex>> in_units(rings.size());
    for (std::size_t r = 0; r < rings.size(); ++r) {
      const std::int64_t vertices = dice.between(3, 9);
      for (std::int64_t v = 0; v < vertices; ++v) {
        const std::int64_t x = dice.between(-30, 30);
        const std::int64_t y = dice.between(-30, 30);
        rings[r].push_back({x, y});
        in_steps[r].push_back({decimal(x, -2), decimal(y, -2)});
        in_units[r].push_back({static_cast<double>(x), static_cast<double>(y)});
      }
    }
    const auto on_lattice = kept_by(polygon_of(in_steps), lattice);
    EXPECT_EQ(kept_by(polygon_of(in_units), world), on_lattice);
    std::vector<bool> kept(points.size(), false);
    for (const std::uint32_t i : on_lattice) kept[i] = true;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const int wanted = inside_upwards(rings, points[i][0], points[i][1]);
      if (wanted < 0) continue;
      ASSERT_EQ(kept[i], wanted == 1) << points[i][0] << ' ' << points[i][1];
    }
  }
}

TEST(PolygonRegion, KnowsHolesIslandsAndBowTies) {
  const std::vector<RawPoint> points = {{5, 5, 0},   {20, 20, 0}, {25, 25, 0}, {35, 35, 0},
                                        {45, 45, 0}, {-5, 0, 0},  {95, 5, 0},  {95, -5, 0}};
  const PointCloud cloud = make_lattice(points);
  const std::vector<Polygon::Vertex> outer = {{0, 0}, {0.4, 0}, {0.4, 0.4}, {0, 0.4}};
  const std::vector<Polygon::Vertex> hole = {{0.1, 0.1}, {0.3, 0.1}, {0.3, 0.3}, {0.1, 0.3}};
  const std::vector<Polygon::Vertex> island = {{0.22, 0.22}, {0.28, 0.22}, {0.28, 0.28}, {0.22, 0.28}};
  auto turned = hole;
  std::reverse(turned.begin(), turned.end());
  EXPECT_THAT(kept_by(polygon_of({outer, hole}), cloud), ElementsAre(0, 3));
  EXPECT_THAT(kept_by(polygon_of({outer, turned}), cloud), ElementsAre(0, 3));
  EXPECT_THAT(kept_by(polygon_of({island, hole, outer}), cloud), ElementsAre(0, 2, 3));
  // The two triangles left and right of the crossing are inside, above and below it is not.
  const Polygon bow_tie = polygon_of({{{0, 0}, {0.4, 0.4}, {0.4, 0}, {0, 0.4}}});
  EXPECT_THAT(kept_by(bow_tie, make_lattice({{5, 20, 0}, {35, 20, 0}, {20, 5, 0}, {20, 35, 0}})), ElementsAre(0, 1));
}

TEST(PolygonRegion, HoldsItsLowerAndLeftEdges) {
  const Polygon square = polygon_of({{{0, 0}, {0.02, 0}, {0.02, 0.02}, {0, 0.02}}});
  const std::vector<RawPoint> points = raster(-1, 3);
  for (const PointCloud& cloud : {make_lattice(points), make_world(CoordinateKind::kFloat64, world_of(points, 0.01))}) {
    EXPECT_THAT(kept_by(square, cloud), ElementsAre(6, 7, 11, 12));
  }
}

TEST(PolygonRegion, MayBeEmptyFlatOrAPoint) {
  const PointCloud cloud = make_lattice(raster(-2, 2));
  EXPECT_THAT(kept_by(polygon_of({}), cloud), IsEmpty());
  EXPECT_THAT(kept_by(polygon_of({{}}), cloud), IsEmpty());
  EXPECT_THAT(kept_by(polygon_of({{{0, 0}}}), cloud), IsEmpty());
  EXPECT_THAT(kept_by(polygon_of({{{-1, 0}, {1, 0}, {0.5, 0}}}), cloud), IsEmpty());
  EXPECT_THAT(kept_by(polygon_of({{{0, -1}, {0, 1}}}), cloud), IsEmpty());
  EXPECT_THAT(refusal(polygon_of({{{0, 0}, {kInfinity, 0}, {1, 1}}}), cloud), HasSubstr("finite"));
  EXPECT_THAT(refusal(polygon_of({{{0, 0}, {std::nan(""), 0}, {1, 1}}}), cloud), HasSubstr("finite"));
}

TEST(PolygonRegion, FollowsNegativeScalesAndFarCorners) {
  const Polygon square = polygon_of({{{-21474836.48, -1}, {0, -1}, {0, 21474836.47}, {-21474836.48, 21474836.47}}});
  const std::int32_t low = std::numeric_limits<std::int32_t>::min();
  const std::int32_t high = std::numeric_limits<std::int32_t>::max();
  EXPECT_THAT(kept_by(square, make_lattice({{low, high - 1, 0}, {low, high, 0}, {-1, 0, 0}, {0, 0, 0}, {high, 0, 0}})),
              ElementsAre(0, 2));
  const Lattice turned{{-0.01, 0.01, 0.01}, {0, 0, 0}};
  EXPECT_THAT(kept_by(square, make_lattice({{1, 0, 0}, {0, 0, 0}, {-1, 0, 0}, {high, 0, 0}}, turned)),
              ElementsAre(0, 3));
}

// ---- oriented boxes

using Matrix = std::array<std::array<long double, 3>, 3>;

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix out{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) out[i][j] += a[i][k] * b[k][j];
    }
  }
  return out;
}

/// Rotation about axis 0, 1 or 2, right-handed.
Matrix rotation(std::size_t axis, long double c, long double s) {
  Matrix out{};
  const std::size_t u = (axis + 1) % 3;
  const std::size_t v = (axis + 2) % 3;
  out[axis][axis] = 1;
  out[u][u] = out[v][v] = c;
  out[u][v] = -s;
  out[v][u] = s;
  return out;
}

TEST(OrientedBoxRegion, AgreesWithRotationMatrices) {
  Dice dice(8);
  std::vector<WorldPoint> points;
  for (int i = 0; i < 3000; ++i) points.push_back({dice.unit() * 8 - 4, dice.unit() * 8 - 4, dice.unit() * 8 - 4});
  const PointCloud cloud = make_world(CoordinateKind::kFloat64, points);
  int decided = 0;
  for (int round = 0; round < 40; ++round) {
    OrientedBox box;
    for (int d = 0; d < 3; ++d) {
      box.center[d] = dice.unit() - 0.5;
      box.length[d] = 1 + 4 * dice.unit();
    }
    box.yaw = dice.unit() * 1000 - 500;
    box.pitch = round % 4 == 0 ? 0 : dice.unit() * 400 - 200;
    box.roll = round % 3 == 0 ? 0 : dice.unit() * 400 - 200;
    const long double radians = std::acos(-1.0L) / 180;
    const auto turn = [&](std::size_t axis, double degrees) {
      return rotation(axis, std::cos(degrees * radians), std::sin(degrees * radians));
    };
    const Matrix r = product(product(turn(2, box.yaw), turn(1, box.pitch)), turn(0, box.roll));
    std::vector<bool> kept(points.size(), false);
    for (const std::uint32_t i : kept_by(box, cloud)) kept[i] = true;
    for (std::size_t i = 0; i < points.size(); ++i) {
      bool inside = true;
      bool near = false;
      for (std::size_t d = 0; d < 3; ++d) {
        long double along = 0;
        for (std::size_t k = 0; k < 3; ++k) along += r[k][d] * (points[i][k] - box.center[k]);
        const long double beyond = std::fabs(along) - box.length[d] / 2.0L;
        inside = inside && beyond <= 0;
        near = near || std::fabs(beyond) < 1e-12L;
      }
      if (near) continue;
      ASSERT_EQ(kept[i], inside) << i;
      decided += inside ? 1 : 0;
    }
  }
  EXPECT_GT(decided, 1000);
}

TEST(OrientedBoxRegion, KeepsItsFacesAtRightAngles) {
  const std::vector<RawPoint> points = [] {
    std::vector<RawPoint> out;
    for (int x = -4; x <= 4; ++x) {
      for (int y = -4; y <= 4; ++y) {
        for (int z = -4; z <= 4; ++z) out.push_back({x, y, z});
      }
    }
    return out;
  }();
  const PointCloud lattice = make_lattice(points, Lattice{{1, 1, 1}, {0, 0, 0}});
  const PointCloud world = make_world(CoordinateKind::kFloat32, world_of(points, 1.0));
  static constexpr int kCosine[4] = {1, 0, -1, 0};
  for (int turns = 0; turns < 64; ++turns) {
    const int yaw = turns / 16;
    const int pitch = turns / 4 % 4;
    const int roll = turns % 4;
    OrientedBox box;
    box.length[0] = 2;
    box.length[1] = 4;
    box.length[2] = 6;
    box.yaw = 90.0 * yaw - 360;
    box.pitch = 90.0 * pitch;
    box.roll = 90.0 * roll + 360;
    const auto turn = [&](std::size_t axis, int quarters) {
      return rotation(axis, kCosine[quarters], kCosine[(quarters + 3) % 4]);
    };
    const Matrix r = product(product(turn(2, yaw), turn(1, pitch)), turn(0, roll));
    std::vector<std::uint32_t> wanted;
    for (std::size_t i = 0; i < points.size(); ++i) {
      bool inside = true;
      for (std::size_t d = 0; d < 3; ++d) {
        long double along = 0;
        for (std::size_t k = 0; k < 3; ++k) along += r[k][d] * points[i][k];
        inside = inside && std::fabs(along) <= box.length[d] / 2;
      }
      if (inside) wanted.push_back(static_cast<std::uint32_t>(i));
    }
    EXPECT_EQ(kept_by(box, lattice), wanted) << turns;
    EXPECT_EQ(kept_by(box, world), wanted) << turns;
    EXPECT_EQ(wanted.size(), 3U * 5U * 7U);
  }
}

TEST(OrientedBoxRegion, RefusesWhatMakesNoSense) {
  const PointCloud cloud = make_lattice({});
  OrientedBox box;
  box.length[1] = -1;
  EXPECT_THAT(refusal(box, cloud), HasSubstr("must not be negative"));
  box.length[1] = 1;
  box.roll = kInfinity;
  EXPECT_THAT(refusal(box, cloud), HasSubstr("finite"));
}

// ---- round regions

TEST(SphereRegion, KeepsAPointAtExactlyTheRadius) {
  Sphere sphere;
  sphere.radius = 5;
  const std::vector<WorldPoint> points = {
      {3, 4, 0}, {0, -3, 4}, {5, 0, 0}, {std::nextafter(5.0, 6.0), 0, 0}, {3, 4, 1}};
  EXPECT_THAT(kept_by(sphere, make_world(CoordinateKind::kFloat64, points)), ElementsAre(0, 1, 2));
  EXPECT_THAT(kept_by(sphere, make_lattice({{300, 400, 0}, {0, 0, -500}, {0, 0, 501}, {300, 400, 1}})),
              ElementsAre(0, 1));
  sphere.radius = 0;
  sphere.center[0] = 3;
  sphere.center[1] = 4;
  EXPECT_THAT(kept_by(sphere, make_world(CoordinateKind::kFloat64, points)), ElementsAre(0));
  sphere.radius = -1;
  EXPECT_THAT(refusal(sphere, make_lattice({})), HasSubstr("radius"));
  sphere.radius = std::nan("");
  EXPECT_THAT(refusal(sphere, make_lattice({})), HasSubstr("radius"));
}

TEST(SphereRegion, AddsSquaresInTheWrittenOrder) {
  Dice dice(9);
  std::vector<WorldPoint> points;
  Sphere sphere;
  sphere.radius = 0.7;
  for (int i = 0; i < 2000; ++i) {
    // On the surface but for rounding.
    const double a = dice.unit() * 7;
    const double h = dice.unit() * 2 - 1;
    const double level = std::sqrt(1 - h * h);
    points.push_back({0.7 * level * std::cos(a), 0.7 * level * std::sin(a), 0.7 * h});
  }
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t i = 0; i < points.size(); ++i) {
    const volatile double xx = points[i][0] * points[i][0];
    const volatile double yy = points[i][1] * points[i][1];
    const volatile double zz = points[i][2] * points[i][2];
    const volatile double level = xx + yy;
    if (level + zz <= 0.7 * 0.7) wanted.push_back(i);
  }
  EXPECT_GT(wanted.size(), 100U);
  EXPECT_LT(wanted.size(), 1900U);
  EXPECT_EQ(kept_by(sphere, make_world(CoordinateKind::kFloat64, points)), wanted);
}

TEST(CylinderRegion, IsUprightWithBoundsOfABox) {
  Cylinder cylinder;
  cylinder.center[0] = 1;
  cylinder.radius = 1;
  const std::vector<RawPoint> points = {{0, 0, 0}, {200, 0, 99999}, {100, 100, -5}, {201, 0, 0}, {100, 0, 300}};
  EXPECT_THAT(kept_by(cylinder, make_lattice(points)), ElementsAre(0, 1, 2, 4));
  cylinder.z_max = 2.99999;  // within a hundredth of a step of 3.00
  EXPECT_THAT(kept_by(cylinder, make_lattice(points)), ElementsAre(0, 2, 4));
  cylinder.z_min = 0;
  EXPECT_THAT(kept_by(cylinder, make_lattice(points)), ElementsAre(0, 4));
  EXPECT_THAT(kept_by(cylinder, make_world(CoordinateKind::kFloat32, world_of(points, 0.01))), ElementsAre(0));
}

TEST(RangeRegion, IsClosedAtBothEnds) {
  RangeRing ring;
  ring.min = 3;
  ring.max = 5;
  EXPECT_THAT(kept_by(ring, make_lattice({{300, 0, 0}, {299, 0, 0}, {300, 400, 0}, {0, 0, 501}, {0, 0, -500}})),
              ElementsAre(0, 2, 4));
  ring.max = kInfinity;
  EXPECT_THAT(kept_by(ring, make_lattice({{0, 0, 0}, {2000000000, 2000000000, 2000000000}})), ElementsAre(1));
  ring.max = 2;
  EXPECT_THAT(refusal(ring, make_lattice({})), HasSubstr("lower bound is above"));
  ring.min = -1;
  EXPECT_THAT(refusal(ring, make_lattice({})), HasSubstr("must not be negative"));
}

// ---- planes

TEST(HalfSpaceRegion, HoldsItsPlane) {
  HalfSpace plane;
  plane.normal[0] = 1;
  plane.normal[2] = 0;
  plane.offset = -1;
  EXPECT_THAT(kept_by(plane, make_lattice({{100, 0, 0}, {99, 5, 5}, {101, -5, -5}})), ElementsAre(0, 2));
  plane.normal[1] = std::nan("");
  EXPECT_THAT(refusal(plane, make_lattice({})), HasSubstr("finite"));
}

TEST(FrustumRegion, IsWhereAllPlanesHold) {
  Frustum frustum;
  const auto plane = [](double x, double y, double z, double d) {
    HalfSpace out;
    out.normal[0] = x;
    out.normal[1] = y;
    out.normal[2] = z;
    out.offset = d;
    return out;
  };
  // A pyramid along +x: |y| <= x, |z| <= x, 1 <= x <= 2.
  frustum.planes = {plane(1, 1, 0, 0),  plane(1, -1, 0, 0), plane(1, 0, 1, 0),
                    plane(1, 0, -1, 0), plane(1, 0, 0, -1), plane(-1, 0, 0, 2)};
  EXPECT_THAT(
      kept_by(frustum, make_lattice({{100, 100, -100}, {99, 0, 0}, {200, -200, 200}, {201, 0, 0}, {150, 151, 0}})),
      ElementsAre(0, 2));
  frustum.planes.clear();
  EXPECT_THAT(refusal(frustum, make_lattice({})), HasSubstr("at least one plane"));
}

// ---- sectors

Sector sector_of(double az0, double az1, double el0 = -90, double el1 = 90) {
  Sector out;
  out.az0 = az0;
  out.az1 = az1;
  out.el0 = el0;
  out.el1 = el1;
  return out;
}

TEST(SectorRegion, KeepsItsEdgesAndWraps) {
  // East, north-east, north, north-west, west, south-west, south, south-east.
  const PointCloud cloud =
      make_lattice({{1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {-1, 1, 0}, {-1, 0, 0}, {-1, -1, 0}, {0, -1, 0}, {1, -1, 0}});
  EXPECT_THAT(kept_by(sector_of(0, 90), cloud), ElementsAre(0, 1, 2));
  EXPECT_THAT(kept_by(sector_of(90, 0), cloud), ElementsAre(0, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(kept_by(sector_of(270, 90), cloud), ElementsAre(0, 1, 2, 6, 7));
  EXPECT_THAT(kept_by(sector_of(-90, 90), cloud), ElementsAre(0, 1, 2, 6, 7));
  EXPECT_THAT(kept_by(sector_of(350, 10), cloud), ElementsAre(0));
  EXPECT_THAT(kept_by(sector_of(0, 180), cloud), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(kept_by(sector_of(180, 360), cloud), ElementsAre(0, 4, 5, 6, 7));
  EXPECT_THAT(kept_by(sector_of(0, 270), cloud), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(kept_by(sector_of(0, 269), cloud), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(kept_by(sector_of(0, 360), cloud), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(kept_by(sector_of(-1000, 1000), cloud), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(kept_by(sector_of(90, 90), cloud), ElementsAre(2));
  EXPECT_THAT(kept_by(sector_of(0, 0), cloud), ElementsAre(0));
  EXPECT_THAT(kept_by(sector_of(180, 180), cloud), ElementsAre(4));
  EXPECT_THAT(kept_by(sector_of(810, 810), cloud), ElementsAre(2));
}

TEST(SectorRegion, OfExactlyHalfATurnIsAHalfPlane) {
  const std::vector<RawPoint> points = raster(-20, 20);
  const PointCloud cloud = make_lattice(points);
  for (const double start : {0.0, 90.0, 180.0, 270.0, -180.0}) {
    const auto one = kept_by(sector_of(start, start + 180), cloud);
    const auto other = kept_by(sector_of(start + 180, start + 360), cloud);
    EXPECT_EQ(one.size() + other.size(), points.size() + 41U) << start;  // the line belongs to both
  }
}

TEST(SectorRegion, AgreesWithAngles) {
  Dice dice(10);
  std::vector<WorldPoint> points;
  for (int i = 0; i < 2000; ++i) points.push_back({dice.unit() * 8 - 4, dice.unit() * 8 - 4, dice.unit() * 8 - 4});
  const PointCloud cloud = make_world(CoordinateKind::kFloat64, points);
  const long double degrees = 180 / std::acos(-1.0L);
  for (int round = 0; round < 60; ++round) {
    Sector sector = sector_of(dice.unit() * 720 - 360, 0, dice.unit() * 180 - 90, 90);
    sector.az1 = sector.az0 + dice.unit() * 359.9;
    if (round % 2 == 0) sector.az1 -= 360;
    sector.el1 = sector.el0 + dice.unit() * (90 - sector.el0);
    for (double& c : sector.center) c = dice.unit();
    std::vector<bool> kept(points.size(), false);
    for (const std::uint32_t i : kept_by(sector, cloud)) kept[i] = true;
    const auto wrapped = [](long double angle) { return angle - 360 * std::floor(angle / 360); };
    const long double width = wrapped(static_cast<long double>(sector.az1) - sector.az0);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const long double x = points[i][0] - static_cast<long double>(sector.center[0]);
      const long double y = points[i][1] - static_cast<long double>(sector.center[1]);
      const long double z = points[i][2] - static_cast<long double>(sector.center[2]);
      const long double azimuth = wrapped(std::atan2(y, x) * degrees - sector.az0);
      const long double elevation = std::atan2(z, std::sqrt(x * x + y * y)) * degrees;
      const long double near = std::min({std::fabs(azimuth - width), azimuth, 360 - azimuth,
                                         std::fabs(elevation - sector.el0), std::fabs(elevation - sector.el1)});
      if (near < 1e-9L) continue;
      const bool inside = azimuth <= width && elevation >= sector.el0 && elevation <= sector.el1;
      ASSERT_EQ(kept[i], inside) << round << ' ' << i;
    }
  }
}

TEST(SectorRegion, KnowsElevations) {
  const PointCloud cloud = make_lattice({{0, 0, 100}, {100, 0, 100}, {100, 0, 0}, {100, 0, -100}, {0, 0, -100}});
  EXPECT_THAT(kept_by(sector_of(0, 360, 0, 90), cloud), ElementsAre(0, 1, 2));
  EXPECT_THAT(kept_by(sector_of(0, 360, -90, 0), cloud), ElementsAre(2, 3, 4));
  EXPECT_THAT(kept_by(sector_of(0, 360, 0, 0), cloud), ElementsAre(2));
  EXPECT_THAT(kept_by(sector_of(0, 360, 90, 90), cloud), ElementsAre(0));
  EXPECT_THAT(kept_by(sector_of(0, 360, -90, -90), cloud), ElementsAre(4));
  EXPECT_THAT(kept_by(sector_of(0, 360, 80, 90), cloud), ElementsAre(0));
  EXPECT_THAT(kept_by(sector_of(0, 360, -90, -80), cloud), ElementsAre(4));
  // The apex and the axis above it lie in every direction.
  EXPECT_THAT(kept_by(sector_of(90, 100, -90, 90), cloud), ElementsAre(0, 4));
  EXPECT_THAT(refusal(sector_of(0, 10, 5, 4), cloud), HasSubstr("lower elevation is above"));
  EXPECT_THAT(refusal(sector_of(0, 10, -91, 4), cloud), HasSubstr("-90 to 90"));
  EXPECT_THAT(refusal(sector_of(0, kInfinity), cloud), HasSubstr("finite"));
}

// ---- combination

TEST(Selection, JoinsRegionsByOrAndConditionsByAnd) {
  std::vector<RawPoint> points;
  for (std::int32_t i = 0; i < 40; ++i) points.push_back({i * 100, 0, 0});
  const PointCloud cloud = make_lattice(points);
  Selection selection;
  Box box;
  box.min[0] = 2;
  box.max[0] = 12;
  Sphere sphere;
  sphere.center[0] = 30;
  sphere.radius = 3;
  Cylinder cylinder;
  cylinder.center[0] = 31;
  cylinder.radius = 1;
  cylinder.z_min = 0;
  cylinder.z_max = 1;
  selection.regions = {box, sphere, cylinder};
  selection.where = {comparison(field("return_number"), Comparison::kLessEqual, number(std::int64_t{3})),
                     comparison(field("id"), Comparison::kNotEqual, number(std::int64_t{31}))};
  std::vector<std::uint32_t> wanted;
  std::vector<std::uint32_t> others;
  for (std::uint32_t i = 0; i < 40; ++i) {
    const bool region = (i >= 2 && i <= 12) || (i >= 27 && i <= 33) || (i >= 30 && i <= 32);
    const bool kept = region && i % 5 + 1 <= 3 && i != 31;
    (kept ? wanted : others).push_back(i);
  }
  EXPECT_EQ(kept_by(selection, cloud), wanted);
  selection.invert = true;
  EXPECT_EQ(kept_by(selection, cloud), others);
  EXPECT_EQ(kept_by(Selection{}, cloud).size(), 40U);
  Selection none;
  none.invert = true;
  EXPECT_THAT(kept_by(none, cloud), IsEmpty());
}

TEST(Selection, FractionIsTakenOfWhatTheRestKept) {
  const PointCloud cloud = make_lattice(std::vector<RawPoint>(20000));
  Selection selection;
  selection.fraction = 0.25;
  selection.seed = 3;
  const auto quarter = kept_by(selection, cloud);
  EXPECT_NEAR(static_cast<double>(quarter.size()), 5000.0, 250.0);
  std::vector<std::uint32_t> wanted;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    if (counter_random(3, i) < (std::uint64_t{1} << 62)) wanted.push_back(static_cast<std::uint32_t>(i));
  }
  EXPECT_EQ(quarter, wanted);
  // Inverting happens before.
  selection.where = {comparison(field("id"), Comparison::kLess, number(std::int64_t{10000}))};
  const auto low = kept_by(selection, cloud);
  selection.invert = true;
  const auto high = kept_by(selection, cloud);
  std::vector<std::uint32_t> joined = low;
  joined.insert(joined.end(), high.begin(), high.end());
  EXPECT_EQ(joined, quarter);
  selection = Selection{};
  selection.fraction = 0;
  EXPECT_THAT(kept_by(selection, cloud), IsEmpty());
  selection.fraction = 1;
  EXPECT_EQ(kept_by(selection, cloud).size(), 20000U);
  for (const double wrong : {-0.1, 1.1, std::nan("")}) {
    selection.fraction = wrong;
    EXPECT_THAT(refusal(selection, cloud), HasSubstr("from 0 to 1"));
  }
}

TEST(Selection, DropsZerosOnRequest) {
  const auto verdicts = [](const PointCloud& cloud) {
    Selection selection;
    selection.drop_zero = true;
    selection.invert = true;
    Box far;
    far.min[0] = 1e9;
    selection.regions.emplace_back(far);
    return kept_by(selection, cloud);
  };
  EXPECT_THAT(verdicts(make_lattice({{0, 0, 0}, {1, 0, 0}, {0, 0, 0}})), ElementsAre(1));
  EXPECT_THAT(verdicts(make_lattice({{0, 0, 0}, {-10, 20, 0}}, Lattice{{0.01, 0.01, 0.01}, {0.1, -0.2, 0}})),
              ElementsAre(0));
  // No lattice number means zero here.
  EXPECT_THAT(verdicts(make_lattice({{0, 0, 0}, {-1, 0, 0}}, Lattice{{0.01, 0.01, 0.01}, {0.005, 0, 0}})),
              ElementsAre(0, 1));
  EXPECT_THAT(verdicts(make_world(CoordinateKind::kFloat64, {{0, -0.0, 0}, {0, 1e-300, 0}})), ElementsAre(1));
}

TEST(Selection, NeverKeepsWhatIsNotFinite) {
  Selection selection;
  for (const bool invert : {false, true}) {
    selection.invert = invert;
    const PointCloud cloud =
        make_world(CoordinateKind::kFloat32, {{std::nan(""), 0, 0}, {0, kInfinity, 0}, {0, 0, -kInfinity}, {1, 2, 3}});
    EXPECT_EQ(kept_by(selection, cloud).size(), invert ? 0U : 1U);
    Selection all;
    all.invert = invert;
    all.regions.emplace_back(Box{});
    EXPECT_EQ(kept_by(all, cloud).size(), invert ? 0U : 1U);
  }
}

}  // namespace
}  // namespace sluice
