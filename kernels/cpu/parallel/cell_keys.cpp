// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/parallel/cell_keys.hpp"

#include <cmath>
#include <limits>

#include "kernels/cpu/multiversion.hpp"

namespace sluice::kernels {

namespace {

constexpr double kTwo31 = 2147483648.0;

int128 magnitude(int128 value) { return value < 0 ? -value : value; }

}  // namespace

CellKeys::CellKeys(const CellGrid& grid, const KeyLayout& layout)
    : grid_(grid), layout_(layout), axes_(grid.use_z ? 3 : 2), plain_(!grid.use_z && layout.min[2] != 0) {
  for (int d = 0; d < axes_; ++d) {
    choose(d);
    plain_ = plain_ || axis_[d].method == Method::kPlain;
  }
}

void CellKeys::choose(int d) {
  Axis& axis = axis_[d];
  const CellGrid::Axis& from = grid_.axis[d];
  if (layout_.extent[d] >= (std::uint64_t{1} << 31)) return;
  if (grid_.kind != CoordinateKind::kLattice) {
    const std::int64_t max = layout_.min[d] + static_cast<std::int64_t>(layout_.extent[d]) - 1;
    if (layout_.min[d] <= std::numeric_limits<std::int32_t>::min() || max >= std::numeric_limits<std::int32_t>::max()) {
      return;
    }
    axis.origin = from.origin;
    axis.size = from.size;
    axis.min = static_cast<std::int32_t>(layout_.min[d]);
    axis.method = Method::kDivide;
    return;
  }
  // numerator(X) = a * X + b - (min - base) * s, which lies in [0, extent * s).
  int128 down;
  if (__builtin_mul_overflow(static_cast<int128>(layout_.min[d]) - from.base, from.s, &down)) return;
  if (__builtin_sub_overflow(from.b, down, &axis.wide_b)) return;
  axis.wide_a = from.a;
  axis.wide_s = from.s;
  axis.s = static_cast<double>(from.s);
  const int128 exact = int128{1} << 52;
  if (magnitude(from.a) < (exact >> 31) && magnitude(axis.wide_b) < exact && from.s < (exact >> 31)) {
    axis.a = static_cast<double>(from.a);
    axis.b = static_cast<double>(axis.wide_b);
    axis.inverse = 1.0 / axis.s;
    axis.method = Method::kExact;
    return;
  }
  axis.a = static_cast<double>(from.a) / axis.s;
  axis.b = static_cast<double>(axis.wide_b) / axis.s;
  // Each of four roundings errs by at most 2^-53 of a number below this sum.
  axis.margin = (kTwo31 * std::fabs(axis.a) + std::fabs(axis.b) + kTwo31) * 0x1p-50;
  if (axis.margin < 0.25 && magnitude(from.a) < (int128{1} << 94) && magnitude(axis.wide_b) < (int128{1} << 125) &&
      from.s < (int128{1} << 94)) {
    axis.method = Method::kWide;
  }
}

SLUICE_MULTIVERSION
void CellKeys::along_axis(int d, const TilePositions& tile, std::uint64_t count, std::int32_t* __restrict at) const {
  const Axis axis = axis_[d];
  const std::int32_t* __restrict raw = tile.raw[d];
  const double* __restrict world = tile.world[d];
  switch (axis.method) {
    case Method::kExact:
      for (std::uint64_t i = 0; i < count; ++i) {
        const double numerator = static_cast<double>(raw[i]) * axis.a + axis.b;
        const auto guess = static_cast<std::int32_t>(numerator * axis.inverse);
        const double rest = numerator - static_cast<double>(guess) * axis.s;
        at[i] = guess + (rest >= axis.s ? 1 : 0) - (rest < 0.0 ? 1 : 0);
      }
      break;
    case Method::kWide:
      for (std::uint64_t i = 0; i < count; ++i) {
        const double quotient = static_cast<double>(raw[i]) * axis.a + axis.b;
        auto guess = static_cast<std::int32_t>(quotient);
        const double part = quotient - static_cast<double>(guess);
        if (!(part >= axis.margin && part <= 1.0 - axis.margin)) {
          const int128 rest = axis.wide_a * raw[i] + axis.wide_b - axis.wide_s * guess;
          if (rest < 0) --guess;
          if (rest >= axis.wide_s) ++guess;
        }
        at[i] = guess;
      }
      break;
    default:
      for (std::uint64_t i = 0; i < count; ++i) {
        const double quotient = (world[i] - axis.origin) / axis.size;
        const auto toward_zero = static_cast<std::int32_t>(quotient);
        at[i] = toward_zero - (static_cast<double>(toward_zero) > quotient ? 1 : 0) - axis.min;
      }
      break;
  }
}

void CellKeys::plain_keys(const TilePositions& tile, std::uint64_t count, std::uint64_t* out) const {
  for (std::uint64_t i = 0; i < count; ++i) {
    std::int64_t cell[3];
    cell_of(grid_, tile.position(grid_.kind, i), cell);
    out[i] = key_of(layout_, cell);
  }
}

template <typename K>
void CellKeys::keys(const TilePositions& tile, std::uint64_t count, K* out) const {
  if (plain_) {
    std::uint64_t wide[kTile];
    plain_keys(tile, count, wide);
    for (std::uint64_t i = 0; i < count; ++i) out[i] = static_cast<K>(wide[i]);
    return;
  }
  std::int32_t at[3][kTile];
  for (int d = 0; d < axes_; ++d) along_axis(d, tile, count, at[d]);
  if (layout_.order == CellOrder::kRowMajor) {
    const K nx = static_cast<K>(layout_.extent[0]);
    const K ny = static_cast<K>(layout_.extent[1]);
    if (axes_ == 3) {
      for (std::uint64_t i = 0; i < count; ++i) {
        out[i] = (static_cast<K>(at[2][i]) * ny + static_cast<K>(at[1][i])) * nx + static_cast<K>(at[0][i]);
      }
    } else {
      for (std::uint64_t i = 0; i < count; ++i) out[i] = static_cast<K>(at[1][i]) * nx + static_cast<K>(at[0][i]);
    }
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    std::int64_t cell[3] = {layout_.min[0], layout_.min[1], layout_.min[2]};
    for (int d = 0; d < axes_; ++d) cell[d] += at[d][i];
    out[i] = static_cast<K>(key_of(layout_, cell));
  }
}

template void CellKeys::keys(const TilePositions&, std::uint64_t, std::uint32_t*) const;
template void CellKeys::keys(const TilePositions&, std::uint64_t, std::uint64_t*) const;

}  // namespace sluice::kernels
