// SPDX-License-Identifier: Apache-2.0
#include "sluice/core/cell_key.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>
#include <string>

namespace sluice {
namespace {

constexpr CellOrder kOrders[] = {CellOrder::kRowMajor, CellOrder::kMorton, CellOrder::kHilbert};

TEST(KeyLayout, EveryCellOfASmallRangeHasItsOwnKey) {
  const std::int64_t low[3] = {-3, 7, -1};
  for (const bool use_z : {true, false}) {
    const std::int64_t high[3] = {9, 12, use_z ? std::int64_t{3} : low[2]};
    for (const CellOrder order : kOrders) {
      const KeyLayout layout = make_key_layout(order, use_z, low, high);
      std::set<std::uint64_t> keys;
      std::uint64_t row_major = 0;
      for (std::int64_t z = low[2]; z <= high[2]; ++z) {
        for (std::int64_t y = low[1]; y <= high[1]; ++y) {
          for (std::int64_t x = low[0]; x <= high[0]; ++x) {
            const std::int64_t cell[3] = {x, y, z};
            const std::uint64_t key = key_of(layout, cell);
            EXPECT_TRUE(keys.insert(key).second);
            EXPECT_EQ(key >> layout.key_bits, 0U);
            if (order == CellOrder::kRowMajor) {
              EXPECT_EQ(key, row_major++);
            }
            std::int64_t back[3];
            cell_of_key(layout, key, back);
            EXPECT_THAT(back, testing::ElementsAre(x, y, z));
          }
        }
      }
    }
  }
}

TEST(KeyLayout, KeysOfWideRangesTurnBackIntoCells) {
  std::mt19937_64 random(10);
  for (const CellOrder order : kOrders) {
    for (int round = 0; round < 200; ++round) {
      const bool use_z = random() % 2 == 0;
      const std::uint64_t most = use_z ? 21 : 32;
      std::int64_t low[3];
      std::int64_t high[3];
      for (int d = 0; d < 3; ++d) {
        low[d] = static_cast<std::int64_t>(random()) >> 3;
        const unsigned bits = static_cast<unsigned>(random() % (most + 1));
        const std::uint64_t span = d == 2 && !use_z ? 0 : (std::uint64_t{1} << bits) - 1;
        high[d] = low[d] + static_cast<std::int64_t>(span);
      }
      const KeyLayout layout = make_key_layout(order, use_z, low, high);
      for (int i = 0; i < 50; ++i) {
        std::int64_t cell[3];
        for (int d = 0; d < 3; ++d) cell[d] = low[d] + static_cast<std::int64_t>(random() % layout.extent[d]);
        std::int64_t back[3];
        cell_of_key(layout, key_of(layout, cell), back);
        ASSERT_THAT(back, testing::ElementsAre(cell[0], cell[1], cell[2]));
      }
    }
  }
}

TEST(KeyLayout, MortonInterleavesFromTheLowestBitXFirst) {
  const std::int64_t low[3] = {0, 0, 0};
  const std::int64_t high[3] = {7, 1, 3};
  const KeyLayout layout = make_key_layout(CellOrder::kMorton, true, low, high);
  EXPECT_EQ(layout.key_bits, 6);
  const auto key = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const std::int64_t cell[3] = {x, y, z};
    return key_of(layout, cell);
  };
  EXPECT_EQ(key(1, 0, 0), 1U);
  EXPECT_EQ(key(0, 1, 0), 2U);
  EXPECT_EQ(key(0, 0, 1), 4U);
  EXPECT_EQ(key(2, 0, 0), 8U);
  EXPECT_EQ(key(0, 0, 2), 16U);  // y has no second bit
  EXPECT_EQ(key(4, 0, 0), 32U);
}

TEST(KeyLayout, NeighboursOnTheHilbertCurveAreNeighboursInSpace) {
  const std::int64_t low[3] = {-5, 100, 3};
  for (const bool use_z : {true, false}) {
    for (int bits = 1; bits <= 4; ++bits) {
      const std::int64_t last = (std::int64_t{1} << bits) - 1;
      const std::int64_t high[3] = {low[0] + last, low[1] + last, use_z ? low[2] + last : low[2]};
      const KeyLayout layout = make_key_layout(CellOrder::kHilbert, use_z, low, high);
      const std::uint64_t cells = std::uint64_t{1} << (bits * (use_z ? 3 : 2));
      std::int64_t before[3];
      cell_of_key(layout, 0, before);
      EXPECT_THAT(before, testing::ElementsAre(low[0], low[1], low[2]));
      for (std::uint64_t key = 1; key < cells; ++key) {
        std::int64_t cell[3];
        cell_of_key(layout, key, cell);
        EXPECT_EQ(std::abs(cell[0] - before[0]) + std::abs(cell[1] - before[1]) + std::abs(cell[2] - before[2]), 1);
        EXPECT_EQ(key_of(layout, cell), key);
        std::copy(cell, cell + 3, before);
      }
    }
  }
}

TEST(KeyLayout, UsesNoMoreBitsThanTheRangeNeeds) {
  const std::int64_t low[3] = {5, 5, 5};
  EXPECT_EQ(make_key_layout(CellOrder::kRowMajor, true, low, low).key_bits, 0);
  EXPECT_EQ(make_key_layout(CellOrder::kHilbert, true, low, low).key_bits, 0);
  const std::int64_t high[3] = {7, 7, 7};  // 27 cells
  EXPECT_EQ(make_key_layout(CellOrder::kRowMajor, true, low, high).key_bits, 5);
  EXPECT_EQ(make_key_layout(CellOrder::kMorton, true, low, high).key_bits, 6);
}

TEST(KeyLayout, AcceptsExactly64BitsAndNamesSizesBeyond) {
  const std::int64_t low[3] = {0, 0, 0};
  const std::int64_t full[3] = {(std::int64_t{1} << 32) - 1, (std::int64_t{1} << 32) - 1, 0};
  for (const CellOrder order : kOrders) {
    EXPECT_EQ(make_key_layout(order, false, low, full).key_bits, 64);
    const std::int64_t more[3] = {full[0] + 1, full[1], 0};
    try {
      make_key_layout(order, false, low, more);
      FAIL() << "a key of more than 64 bits was accepted";
    } catch (const Unsupported& error) {
      const std::string text = error.what();
      EXPECT_THAT(text, testing::HasSubstr("4294967297 x 4294967296 x 1"));
      EXPECT_THAT(text, testing::HasSubstr(" 2 times as large"));
    }
  }
  const std::int64_t wide[3] = {std::int64_t{1} << 40, std::int64_t{1} << 40, std::int64_t{1} << 40};
  for (const CellOrder order : kOrders) EXPECT_THROW(make_key_layout(order, true, low, wide), Unsupported);
}

TEST(CellRange, HoldsBothCornersAndNothingBeyond) {
  const CellRange range{{-2, 0, 5}, {1, 0, 9}};
  EXPECT_TRUE(contains(range, range.min));
  EXPECT_TRUE(contains(range, range.max));
  for (int d = 0; d < 3; ++d) {
    std::int64_t cell[3] = {range.min[0], range.min[1], range.min[2]};
    --cell[d];
    EXPECT_FALSE(contains(range, cell));
    cell[d] = range.max[d] + 1;
    EXPECT_FALSE(contains(range, cell));
  }
}

}  // namespace
}  // namespace sluice
