// SPDX-License-Identifier: Apache-2.0
/// \file
/// Kernels that look at positions: verdicts, the range of cells, cell keys.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/cuda/bodies/look_back.hpp"
#include "kernels/simt/collectives.hpp"
#include "kernels/simt/words.hpp"
#include "sluice/core/cell_grid.hpp"
#include "sluice/core/cell_key.hpp"
#include "sluice/core/predicate.hpp"
#include "sluice/core/types.hpp"
#include "sluice/kernels/operations.hpp"

namespace sluice::kernels::bodies {

/// Most columns that a predicate may read on a device: they travel with the launch, whose parameters are limited.
inline constexpr std::uint32_t kMostColumns = 96;

struct ColumnTable {
  Column columns[kMostColumns];
};

/// A point of bare columns. As in a `Record16`, int32 coordinates are lattice numbers or the bits of a float32.
template <typename CoordinateT>
struct BarePoint {
  CoordinateT x, y, z;
};

/// Points in three arrays, read by threads that are neighbours in places that are.
template <typename CoordinateT>
struct PointColumns {
  using Item = BarePoint<CoordinateT>;

  const CoordinateT* x;
  const CoordinateT* y;
  const CoordinateT* z;

  static PointColumns of(const Positions& positions) {
    return {reinterpret_cast<const CoordinateT*>(positions.x), reinterpret_cast<const CoordinateT*>(positions.y),
            reinterpret_cast<const CoordinateT*>(positions.z)};
  }
  template <typename ContextT>
  SLUICE_SIMT Item load(ContextT& simt, std::uint64_t row) const {
    return {simt.load_streaming(x + row), simt.load_streaming(y + row), simt.load_streaming(z + row)};
  }
  template <typename ContextT>
  SLUICE_SIMT void start_copy(ContextT& simt, Item* to_shared, std::uint64_t row) const {
    simt.start_copy(&to_shared->x, x + row);
    simt.start_copy(&to_shared->y, y + row);
    simt.start_copy(&to_shared->z, z + row);
  }
  template <unsigned kTile, typename ContextT>
  SLUICE_SIMT void prefetch_ahead(ContextT& simt, std::uint64_t at, std::uint64_t count) const {
    for (const CoordinateT* column : {x, y, z}) bodies::prefetch_ahead<kTile, sizeof(Item)>(simt, column, at, count);
  }
};

/// The position of a record or bare point; world coordinates of a lattice are left unset.
template <typename PointT>
SLUICE_HD Position position_of(const PointT& point, CoordinateKind kind) {
  Position out;
  if constexpr (std::is_same_v<decltype(point.x), double>) {
    out.world[0] = point.x;
    out.world[1] = point.y;
    out.world[2] = point.z;
  } else {
    out.raw[0] = point.x;
    out.raw[1] = point.y;
    out.raw[2] = point.z;
    if (kind == CoordinateKind::kFloat32) {
      for (int d = 0; d < 3; ++d) {
        float value;
        memcpy(&value, &out.raw[d], sizeof value);
        out.world[d] = static_cast<double>(value);
      }
    }
  }
  return out;
}

/// Point `row` of packed positions, loaded 16 bytes at a time, or of bare columns; world coordinates of a lattice are
/// left unset.
template <typename ContextT>
SLUICE_SIMT Position load_point(ContextT& simt, const Positions& positions, std::uint64_t row) {
  const auto load = [&]<typename RecordT, typename CoordinateT>(const RecordT* records, const CoordinateT* x) {
    if (!positions.is_columns()) return position_of(simt.load_vector(records + row), positions.kind);
    const auto* y = reinterpret_cast<const CoordinateT*>(positions.y);
    const auto* z = reinterpret_cast<const CoordinateT*>(positions.z);
    return position_of(BarePoint<CoordinateT>{x[row], y[row], z[row]}, positions.kind);
  };
  if (positions.kind == CoordinateKind::kFloat64) {
    return load(reinterpret_cast<const Record32*>(positions.x), reinterpret_cast<const double*>(positions.x));
  }
  return load(reinterpret_cast<const Record16*>(positions.x), reinterpret_cast<const std::int32_t*>(positions.x));
}

/// out[d][i] = coordinate d of point indices[i], as it is stored.
struct TakeCoordinates {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  Positions positions;
  const std::uint32_t* indices;
  const std::uint64_t* count;  ///< of indices; no more than there are threads
  void* out[3];                ///< each may be null

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    if (positions.kind == CoordinateKind::kFloat64) {
      take(simt, std::uint64_t{});
    } else {
      take(simt, std::uint32_t{});
    }
  }

