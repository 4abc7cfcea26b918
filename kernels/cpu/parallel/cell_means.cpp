// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/parallel/cell_means.hpp"

#include <cmath>

#include "kernels/cpu/multiversion.hpp"

namespace sluice::kernels {

SLUICE_MULTIVERSION
bool round_offsets(const CellGrid& grid, MeanBatch& batch) {
  const std::uint64_t count = batch.points;
  int beyond = 0;
  for (int d = 0; d < 3; ++d) {
    double* values = batch.value[d];
    for (std::uint64_t i = 0; i < count; ++i) {
      const double steps = offset_steps(grid, values[i], d);
      values[i] = steps;
      beyond |= std::fabs(steps) <= kMostSteps ? 0 : 1;
    }
  }
  return beyond == 0;
}

SLUICE_MULTIVERSION
void find_nearest(const double unit[3], MeanBatch& batch) {
  const double* __restrict x = batch.value[0];
  const double* __restrict y = batch.value[1];
  const double* __restrict z = batch.value[2];
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
