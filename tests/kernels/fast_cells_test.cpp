// SPDX-License-Identifier: Apache-2.0
/// \file
/// Keys of the GPU's 32-bit arithmetic against the exact cells, on the host.
#include "kernels/cuda/bodies/fast_cells.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sluice/core/cell_grid.hpp"
#include "sluice/core/cell_key.hpp"
#include "sluice/core/random.hpp"

namespace sluice::test {
namespace {

using kernels::bodies::fast_cells;
using kernels::bodies::FastCells;

/// Numbers from a seed, one after the other.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t operator()(std::uint64_t below) { return counter_random(seed_, next_++) % below; }
  template <typename T, std::size_t kCount>
  T of(const std::array<T, kCount>& values) {
    return values[(*this)(kCount)];
  }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

struct Grid {
  CellGrid grid;
  KeyLayout layout;
  std::array<std::int32_t, 3> around{};  ///< a point that may be in the range
};

/// A grid whose scales, sizes and origins are of many kinds, and a range of its cells around some point.
std::optional<Grid> draw_grid(Draw& draw) {
  constexpr std::array kScales{0.001, 0.01, 0.1, 1.0, 0.00025, 0.5, 3.0, 1e-7};
  constexpr std::array kSizes{0.001, 0.025, 0.1, 0.3, 1.0, 2.5, 10.0, 1000.0, 0.0007};
  CoordinateFrame frame;
  frame.kind = CoordinateKind::kLattice;
  GridSpec spec;
  spec.use_z = draw(4) != 0;
  for (int d = 0; d < 3; ++d) {
    frame.scale[d] = draw.of(kScales);
    frame.offset[d] = static_cast<double>(draw(2001)) - 1000.0;
    spec.size[d] = draw.of(kSizes);
    spec.origin[d] = Decimal::of(static_cast<double>(draw(401)) / 8.0 - 25.0);
  }
  Grid out;
  Position position{};
  for (int d = 0; d < 3; ++d) {
    constexpr std::array<std::int64_t, 5> kCentres{0, 1000, -70000, INT32_MAX - 100, INT32_MIN + 100};
    out.around[static_cast<std::size_t>(d)] = static_cast<std::int32_t>(draw.of(kCentres));
    position.raw[d] = out.around[static_cast<std::size_t>(d)];
  }
  std::int64_t cell[3];
  try {
    out.grid = make_cell_grid(spec, frame);
  } catch (const Error&) {
    return std::nullopt;
  }
  if (!cell_of(out.grid, position, cell)) return std::nullopt;
  std::int64_t min[3];
  std::int64_t max[3];
  for (int d = 0; d < 3; ++d) {
    constexpr std::array<std::uint64_t, 5> kWidths{1, 2, 7, 100, 1500};
    min[d] = cell[d] - static_cast<std::int64_t>(draw(draw.of(kWidths)));
    max[d] = cell[d] + static_cast<std::int64_t>(draw(draw.of(kWidths)));
  }
  out.layout = make_key_layout(CellOrder::kRowMajor, spec.use_z, min, max);
  return out;
}

/// What the exact arithmetic says: the key, or nothing for a point outside.
std::optional<std::uint64_t> exact_key(const Grid& g, const Record16& p) {
  Position position{};
  position.raw[0] = p.x;
  position.raw[1] = p.y;
  position.raw[2] = p.z;
  std::int64_t cell[3];
  if (!cell_of(g.grid, position, cell)) return std::nullopt;
  for (int d = 0; d < 3; ++d) {
    const std::int64_t last = g.layout.min[d] + static_cast<std::int64_t>(g.layout.extent[d] - 1);
    if (cell[d] < g.layout.min[d] || cell[d] > last) return std::nullopt;
  }
  return key_of(g.layout, cell);
}

TEST(FastCells, AgreeWithTheExactOnes) {
  Draw draw(7);
  int fast = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::optional<Grid> g = draw_grid(draw);
    if (!g) continue;
    const std::optional<FastCells> cells = fast_cells(g->grid, g->layout);
    if (!cells) continue;
    ++fast;
    for (int i = 0; i < 100; ++i) {
      std::int32_t raw[3];
      for (int d = 0; d < 3; ++d) {
        // Near the middle, and on both sides of the least and the greatest number of the range.
        const auto& axis = cells->axis[d];
        const std::array<std::int64_t, 3> bases{g->around[static_cast<std::size_t>(d)], axis.first,
                                                std::int64_t{axis.first} + axis.span};
        constexpr std::array<std::uint64_t, 3> kReaches{3, 50, 100000};
        const std::uint64_t reach = draw.of(kReaches);
        const std::int64_t at =
            draw.of(bases) + static_cast<std::int64_t>(draw(2 * reach)) - static_cast<std::int64_t>(reach);
        raw[d] = static_cast<std::int32_t>(at < INT32_MIN ? INT32_MIN : at > INT32_MAX ? INT32_MAX : at);
      }
      const Record16 p{raw[0], raw[1], raw[2], 0};
      const std::optional<std::uint64_t> wanted = exact_key(*g, p);
      ASSERT_EQ(cells->holds(p), wanted.has_value()) << "round " << round << ", point " << i;
      if (wanted) {
        ASSERT_EQ(cells->key(p), *wanted) << "round " << round << ", point " << i;
      }
    }
  }
  EXPECT_GT(fast, 500);
}

TEST(FastCells, LeaveToOthersWhatHasNoCell) {
  // The quotient passes what a cell may be, though the sum with the origin's cell does not.
  CoordinateFrame frame;
  frame.kind = CoordinateKind::kLattice;
  frame.scale[0] = 4294967295.0;
  GridSpec spec;
  spec.origin[0] = Decimal{int128{1} << 62, 0};
  Grid g;
  g.grid = make_cell_grid(spec, frame);
  const Record16 p{1073741825, 0, 0, 0};
  ASSERT_FALSE(exact_key(g, p).has_value());
  // 4294967295 * 1073741825 = 2^62 + 3221225471.
  const std::int64_t min[3] = {3221225461, 0, 0};
  const std::int64_t max[3] = {3221225481, 0, 0};
  g.layout = make_key_layout(CellOrder::kRowMajor, true, min, max);
  const std::optional<FastCells> cells = fast_cells(g.grid, g.layout);
  EXPECT_TRUE(!cells || !cells->holds(p));
}

}  // namespace
}  // namespace sluice::test
