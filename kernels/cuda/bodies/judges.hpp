// SPDX-License-Identifier: Apache-2.0
/// \file
/// Who decides about the points of a tile, records or bare ones: any predicate program, or only a box, by a few
/// comparisons.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/cuda/bodies/points.hpp"
#include "kernels/cuda/bodies/select.hpp"
#include "kernels/simt/words.hpp"
#include "sluice/core/predicate.hpp"
#include "sluice/core/types.hpp"

namespace sluice::kernels::bodies {

/// Runs a predicate program.
struct ProgramJudge {
  using State = SingleState;
  static constexpr bool kNeverNonFinite = false;
  static constexpr bool kRewrites = false;

  PredicateView program;  ///< `columns` is not used
  ColumnTable table;
  Positions positions;
  std::uint64_t first_index;

  SLUICE_SIMT State begin(std::uint64_t /*first_row*/, std::uint64_t /*count*/) const { return {}; }
  template <typename ContextT, typename PointT>
  SLUICE_SIMT Verdict operator()(ContextT& /*simt*/, State& /*state*/, const PointT& point, std::uint64_t row,
                                 bool exists) const {
    if (!exists) return Verdict::kNonFinite;
    PredicateView view = program;
    view.columns = table.columns;
    return evaluate(view, positions, position_of(point, positions.kind), row, first_index + row);
  }
};

/// A box of lattice numbers, both ends inclusive; empty where a lower end is above the upper one.
struct LatticeBoxJudge {
  using State = SingleState;
  static constexpr bool kNeverNonFinite = true;
  static constexpr bool kRewrites = false;

  std::int32_t low[3];
  std::int32_t high[3];

  SLUICE_SIMT State begin(std::uint64_t /*first_row*/, std::uint64_t /*count*/) const { return {}; }
  template <typename ContextT, typename PointT>
  SLUICE_SIMT Verdict operator()(ContextT& /*simt*/, State& /*state*/, const PointT& p, std::uint64_t /*row*/,
                                 bool exists) const {
    const bool inside =
        exists && p.x >= low[0] && p.x <= high[0] && p.y >= low[1] && p.y <= high[1] && p.z >= low[2] && p.z <= high[2];
    return inside ? Verdict::kKept : Verdict::kRejected;
  }
};

/// A box of float32 positions. The ends are the outermost floats within the doubles of the program, so that comparing
/// floats decides as comparing doubles does.
struct FloatBoxJudge {
  using State = SingleState;
  static constexpr bool kNeverNonFinite = false;
  static constexpr bool kRewrites = false;

  float low[3];
  float high[3];

  SLUICE_SIMT State begin(std::uint64_t /*first_row*/, std::uint64_t /*count*/) const { return {}; }
  template <typename ContextT, typename PointT>
  SLUICE_SIMT Verdict operator()(ContextT& /*simt*/, State& /*state*/, const PointT& point, std::uint64_t /*row*/,
                                 bool exists) const {
    if (!exists) return Verdict::kNonFinite;
    float p[3];
    memcpy(&p[0], &point.x, sizeof(float));
    memcpy(&p[1], &point.y, sizeof(float));
    memcpy(&p[2], &point.z, sizeof(float));
    if (!is_finite(p[0]) || !is_finite(p[1]) || !is_finite(p[2])) return Verdict::kNonFinite;
    const bool inside =
        p[0] >= low[0] && p[0] <= high[0] && p[1] >= low[1] && p[1] <= high[1] && p[2] >= low[2] && p[2] <= high[2];
    return inside ? Verdict::kKept : Verdict::kRejected;
  }
};

}  // namespace sluice::kernels::bodies
