// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/parallel/cell_means.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/multiversion.hpp"
#include "kernels/cpu/small_floor.hpp"

namespace sluice::kernels {

SLUICE_MULTIVERSION
void take_numbers(MeanBatch& batch) {
  for (int d = 0; d < 3; ++d) {
    for (std::uint64_t i = 0; i < batch.points; ++i) batch.steps[d][i] = static_cast<double>(batch.tile.raw[d][i]);
  }
}

SLUICE_MULTIVERSION
bool take_steps(const CellGrid& grid, double most, MeanBatch& batch) {
  const std::uint64_t count = batch.points;
  double raised[kMeanPoints];
  int beyond = 0;
  for (int d = 0; d < 3; ++d) {
    const double* __restrict world = batch.tile.world[d];
    double* __restrict cell = batch.cell[d];
    double* __restrict steps = batch.steps[d];
    if (d == 2 && !grid.use_z) {
      std::fill_n(cell, count, 0.0);
      for (std::uint64_t i = 0; i < count; ++i) raised[i] = raised_steps(grid, world[i], d);
    } else {
      const double origin = grid.axis[d].origin;
      const double size = grid.axis[d].size;
      for (std::uint64_t i = 0; i < count; ++i) cell[i] = (world[i] - origin) / size;
      for (std::uint64_t i = 0; i < count; ++i) beyond |= std::fabs(cell[i]) <= kMostSmall ? 0 : 1;
      for (std::uint64_t i = 0; i < count; ++i) cell[i] = small_floor(cell[i]);
      for (std::uint64_t i = 0; i < count; ++i) {
        raised[i] = raised_steps(grid, world[i] - (origin + cell[i] * size), d);
      }
    }
    for (std::uint64_t i = 0; i < count; ++i) beyond |= std::fabs(raised[i]) <= most ? 0 : 1;
    for (std::uint64_t i = 0; i < count; ++i) steps[i] = small_floor(raised[i]);
  }
  return beyond == 0;
}

namespace {

[[gnu::always_inline]] inline void add_range(const MeanBatch& batch, std::uint32_t begin, std::uint32_t end,
                                             double sum[3]) {
  for (std::uint32_t i = begin; i < end; ++i) {
    for (int d = 0; d < 3; ++d) sum[d] += batch.steps[d][i];
  }
}

[[gnu::always_inline]] inline NearestPoint nearest_in_range(const double unit[3], double n, const double sum[3],
                                                            const MeanBatch& batch, std::uint32_t begin,
                                                            std::uint32_t end) {
  const double* __restrict x = batch.steps[0];
  const double* __restrict y = batch.steps[1];
  const double* __restrict z = batch.steps[2];
  double distance[kMeanPoints];
  for (std::uint32_t i = begin; i < end; ++i) {
    const double dx = (n * x[i] - sum[0]) * unit[0];
    const double dy = (n * y[i] - sum[1]) * unit[1];
    const double dz = (n * z[i] - sum[2]) * unit[2];
    distance[i] = (dx * dx + dy * dy) + dz * dz;
  }
  NearestPoint nearest{begin, std::numeric_limits<double>::infinity()};
  for (std::uint32_t i = begin; i < end; ++i) {
    const bool nearer = distance[i] < nearest.distance;
    nearest.at = nearer ? i : nearest.at;
    nearest.distance = nearer ? distance[i] : nearest.distance;
  }
  return nearest;
}

}  // namespace

SLUICE_MULTIVERSION
void find_nearest(const double unit[3], MeanBatch& batch) {
  const double units[3] = {unit[0], unit[1], unit[2]};
  std::uint32_t begin = 0;
  for (std::uint64_t c = 0; c < batch.cells; ++c) {
    const std::uint32_t end = batch.end[c];
    double sum[3] = {0.0, 0.0, 0.0};
    add_range(batch, begin, end, sum);
    for (int d = 0; d < 3; ++d) batch.sum[d][c] = sum[d];
    batch.nearest[c] = nearest_in_range(units, static_cast<double>(end - begin), sum, batch, begin, end).at;
    begin = end;
  }
}

void add_steps(const MeanBatch& batch, double sum[3]) {
  add_range(batch, 0, static_cast<std::uint32_t>(batch.points), sum);
}

SLUICE_MULTIVERSION
NearestPoint nearest_point(const double unit[3], double count, const double sum[3], const MeanBatch& batch) {
  return nearest_in_range(unit, count, sum, batch, 0, static_cast<std::uint32_t>(batch.points));
}

}  // namespace sluice::kernels
