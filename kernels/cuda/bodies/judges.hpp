// SPDX-License-Identifier: Apache-2.0
/// \file
/// Who decides about the points of a tile: any predicate program, or only a box, by a few comparisons.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/cuda/bodies/points.hpp"
#include "kernels/cuda/bodies/select.hpp"
#include "kernels/simt/words.hpp"
#include "sluice/core/predicate.hpp"
#include "sluice/core/types.hpp"

namespace sluice::kernels::bodies {

/// The position in a packed record; world coordinates of a lattice are left unset.
SLUICE_HD Position position_of(const Record16& record, CoordinateKind kind) {
  Position out;
  out.raw[0] = record.x;
  out.raw[1] = record.y;
  out.raw[2] = record.z;
  if (kind == CoordinateKind::kFloat32) {
    for (int d = 0; d < 3; ++d) {
      float value;
      memcpy(&value, &out.raw[d], sizeof value);
      out.world[d] = static_cast<double>(value);
    }
  }
  return out;
}
SLUICE_HD Position position_of(const Record32& record, CoordinateKind /*kind*/) {
  Position out;
  out.world[0] = record.x;
  out.world[1] = record.y;
  out.world[2] = record.z;
  return out;
}

/// Runs a predicate program.
template <typename RecordT>
struct ProgramJudge {
  using Record = RecordT;
  using State = SingleState;
  static constexpr bool kNeverNonFinite = false;
  static constexpr bool kRewrites = false;

  PredicateView program;  ///< `columns` is not used
  ColumnTable table;
  Positions positions;
  std::uint64_t first_index;

  SLUICE_SIMT State begin(std::uint64_t /*first_row*/, std::uint64_t /*count*/) const { return {}; }
  template <typename ContextT>
  SLUICE_SIMT Verdict operator()(ContextT& /*simt*/, State& /*state*/, const Record& record, std::uint64_t row,
                                 bool exists) const {
    if (!exists) return Verdict::kNonFinite;
    PredicateView view = program;
    view.columns = table.columns;
    return evaluate(view, positions, position_of(record, positions.kind), row, first_index + row);
  }
};

/// A box of lattice numbers, both ends inclusive; empty where a lower end is above the upper one.
struct LatticeBoxJudge {
  using Record = Record16;
  using State = SingleState;
  static constexpr bool kNeverNonFinite = true;
  static constexpr bool kRewrites = false;

  std::int32_t low[3];
  std::int32_t high[3];

  SLUICE_SIMT State begin(std::uint64_t /*first_row*/, std::uint64_t /*count*/) const { return {}; }
  template <typename ContextT>
  SLUICE_SIMT Verdict operator()(ContextT& /*simt*/, State& /*state*/, const Record& p, std::uint64_t /*row*/,
                                 bool exists) const {
    const bool inside =
        exists && p.x >= low[0] && p.x <= high[0] && p.y >= low[1] && p.y <= high[1] && p.z >= low[2] && p.z <= high[2];
    return inside ? Verdict::kKept : Verdict::kRejected;
  }
};

/// A box of float32 positions. The ends are the outermost floats within the doubles of the program, so that comparing
/// floats decides as comparing doubles does.
struct FloatBoxJudge {
  using Record = Record16;
  using State = SingleState;
  static constexpr bool kNeverNonFinite = false;
  static constexpr bool kRewrites = false;

  float low[3];
  float high[3];

  SLUICE_SIMT State begin(std::uint64_t /*first_row*/, std::uint64_t /*count*/) const { return {}; }
  template <typename ContextT>
  SLUICE_SIMT Verdict operator()(ContextT& /*simt*/, State& /*state*/, const Record& record, std::uint64_t /*row*/,
                                 bool exists) const {
    if (!exists) return Verdict::kNonFinite;
    float p[3];
    memcpy(&p[0], &record.x, sizeof(float));
    memcpy(&p[1], &record.y, sizeof(float));
    memcpy(&p[2], &record.z, sizeof(float));
    if (!is_finite(p[0]) || !is_finite(p[1]) || !is_finite(p[2])) return Verdict::kNonFinite;
    const bool inside =
        p[0] >= low[0] && p[0] <= high[0] && p[1] >= low[1] && p[1] <= high[1] && p[2] >= low[2] && p[2] <= high[2];
    return inside ? Verdict::kKept : Verdict::kRejected;
  }
};

}  // namespace sluice::kernels::bodies
