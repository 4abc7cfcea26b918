// SPDX-License-Identifier: Apache-2.0
#include "sluice/core/centroid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/big_int.hpp"

namespace sluice {
namespace {

using test::BigInt;

CellGrid unit_grid(CoordinateKind kind, bool use_z = true) {
  GridSpec spec;
  spec.use_z = use_z;
  CoordinateFrame frame;
  frame.kind = kind;
  return make_cell_grid(spec, frame);
}

constexpr std::int64_t kNoCell[3] = {0, 0, 0};

TEST(Centroid, OnALatticeIsTheMeanRoundedHalfToEven) {
  const CellGrid grid = unit_grid(CoordinateKind::kLattice);
  CentroidSums sums;
  for (const std::int32_t raw : {1, 2}) add_point(sums, grid, Position{{raw, -raw, raw + 2}, {}}, kNoCell);
  const Record16 mean = lattice_centroid(sums);
  EXPECT_EQ(mean.x, 2);   // 1.5
  EXPECT_EQ(mean.y, -2);  // -1.5
  EXPECT_EQ(mean.z, 4);   // 3.5
  EXPECT_EQ(mean.w, 2U);
}

TEST(Centroid, OfOnePointIsThatPoint) {
  const Position lattice{{2147483647, -2147483647 - 1, 17}, {}};
  CentroidSums sums;
  add_point(sums, unit_grid(CoordinateKind::kLattice), lattice, kNoCell);
  const Record16 mean = lattice_centroid(sums);
  EXPECT_EQ(mean.x, lattice.raw[0]);
  EXPECT_EQ(mean.y, lattice.raw[1]);
  EXPECT_EQ(mean.z, lattice.raw[2]);

  const CellGrid grid = unit_grid(CoordinateKind::kFloat64);
  const Position world{{}, {0.1, 0.2, 1.0 / 3.0}};
  CentroidSums one;
  add_point(one, grid, world, kNoCell);
  const Record32 same = world_centroid(grid, one, kNoCell, world);
  EXPECT_EQ(same.x, 0.1);
  EXPECT_EQ(same.y, 0.2);
  EXPECT_EQ(same.z, 1.0 / 3.0);
  EXPECT_EQ(same.w, 1U);
}

TEST(Centroid, OfFloatsLiesWithinAStepOfTheMean) {
  const CellGrid grid = unit_grid(CoordinateKind::kFloat64);
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> inside(0.0, 1.0);
  for (int round = 0; round < 100; ++round) {
    const std::int64_t cell[3] = {static_cast<std::int64_t>(random() % 1000) - 500, 7, -3};
    CentroidSums sums;
    long double mean[3] = {0, 0, 0};
    const int count = 2 + static_cast<int>(random() % 50);
    for (int i = 0; i < count; ++i) {
      Position position{};
      for (int d = 0; d < 3; ++d) {
        position.world[d] = static_cast<double>(cell[d]) + inside(random);
        mean[d] += static_cast<long double>(position.world[d]) / count;
      }
      add_point(sums, grid, position, cell);
    }
    const Record32 centroid = world_centroid(grid, sums, cell, Position{});
    EXPECT_NEAR(centroid.x, static_cast<double>(mean[0]), 0x1p-31);
    EXPECT_NEAR(centroid.y, static_cast<double>(mean[1]), 0x1p-31);
    EXPECT_NEAR(centroid.z, static_cast<double>(mean[2]), 0x1p-31);
  }
}

TEST(Centroid, SumsOfColumnsHoldTheLargestHeights) {
  const CellGrid grid = unit_grid(CoordinateKind::kFloat64, false);
  CentroidSums sums;
  Position position{};
  position.world[2] = kMaxColumnZ * 0.999;
  for (int i = 0; i < 1000; ++i) add_point(sums, grid, position, kNoCell);
  EXPECT_NEAR(world_centroid(grid, sums, kNoCell, position).z, position.world[2], 1e-3);
}

// Distances are compared with those of exact integers wherever these differ by more than rounding can hide.
TEST(CentroidDistance, OrdersAsTheExactDistance) {
  const CellGrid grid = unit_grid(CoordinateKind::kLattice);
  const double scale[3] = {1.0, 1.0, 1.0};
  std::mt19937_64 random(12);
  for (int round = 0; round < 300; ++round) {
    const int count = 2 + static_cast<int>(random() % 20);
    std::vector<Position> points;
    CentroidSums sums;
    for (int i = 0; i < count; ++i) {
      Position position{};
      for (std::int32_t& x : position.raw) x = static_cast<std::int32_t>(random() % 20001) - 10000;
      points.push_back(position);
      add_point(sums, grid, position, kNoCell);
    }
    const auto exact = [&](const Position& p) {
      BigInt out;
      for (int d = 0; d < 3; ++d) {
        const BigInt delta = BigInt(count) * BigInt(p.raw[d]) - BigInt(sums.sum[d]);
        out = out + delta * delta;
      }
      return out;
    };
    for (const Position& a : points) {
      for (const Position& b : points) {
        // All numbers here stay below 2^53, so doubles are exact.
        ASSERT_EQ(centroid_score(grid, scale, sums, a, kNoCell) < centroid_score(grid, scale, sums, b, kNoCell),
                  exact(a) < exact(b));
      }
    }
  }
}

TEST(CentroidDistance, MindsScalesAndLeavesOutTheHeightOfColumns) {
  const double scale[3] = {1.0, -10.0, 100.0};
  for (const bool use_z : {true, false}) {
    const CellGrid grid = unit_grid(CoordinateKind::kLattice, use_z);
    CentroidSums sums;
    sums.count = 1;
    const double distance = centroid_distance(grid, scale, sums, Position{{3, 4, 5}, {}}, kNoCell);
    EXPECT_EQ(distance, (9.0 + 1600.0) + (use_z ? 250000.0 : 0.0));
  }
}

}  // namespace
}  // namespace sluice
