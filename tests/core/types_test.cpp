// SPDX-License-Identifier: Apache-2.0
#include "sluice/core/types.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "support/big_int.hpp"

namespace sluice {
namespace {

using test::BigInt;
using test::exact_scaled;

BigInt exact(const Value& value) {
  const BigInt unit = BigInt::power(2, 1100);
  switch (value.kind) {
    case Value::Kind::kSigned:
      return BigInt(value.i) * unit;
    case Value::Kind::kUnsigned:
      return BigInt(static_cast<int128>(value.u)) * unit;
    default:
      return exact_scaled(value.r);
  }
}

Ordering exact_order(const Value& a, const Value& b) {
  const auto huge = [](const Value& v) {
    return v.kind == Value::Kind::kReal && std::isinf(v.r) ? (v.r > 0 ? 1 : -1) : 0;
  };
  if (huge(a) != 0 || huge(b) != 0) {
    const int difference = huge(a) - huge(b);
    return difference < 0 ? Ordering::kLess : difference > 0 ? Ordering::kGreater : Ordering::kEqual;
  }
  const int sign = (exact(a) - exact(b)).sign();
  return static_cast<Ordering>(sign);
}

std::vector<Value> interesting_values() {
  std::vector<Value> out;
  for (const std::int64_t i :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{1} << 53, (std::int64_t{1} << 53) + 1,
        -(std::int64_t{1} << 53) - 1, std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::max() - 1, std::numeric_limits<std::int64_t>::min()}) {
    out.push_back(Value::of_signed(i));
    out.push_back(Value::of_unsigned(static_cast<std::uint64_t>(i)));
    out.push_back(Value::of_real(static_cast<double>(i)));
    out.push_back(Value::of_real(std::nextafter(static_cast<double>(i), 1e300)));
    out.push_back(Value::of_real(std::nextafter(static_cast<double>(i), -1e300)));
  }
  for (const double r : {0.5, -0.5, -0.0, 1e-300, -1e-300, 1e300, -1e300, 18446744073709551616.0, 1.5,
                         std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
    out.push_back(Value::of_real(r));
  }
  std::mt19937_64 random(2);
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t bits = random() >> (random() % 64);
    out.push_back(Value::of_unsigned(bits));
    out.push_back(Value::of_signed(-static_cast<std::int64_t>(bits >> 1)));
    out.push_back(Value::of_real(static_cast<double>(bits) / 4.0));
  }
  return out;
}

TEST(Value, OrderIsExactForAllPairsOfKinds) {
  const std::vector<Value> values = interesting_values();
  for (const Value& a : values) {
    for (const Value& b : values) ASSERT_EQ(compare(a, b), exact_order(a, b)) << a.as_real() << ' ' << b.as_real();
  }
}

TEST(Value, NanIsUnorderedWithEverything) {
  const Value nan = Value::of_real(std::numeric_limits<double>::quiet_NaN());
  for (const Value& value : interesting_values()) {
    EXPECT_EQ(compare(nan, value), Ordering::kUnordered);
    EXPECT_EQ(compare(value, nan), Ordering::kUnordered);
  }
  EXPECT_EQ(compare(nan, nan), Ordering::kUnordered);
}

TEST(Column, ReadsEveryTypeFromAnyAddress) {
  std::byte bytes[64] = {};
  for (std::size_t shift = 0; shift < 3; ++shift) {
    std::byte* at = bytes + 1 + shift;
    const auto read = [&](FieldType type) { return Column{at, 0, type, 0, 0}.at(0); };
    store_unaligned<std::int16_t>(at, -300);
    EXPECT_EQ(read(FieldType::kInt16).i, -300);
    EXPECT_EQ(read(FieldType::kUint16).u, 65236U);
    store_unaligned<std::int8_t>(at, -3);
    EXPECT_EQ(read(FieldType::kInt8).i, -3);
    EXPECT_EQ(read(FieldType::kUint8).u, 253U);
    store_unaligned<std::int32_t>(at, -70000);
    EXPECT_EQ(read(FieldType::kInt32).i, -70000);
    EXPECT_EQ(read(FieldType::kUint32).u, 4294897296U);
    store_unaligned<std::int64_t>(at, -5);
    EXPECT_EQ(read(FieldType::kInt64).i, -5);
    EXPECT_EQ(read(FieldType::kUint64).u, 18446744073709551611U);
    store_unaligned<float>(at, 1.5F);
    EXPECT_EQ(read(FieldType::kFloat32).r, 1.5);
    store_unaligned<double>(at, -2.25);
    EXPECT_EQ(read(FieldType::kFloat64).r, -2.25);
  }
}

TEST(Column, StridesAndTakesRangesOfBits) {
  std::byte bytes[6] = {std::byte{0xe5}, std::byte{1}, std::byte{0x1f}, std::byte{2}, std::byte{0x80}, std::byte{3}};
  const Column low{bytes, 2, FieldType::kUint8, 0, 5};
  const Column high{bytes, 2, FieldType::kUint8, 5, 3};
  EXPECT_EQ(low.at(0).u, 5U);
  EXPECT_EQ(low.at(1).u, 31U);
  EXPECT_EQ(low.at(2).u, 0U);
  EXPECT_EQ(high.at(0).u, 7U);
  EXPECT_EQ(high.at(1).u, 0U);
  EXPECT_EQ(high.at(2).u, 4U);
}

TEST(Finite, LooksAtTheBits) {
  for (const double x : {0.0, -0.0, 1e308, 5e-324}) EXPECT_TRUE(is_finite(x));
  for (const double x : {HUGE_VAL, -HUGE_VAL, std::nan("")}) EXPECT_FALSE(is_finite(x));
  EXPECT_TRUE(is_finite(3.4e38F));
  EXPECT_FALSE(is_finite(HUGE_VALF));
  EXPECT_FALSE(is_finite(std::nanf("")));
}

TEST(Positions, LoadPackedAndStridedAlike) {
  const Record16 records[2] = {{1, -2, 3, 9}, {4, 5, -6, 8}};
  const Positions packed = Positions::packed(records, CoordinateKind::kLattice);
  EXPECT_TRUE(packed.is_packed());
  const Position second = load_position(packed, 1);
  EXPECT_EQ(second.raw[0], 4);
  EXPECT_EQ(second.raw[2], -6);
  Positions strided = packed;
  strided.stride = 20;
  EXPECT_FALSE(strided.is_packed());
  const Record32 wide[1] = {{1.5, 2.5, 3.5, 0}};
  EXPECT_TRUE(Positions::packed(wide).is_packed());
  EXPECT_EQ(load_position(Positions::packed(wide), 0).world[1], 2.5);
}

TEST(Positions, LoadColumns) {
  const std::int32_t numbers[3][2] = {{1, 2}, {-3, 4}, {5, -6}};
  const Positions lattice = Positions::columns(numbers[0], numbers[1], numbers[2]);
  EXPECT_EQ(lattice.kind, CoordinateKind::kLattice);
  EXPECT_TRUE(lattice.is_columns());
  EXPECT_FALSE(lattice.is_packed());
  EXPECT_EQ(load_position(lattice, 0).raw[1], -3);
  EXPECT_EQ(load_position(lattice, 1).raw[2], -6);
  const float floats[3][2] = {{0.5F, 1.5F}, {2.5F, 3.5F}, {4.5F, 5.5F}};
  const Positions narrow = Positions::columns(floats[0], floats[1], floats[2]);
  EXPECT_EQ(narrow.kind, CoordinateKind::kFloat32);
  EXPECT_TRUE(narrow.is_columns());
  EXPECT_EQ(load_position(narrow, 1).world[0], 1.5);
  const double doubles[3][2] = {{0.5, 1.5}, {2.5, 3.5}, {4.5, 5.5}};
  const Positions wide = Positions::columns(doubles[0], doubles[1], doubles[2]);
  EXPECT_EQ(wide.kind, CoordinateKind::kFloat64);
  EXPECT_TRUE(wide.is_columns());
  EXPECT_EQ(load_position(wide, 1).world[2], 5.5);
  const Record16 records[1] = {{1, 2, 3, 4}};
  EXPECT_FALSE(Positions::packed(records, CoordinateKind::kFloat32).is_columns());
}

// Rounded after the product and after the sum: a fused operation would give another number here.
TEST(ToWorld, RoundsTwice) {
  const double scale = 0.1;
  const volatile double product = 3.0 * scale;
  EXPECT_EQ(to_world(3, scale, -0.3), product + -0.3);
  EXPECT_NE(to_world(3, scale, -0.3), std::fma(3.0, scale, -0.3));
}

}  // namespace
}  // namespace sluice