 private:
  /// \tparam WordT  as wide as a coordinate
  template <typename ContextT, typename WordT>
  SLUICE_SIMT void take(ContextT& simt, WordT /*word*/) const {
    const std::byte* const columns[3] = {positions.x, positions.y, positions.z};
    const std::uint64_t i = std::uint64_t{simt.block()} * kThreads + simt.thread();
    if (i >= *count) return;
    const std::uint64_t at = indices[i] * positions.stride;
    for (int d = 0; d < 3; ++d) {
      if (out[d] != nullptr) static_cast<WordT*>(out[d])[i] = *reinterpret_cast<const WordT*>(columns[d] + at);
    }
  }
};

/// What the host wants to know before keys are made. Cell numbers in the order-preserving unsigned form, so that plain
/// fills make an empty range.
struct JudgeStatus {
  SelectCounts counts;
  std::uint64_t min[3];
  std::uint64_t max[3];
  std::uint32_t failed;   ///< some kept point has no cell
  std::uint32_t outside;  ///< points that `MarkOutside` has marked
};

SLUICE_HD std::uint64_t cell_order(std::int64_t cell) {
  return static_cast<std::uint64_t>(cell) ^ 0x8000000000000000ULL;
}
SLUICE_HD std::int64_t cell_of_order(std::uint64_t order) {
  return static_cast<std::int64_t>(order ^ 0x8000000000000000ULL);
}

/// What a status says of kept points, of which there are some.
inline CellRange occupied_range(const JudgeStatus& status) {
  CellRange out{};
  for (int d = 0; d < 3; ++d) {
    out.min[d] = cell_of_order(status.min[d]);
    out.max[d] = cell_of_order(status.max[d]);
  }
  return out;
}

/// Sets a status to that of no points; one block.
struct ClearStatus {
  static constexpr unsigned kThreads = 128;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  JudgeStatus* status;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    if (simt.thread() != 0) return;
    status->counts.kept = 0;
    status->counts.rejected = 0;
    status->counts.nonfinite = 0;
    for (int d = 0; d < 3; ++d) {
      status->min[d] = ~std::uint64_t{0};
      status->max[d] = 0;
    }
    status->failed = 0;
    status->outside = 0;
  }
};

inline constexpr unsigned kJudgeThreads = 256;
inline constexpr unsigned kJudgeItems = 8;  ///< points per thread
inline constexpr unsigned kJudgeTile = kJudgeThreads * kJudgeItems;

