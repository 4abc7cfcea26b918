// SPDX-License-Identifier: Apache-2.0
/// \file
/// From a prepared predicate and the layout of its input to the judge that decides fastest for it, the source that
/// reads the points, and the shape of their tiles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "kernels/cuda/bodies/judges.hpp"
#include "kernels/cuda/detail/device_predicate.hpp"
#include "sluice/kernels/operations.hpp"

namespace sluice::kernels::cuda {

/// Tiles of points that a box judges, which needs few registers: points can fill them and, in large tiles, shared
/// memory. Ten rounds in registers leave none to spill.
using BoxShape = bodies::TileShape<512, 8, 0, 2>;
template <typename PointT>
using LargeBoxShape = std::conditional_t<sizeof(PointT) == sizeof(Record16), bodies::TileShape<512, 10, 12, 2, true>,
                                         bodies::TileShape<512, 10, 10, 2, true>>;
/// From this many points on (with 132 multiprocessors) large tiles keep all multiprocessors busy.
constexpr std::uint64_t kLargeBox = std::uint64_t{4} << 20;
/// From this many on few of them are idle at the end; below it records go by tiles of another shape.
constexpr std::uint64_t kManyTiles = std::uint64_t{32} << 20;

/// Tiles of points that a program judges, which needs the registers itself.
/// \tparam kBytes  of points for each thread
template <typename PointT, unsigned kBytes>
using ProgramShape = bodies::TileShape<256, 0, kBytes / sizeof(PointT), 4>;

/// Calls `body` with the source of points that have coordinates of 32 bits.
template <typename BodyT>
void with_narrow_source(const Positions& positions, const BodyT& body) {
  if (positions.is_columns()) return body(bodies::PointColumns<std::int32_t>::of(positions));
  body(bodies::ItemArray<Record16>{reinterpret_cast<const Record16*>(positions.x)});
}
/// The same for all kinds of points.
template <typename BodyT>
void with_source(const Positions& positions, const BodyT& body) {
  if (positions.kind != CoordinateKind::kFloat64) return with_narrow_source(positions, body);
  if (positions.is_columns()) return body(bodies::PointColumns<double>::of(positions));
  body(bodies::ItemArray<Record32>{reinterpret_cast<const Record32*>(positions.x)});
}

inline bodies::ProgramJudge program_judge(const DevicePredicate& predicate, const PointInput& input) {
  bodies::ProgramJudge out{};
  out.program = predicate.view();
  std::copy_n(input.columns, predicate.columns(), out.table.columns);
  out.positions = input.positions;
  out.first_index = input.first_index;
  return out;
}

/// The box judge of a lattice, where the predicate is a box.
inline std::optional<bodies::LatticeBoxJudge> lattice_box(const DevicePredicate& predicate, const PointInput& input) {
  if (input.positions.kind != CoordinateKind::kLattice) return std::nullopt;
  constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  bodies::LatticeBoxJudge out{};
  for (int d = 0; d < 3; ++d) {
    std::int64_t low = kLeast;
    std::int64_t high = kMost;
    if (!predicate.keeps_all()) {
      if (!predicate.box() || predicate.box()->code != PredicateOp::Code::kLatticeBox) return std::nullopt;
      low = predicate.box()->integers[d];
      high = predicate.box()->integers[3 + d];
    }
    const bool empty = low > kMost || high < kLeast;
    out.low[d] = empty ? 1 : static_cast<std::int32_t>(std::max(low, kLeast));
    out.high[d] = empty ? 0 : static_cast<std::int32_t>(std::min(high, kMost));
  }
  return out;
}

/// The same for float32 positions.
inline std::optional<bodies::FloatBoxJudge> float_box(const DevicePredicate& predicate, const PointInput& input) {
  if (input.positions.kind != CoordinateKind::kFloat32) return std::nullopt;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  bodies::FloatBoxJudge out{};
  for (int d = 0; d < 3; ++d) {
    out.low[d] = -kInfinity;
    out.high[d] = kInfinity;
    if (predicate.keeps_all()) continue;
    if (!predicate.box() || predicate.box()->code != PredicateOp::Code::kWorldBox) return std::nullopt;
    const double low = predicate.box()->reals[d];
    const double high = predicate.box()->reals[3 + d];
    out.low[d] = static_cast<float>(low);
    if (static_cast<double>(out.low[d]) < low) out.low[d] = std::nextafter(out.low[d], kInfinity);
    out.high[d] = static_cast<float>(high);
    if (static_cast<double>(out.high[d]) > high) out.high[d] = std::nextafter(out.high[d], -kInfinity);
  }
  return out;
}

}  // namespace sluice::kernels::cuda
