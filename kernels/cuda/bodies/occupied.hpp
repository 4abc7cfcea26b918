// SPDX-License-Identifier: Apache-2.0
/// \file
/// The range of the cells that kept points are in, from one look at the points.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/cuda/bodies/points.hpp"
#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"
#include "sluice/core/cell_grid.hpp"
#include "sluice/core/types.hpp"

namespace sluice::kernels::bodies {

/// Adds to a status, which starts as that of no points; blocks take every `blocks`th tile. A cell number never falls,
/// or never rises, as a coordinate grows, so only the least and the greatest coordinates need cells, and where one of
/// all points has none those have none.
///
/// \tparam ValueT  of a coordinate: std::int32_t on a lattice, float or double
template <typename JudgeT, typename SourceT, typename ValueT>
struct FindOccupied {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kRounds = 128 / sizeof(typename SourceT::Item);
  static constexpr unsigned kTile = kThreads * kRounds;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t warp_counts[kThreads / kWarpWidth];
    ValueT warp_values[kThreads / kWarpWidth];
  };

  JudgeT judge;
  SourceT source;
  std::uint64_t count;
  CellGrid grid;
  JudgeStatus* status;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    std::uint32_t kept = 0;
    std::uint32_t nonfinite = 0;
    std::uint32_t seen = 0;
    ValueT min[3];
    ValueT max[3];
    for (int d = 0; d < 3; ++d) {
      min[d] = std::numeric_limits<ValueT>::max();
      max[d] = std::numeric_limits<ValueT>::lowest();
    }
    for (std::uint64_t tile = simt.block(); tile * kTile < count; tile += simt.blocks()) {
      const std::uint64_t first = tile * kTile + simt.warp() * (kRounds * kWidth);
      const auto row = [=](unsigned i) { return first + i * kWidth + simt.lane(); };
      typename SourceT::Item points[kRounds];
      SLUICE_UNROLL
      for (unsigned i = 0; i < kRounds; ++i) {
        if (row(i) < count) points[i] = source.load(simt, row(i));
      }
      auto state = judge.begin(first, count);
      SLUICE_UNROLL
      for (unsigned i = 0; i < kRounds; ++i) {
        const bool exists = row(i) < count;
        const Verdict verdict = judge(simt, state, points[i], row(i), exists);
        if (!exists) continue;
        ++seen;
        if (verdict == Verdict::kNonFinite) ++nonfinite;
        if (verdict != Verdict::kKept) continue;
        ++kept;
        const ValueT values[3] = {value_of(points[i].x), value_of(points[i].y), value_of(points[i].z)};
        for (int d = 0; d < 3; ++d) {
          min[d] = simt::Least{}(min[d], values[d]);
          max[d] = simt::Greatest{}(max[d], values[d]);
        }
      }
    }
    kept = simt::block_reduce(simt, kept, shared.warp_counts, simt::Plus{});
    nonfinite = simt::block_reduce(simt, nonfinite, shared.warp_counts, simt::Plus{});
    seen = simt::block_reduce(simt, seen, shared.warp_counts, simt::Plus{});
    for (int d = 0; d < 3; ++d) {
      min[d] = simt::block_reduce(simt, min[d], shared.warp_values, simt::Least{});
      max[d] = simt::block_reduce(simt, max[d], shared.warp_values, simt::Greatest{});
    }
    if (simt.thread() != 0 || seen == 0) return;
    add(simt, &status->counts.kept, kept);
    add(simt, &status->counts.nonfinite, nonfinite);
    add(simt, &status->counts.rejected, seen - kept - nonfinite);
    if (kept == 0) return;
    cover(simt, min);
    cover(simt, max);
  }

 private:
  template <typename CoordinateT>
  SLUICE_SIMT static ValueT value_of(CoordinateT coordinate) {
    static_assert(sizeof(CoordinateT) == sizeof(ValueT));
    ValueT out;
    memcpy(&out, &coordinate, sizeof out);
    return out;
  }
  template <typename ContextT>
  SLUICE_SIMT static void add(ContextT& simt, std::uint64_t* to, std::uint32_t value) {
    if (value != 0) simt.template atomic_add<simt::Order::kRelaxed>(to, std::uint64_t{value});
  }
  template <typename ContextT>
  SLUICE_SIMT void cover(ContextT& simt, const ValueT (&corner)[3]) const {
    Position position;
    for (int d = 0; d < 3; ++d) {
      if constexpr (std::is_same_v<ValueT, std::int32_t>) {
        position.raw[d] = corner[d];
      } else {
        position.world[d] = static_cast<double>(corner[d]);
      }
    }
    std::int64_t cell[3];
    if (!cell_of(grid, position, cell)) {
      simt.template atomic_or<simt::Order::kRelaxed>(&status->failed, std::uint32_t{1});
      return;
    }
    for (int d = 0; d < 3; ++d) {
      simt.template atomic_min<simt::Order::kRelaxed>(&status->min[d], cell_order(cell[d]));
      simt.template atomic_max<simt::Order::kRelaxed>(&status->max[d], cell_order(cell[d]));
    }
  }
};

}  // namespace sluice::kernels::bodies
