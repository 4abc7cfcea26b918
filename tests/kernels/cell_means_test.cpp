// SPDX-License-Identifier: Apache-2.0
/// \file
/// Means in batches against `add_point` and `centroid_score`, point by point.
#include "kernels/cpu/parallel/cell_means.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "sluice/core/centroid.hpp"
#include "sluice/core/random.hpp"

namespace sluice::kernels::test {
namespace {

CellGrid float_grid(double size, bool use_z = true) {
  GridSpec spec;
  std::fill_n(spec.size, 3, size);
  spec.origin[0] = Decimal::of(0.3);
  spec.use_z = use_z;
  CoordinateFrame frame;
  frame.kind = CoordinateKind::kFloat64;
  return make_cell_grid(spec, frame);
}

CellGrid lattice_grid() {
  CoordinateFrame frame;
  frame.kind = CoordinateKind::kLattice;
  return make_cell_grid(GridSpec{}, frame);
}

constexpr double kScale[3] = {0.01, -0.01, 0.001};

struct Batch {
  CellGrid grid;
  std::vector<Position> points;
  std::unique_ptr<MeanBatch> batch = std::make_unique<MeanBatch>();
  double unit[3] = {0.0, 0.0, 0.0};

  explicit Batch(const CellGrid& of) : grid(of) {
    for (int d = 0; d < (grid.use_z ? 3 : 2); ++d) unit[d] = lattice() ? std::fabs(kScale[d]) : grid.axis[d].size;
  }
  [[nodiscard]] bool lattice() const { return grid.kind == CoordinateKind::kLattice; }

  void add_cell(const std::vector<Position>& cell) {
    for (const Position& point : cell) {
      const std::uint64_t i = batch->points++;
      for (int d = 0; d < 3; ++d) {
        batch->tile.raw[d][i] = point.raw[d];
        batch->tile.world[d][i] = point.world[d];
      }
      points.push_back(point);
    }
    batch->end[batch->cells++] = static_cast<std::uint32_t>(batch->points);
  }

  bool take(double most) {
    if (!lattice()) return take_steps(grid, most, *batch);
    take_numbers(*batch);
    return true;
  }

  /// Sums and the first of the points with the lowest score, of points begin..end.
  void expect_cell(std::uint32_t begin, std::uint32_t end, const double sum[3], std::uint32_t nearest) const {
    std::int64_t cell[3] = {0, 0, 0};
    CentroidSums sums;
    if (!lattice()) {
      EXPECT_TRUE(cell_of(grid, points[begin], cell));
    }
    for (std::uint32_t i = begin; i < end; ++i) add_point(sums, grid, points[i], cell);
    std::uint32_t best = begin;
    for (std::uint32_t i = begin; i < end; ++i) {
      if (centroid_score(grid, kScale, sums, points[i], cell) <
          centroid_score(grid, kScale, sums, points[best], cell)) {
        best = i;
      }
    }
    for (int d = 0; d < 3; ++d) {
      EXPECT_EQ(static_cast<std::int64_t>(sum[d]), static_cast<std::int64_t>(sums.sum[d]));
      if (!lattice()) {
        EXPECT_EQ(static_cast<std::int64_t>(batch->cell[d][begin]), cell[d]);
      }
    }
    EXPECT_EQ(nearest, best);
  }