/// Verdict of every point and how many there are of each; with `kCells` also the range of the kept points' cells.
template <bool kCells>
struct JudgePoints {
  static constexpr unsigned kThreads = kJudgeThreads;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t warp_counts[kThreads / kWarpWidth];
    std::uint64_t warp_cells[kThreads / kWarpWidth];
  };

  PredicateView program;  ///< `columns` is set by the kernel
  ColumnTable table;
  Positions positions;
  std::uint64_t count;
  std::uint64_t first_index;
  CellGrid grid;
  std::uint8_t* verdicts;
  SelectCounts* counts;  ///< start at zero; may be null without `kCells`
  JudgeStatus* status;   ///< with `kCells`

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    PredicateView view = program;
    view.columns = table.columns;
    const std::uint64_t first = std::uint64_t{simt.block()} * kJudgeTile + simt.thread();
    std::uint32_t kept = 0;
    std::uint32_t nonfinite = 0;
    std::uint32_t seen = 0;
    std::uint64_t min[3] = {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}};
    std::uint64_t max[3] = {0, 0, 0};
    bool failed = false;
    for (unsigned i = 0; i < kJudgeItems; ++i) {
      const std::uint64_t row = first + std::uint64_t{i} * kThreads;
      if (row >= count) break;
      const Position position = load_point(simt, positions, row);
      const Verdict verdict = evaluate(view, positions, position, row, first_index + row);
      verdicts[row] = static_cast<std::uint8_t>(verdict);
      ++seen;
      kept += verdict == Verdict::kKept ? 1 : 0;
      nonfinite += verdict == Verdict::kNonFinite ? 1 : 0;
      if constexpr (kCells) {
        if (verdict == Verdict::kKept) {
          std::int64_t cell[3];
          if (cell_of(grid, position, cell)) {
            for (int d = 0; d < 3; ++d) {
              min[d] = simt::Least{}(min[d], cell_order(cell[d]));
              max[d] = simt::Greatest{}(max[d], cell_order(cell[d]));
            }
          } else {
            failed = true;
          }
        }
      }
    }
    if (counts != nullptr) {
      kept = simt::block_reduce(simt, kept, shared.warp_counts, simt::Plus{});
      nonfinite = simt::block_reduce(simt, nonfinite, shared.warp_counts, simt::Plus{});
      seen = simt::block_reduce(simt, seen, shared.warp_counts, simt::Plus{});
      if (simt.thread() == 0) {
        add(simt, &counts->kept, kept);
        add(simt, &counts->nonfinite, nonfinite);
        add(simt, &counts->rejected, seen - kept - nonfinite);
      }
    }
    if constexpr (kCells) {
      for (int d = 0; d < 3; ++d) {
        min[d] = simt::block_reduce(simt, min[d], shared.warp_cells, simt::Least{});
        max[d] = simt::block_reduce(simt, max[d], shared.warp_cells, simt::Greatest{});
      }
      const bool some_failed = simt.ballot(failed) != 0;
      if (some_failed && simt.lane() == 0) {
        simt.template atomic_or<simt::Order::kRelaxed>(&status->failed, std::uint32_t{1});
      }
      if (simt.thread() == 0 && min[0] <= max[0]) {
        for (int d = 0; d < 3; ++d) {
          simt.template atomic_min<simt::Order::kRelaxed>(&status->min[d], min[d]);
          simt.template atomic_max<simt::Order::kRelaxed>(&status->max[d], max[d]);
        }
      }
    }
  }

 private:
  template <typename ContextT>
  SLUICE_SIMT static void add(ContextT& simt, std::uint64_t* to, std::uint32_t value) {
    if (value != 0) simt.template atomic_add<simt::Order::kRelaxed>(to, std::uint64_t{value});
  }
};

/// The verdict of a point that the predicate keeps and the range of cells does not hold.
inline constexpr std::uint8_t kOutside = 3;

/// Marks the kept points whose cell is not in a range, and moves them from the kept to those outside.
struct MarkOutside {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t warp_counts[kThreads / kWarpWidth];
  };

  Positions positions;
  CellGrid grid;
  CellRange range;
  std::uint64_t count;
  std::uint8_t* verdicts;
  JudgeStatus* status;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const std::uint64_t row = std::uint64_t{simt.block()} * kThreads + simt.thread();
    std::uint32_t outside = 0;
    if (row < count && verdicts[row] == static_cast<std::uint8_t>(Verdict::kKept)) {
      std::int64_t cell[3];
      if (!cell_of(grid, load_point(simt, positions, row), cell) || !contains(range, cell)) {
        verdicts[row] = kOutside;
        outside = 1;
      }
    }
    outside = simt::block_reduce(simt, outside, shared.warp_counts, simt::Plus{});
    if (simt.thread() != 0 || outside == 0) return;
    simt.template atomic_add<simt::Order::kRelaxed>(&status->outside, outside);
    simt.template atomic_add<simt::Order::kRelaxed>(&status->counts.kept, ~std::uint64_t{outside} + 1);
  }
};

/// keys[j] = key of the cell of point indices[j].
template <typename KeyT>
struct MakeKeys {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  Positions positions;
  CellGrid grid;
  KeyLayout layout;
  const std::uint32_t* indices;
  std::uint64_t n;
  KeyT* keys;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t at = std::uint64_t{simt.block()} * kThreads + simt.thread();
    if (at >= n) return;
    std::int64_t cell[3];
    cell_of(grid, load_point(simt, positions, indices[at]), cell);
    keys[at] = static_cast<KeyT>(key_of(layout, cell));
  }
};

}  // namespace sluice::kernels::bodies
