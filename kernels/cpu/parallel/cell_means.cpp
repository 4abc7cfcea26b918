// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/parallel/cell_means.hpp"

#include <algorithm>
#include <cmath>

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
bool take_steps(const CellGrid& grid, MeanBatch& batch) {
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
    for (std::uint64_t i = 0; i < count; ++i) beyond |= std::fabs(raised[i]) <= kMostSteps ? 0 : 1;
    for (std::uint64_t i = 0; i < count; ++i) steps[i] = small_floor(raised[i]);
  }
  return beyond == 0;
}

SLUICE_MULTIVERSION
void find_nearest(const double unit[3], MeanBatch& batch) {
  const double* __restrict x = batch.steps[0];
  const double* __restrict y = batch.steps[1];
  const double* __restrict z = batch.steps[2];
  const double ux = unit[0];
  const double uy = unit[1];
  const double uz = unit[2];
  double distance[kMeanPoints];
  std::uint32_t begin = 0;
  for (std::uint64_t c = 0; c < batch.cells; ++c) {
    const std::uint32_t end = batch.end[c];
    double sx = 0.0;
    double sy = 0.0;
    double sz = 0.0;
    for (std::uint32_t i = begin; i < end; ++i) {
      sx += x[i];
      sy += y[i];
      sz += z[i];
    }
    batch.sum[0][c] = sx;
    batch.sum[1][c] = sy;
    batch.sum[2][c] = sz;
    const auto n = static_cast<double>(end - begin);
    for (std::uint32_t i = begin; i < end; ++i) {
      const double dx = (n * x[i] - sx) * ux;
      const double dy = (n * y[i] - sy) * uy;
      const double dz = (n * z[i] - sz) * uz;
      distance[i] = (dx * dx + dy * dy) + dz * dz;
    }
    std::uint32_t nearest = begin;
    double least = distance[begin];
    for (std::uint32_t i = begin + 1; i < end; ++i) {
      const bool nearer = distance[i] < least;
      nearest = nearer ? i : nearest;
      least = nearer ? distance[i] : least;
    }
    batch.nearest[c] = nearest;
    begin = end;
  }
}

}  // namespace sluice::kernels