  void expect_all() {
    ASSERT_TRUE(take(most_steps(kMeanPoints)));
    find_nearest(unit, *batch);
    std::uint32_t begin = 0;
    for (std::uint64_t c = 0; c < batch->cells; ++c) {
      const double sum[3] = {batch->sum[0][c], batch->sum[1][c], batch->sum[2][c]};
      expect_cell(begin, batch->end[c], sum, batch->nearest[c]);
      begin = batch->end[c];
    }
  }
};

double unit_random(std::uint64_t stream, std::uint64_t i) {
  return static_cast<double>(counter_random(stream, i) >> 11) * 0x1p-53;
}

/// Points of one cell: with few values per axis many are equally far from the mean.
std::vector<Position> cell_of_points(const Batch& batch, std::uint64_t count, std::uint64_t seed, bool with_ties) {
  std::vector<Position> out(count);
  const double size = batch.grid.axis[0].size;
  for (std::uint64_t i = 0; i < count; ++i) {
    for (std::uint64_t d = 0; d < 3; ++d) {
      const double r = unit_random(seed, 3 * i + d);
      const double part = with_ties ? std::floor(r * 4.0) / 4.0 : r;
      const double corner = static_cast<double>(seed % 7) - 3.0;
      out[i].raw[d] = static_cast<std::int32_t>(with_ties ? part * 4.0 : (r - 0.5) * 4294967295.0);
      out[i].world[d] = (d == 0 ? 0.3 : 0.0) + (corner + 0.01 + 0.9 * part) * size;
    }
  }
  return out;
}

std::vector<CellGrid> grids() { return {lattice_grid(), float_grid(0.5), float_grid(0.1), float_grid(2.0, false)}; }

TEST(CellMeans, EmptyBatchIsNoCell) {
  for (const CellGrid& grid : grids()) {
    Batch batch(grid);
    batch.expect_all();
  }
}

TEST(CellMeans, SmallCellsOfEverySize) {
  for (const CellGrid& grid : grids()) {
    for (const bool ties : {false, true}) {
      Batch batch(grid);
      for (std::uint64_t n = 1; batch.batch->points + n <= kMeanPoints; ++n) {
        batch.add_cell(cell_of_points(batch, n, n, ties));
      }
      batch.expect_all();
    }
  }
}

TEST(CellMeans, OneCellFillsTheBatch) {
  for (const CellGrid& grid : grids()) {
    for (const bool ties : {false, true}) {
      Batch batch(grid);
      batch.add_cell(cell_of_points(batch, kMeanPoints, 5, ties));
      batch.expect_all();
    }
  }
}

TEST(CellMeans, EveryPointIsACell) {
  for (const CellGrid& grid : grids()) {
    Batch batch(grid);
    for (std::uint64_t i = 0; i < kMeanPoints; ++i) batch.add_cell(cell_of_points(batch, 1, i, false));
    batch.expect_all();
  }
}

TEST(CellMeans, EqualPointsGiveTheFirst) {
  for (const CellGrid& grid : grids()) {
    Batch batch(grid);
    batch.add_cell(std::vector<Position>(9, cell_of_points(batch, 1, 3, false).front()));
    batch.expect_all();
    EXPECT_EQ(batch.batch->nearest[0], 0U);
  }
}

TEST(CellMeans, ExtremeLatticeNumbers) {
  Batch batch(lattice_grid());
  std::vector<Position> cell(kMeanPoints);
  for (std::uint64_t i = 0; i < kMeanPoints; ++i) {
    for (int d = 0; d < 3; ++d) {
      cell[i].raw[d] = i % 3 == 0 ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::int32_t>::min();
    }
  }
  batch.add_cell(cell);
  batch.expect_all();
}

TEST(CellMeans, FarFloatsKeepTheirBits) {
  for (const double center : {-3e9, 1e12}) {
    Batch batch(float_grid(0.5));
    std::vector<Position> cell(40);
    for (std::uint64_t i = 0; i < cell.size(); ++i) {
      for (int d = 0; d < 3; ++d) cell[i].world[d] = center + 0.01 * static_cast<double>(i % 11);
      cell[i].world[0] += 0.3;
    }
    batch.add_cell(cell);
    batch.expect_all();
  }
}

// Where a step, or a cell, does not fit a double's whole numbers, the batch says so.
TEST(CellMeans, RefusesWhatIsTooLarge) {
  Batch columns(float_grid(1.0, false));
  std::vector<Position> cell = cell_of_points(columns, 2, 1, false);
  cell[1].world[2] = 4194303.0;
  columns.add_cell(cell);
  columns.expect_all();
  Batch high(float_grid(1.0, false));
  cell[1].world[2] = 4194304.0 * 2.0;
  high.add_cell(cell);
  EXPECT_FALSE(high.take(most_steps(kMeanPoints)));
  Batch far(float_grid(1.0));
  cell[1].world[2] = 0x1p51;
  far.add_cell(cell);
  EXPECT_FALSE(far.take(most_steps(kMeanPoints)));
  Batch many(float_grid(1.0));
  many.add_cell(cell_of_points(many, 2, 1, false));
  EXPECT_TRUE(many.take(most_steps(1U << 19)));
  EXPECT_FALSE(many.take(most_steps(std::uint64_t{1} << 30)));
}

TEST(CellMeans, PartsOfALargeCell) {
  for (const CellGrid& grid : grids()) {
    for (const bool ties : {false, true}) {
      Batch whole(grid);
      const std::vector<Position> points = cell_of_points(whole, 3 * kMeanPoints + 1, 11, ties);
      whole.points = points;
      const auto part = [&](std::uint64_t first) {
        Batch out(grid);
        const auto begin = points.begin() + static_cast<std::ptrdiff_t>(first);
        const auto count = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(kMeanPoints, points.size() - first));
        out.add_cell({begin, begin + count});
        EXPECT_TRUE(out.take(most_steps(points.size())));
        return out;
      };
      double sum[3] = {0.0, 0.0, 0.0};
      for (std::uint64_t first = 0; first < points.size(); first += kMeanPoints) add_steps(*part(first).batch, sum);
      std::uint64_t nearest = 0;
      double least = std::numeric_limits<double>::infinity();
      for (std::uint64_t first = 0; first < points.size(); first += kMeanPoints) {
        const Batch one = part(first);
        const NearestPoint found = nearest_point(one.unit, static_cast<double>(points.size()), sum, *one.batch);
        if (found.distance < least) {
          least = found.distance;
          nearest = first + found.at;
        }
      }
      std::memcpy(whole.batch->cell, part(0).batch->cell, sizeof whole.batch->cell);
      whole.expect_cell(0, static_cast<std::uint32_t>(points.size()), sum, static_cast<std::uint32_t>(nearest));
    }
  }
}

}  // namespace
}  // namespace sluice::kernels::test
