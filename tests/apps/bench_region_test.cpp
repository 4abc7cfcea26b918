// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>

#include "bench/region.hpp"
#include "sluice/core/predicate.hpp"
#include "sluice/core/random.hpp"

namespace sluice::bench {
namespace {

std::uint32_t below(std::uint64_t counter, std::uint32_t end) {
  return static_cast<std::uint32_t>(counter_random(7, counter) % end);
}

TEST(BenchRegion, NumbersCellsAsTheGridDoes) {
  std::uint64_t counter = 0;
  for (int i = 0; i < 400; ++i) {
    const Region region{i < 2 ? static_cast<std::int32_t>(kBox >> i)
                              : static_cast<std::int32_t>(1 + below(++counter, kBox))};
    CellBits cells{{below(++counter, 10), below(++counter, 10), below(++counter, 9)}};
    if (i % 4 == 0) cells = {{8, 8, 0}};
    if (i % 4 == 1) cells = {{9, 9, 8}};
    const CellGrid grid = region.grid(cells);
    const CellNumber number = region.cell_number(cells);
    for (int k = 0; k < 200; ++k) {
      const bool corner = k == 0;
      Position position{};
      for (int d = 0; d < 3; ++d) {
        const std::uint32_t end = d == 2 ? static_cast<std::uint32_t>(region.z_end) : kBox;
        position.raw[d] = static_cast<std::int32_t>(corner ? end - 1 : below(++counter, end));
      }
      std::int64_t cell[3];
      ASSERT_TRUE(cell_of(grid, position, cell));
      std::int64_t expected = 0;
      for (int d = 2; d >= 0; --d) {
        ASSERT_GE(cell[d], 0);
        ASSERT_LT(cell[d], std::int64_t{1} << cells.bits[d]);
        expected = (expected << cells.bits[d]) + cell[d];
      }
      ASSERT_EQ(number.of(position.raw[0], position.raw[1], position.raw[2]), expected);
    }
  }
}

TEST(BenchRegion, KeepsThePointsOfTheBoxBelowItsEnd) {
  const Region region{1000};
  EXPECT_TRUE(region.holds(0, 0, 0));
  EXPECT_TRUE(region.holds(kBox - 1, kBox - 1, 999));
  EXPECT_FALSE(region.holds(0, 0, 1000));
  EXPECT_FALSE(region.holds(kBox, 0, 0));
  EXPECT_FALSE(region.holds(0, -1, 0));
  EXPECT_FALSE(Region{0}.holds(0, 0, 0));
  const PredicateOp box = region.program().ops.at(0);
  EXPECT_EQ(box.integers[0], 0);
  EXPECT_EQ(box.integers[3], kBox - 1);
  EXPECT_EQ(box.integers[5], 999);
}

}  // namespace
}  // namespace sluice::bench
