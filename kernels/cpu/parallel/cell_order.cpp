// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/parallel/cell_order.hpp"

#include <algorithm>
#include <limits>

#include "kernels/arguments.hpp"
#include "kernels/cpu/multiversion.hpp"
#include "kernels/cpu/parallel/blocks.hpp"
#include "kernels/cpu/parallel/cell_keys.hpp"
#include "kernels/cpu/parallel/radix.hpp"
#include "kernels/cpu/parallel/stencil.hpp"

namespace sluice::kernels {

namespace {

/// What one block found: how many points of each kind, and the range of the kept ones (lattice numbers are exact here).
struct BlockStats {
  std::uint32_t kept;
  std::uint32_t nonfinite;
  double low[3];
  double high[3];
};

/// A 32-bit key over the index of its point.
struct NarrowItems {
  using Item = std::uint64_t;
  using Key = std::uint32_t;
  Item* items;
  [[nodiscard]] std::uint64_t key(std::uint64_t i) const { return items[i] >> 32; }
  [[nodiscard]] std::uint32_t index(std::uint64_t i) const { return static_cast<std::uint32_t>(items[i]); }
  [[nodiscard]] Item load(std::uint64_t i) const { return items[i]; }
  void store(std::uint64_t i, Item item) const { items[i] = item; }
  static std::uint64_t key_of_item(Item item) { return item >> 32; }
  static Item make(Key key, std::uint32_t index) { return std::uint64_t{key} << 32 | index; }
};

struct WideItem {
  std::uint32_t low, high, index;
};

/// A 64-bit key and the index of its point, in 12 bytes.
struct WideItems {
  using Item = WideItem;
  using Key = std::uint64_t;
  Item* items;
  [[nodiscard]] std::uint64_t key(std::uint64_t i) const { return key_of_item(items[i]); }
  [[nodiscard]] std::uint32_t index(std::uint64_t i) const { return items[i].index; }
  [[nodiscard]] Item load(std::uint64_t i) const { return items[i]; }
  void store(std::uint64_t i, Item item) const { items[i] = item; }
  static std::uint64_t key_of_item(Item item) { return std::uint64_t{item.high} << 32 | item.low; }
  static Item make(Key key, std::uint32_t index) {
    return {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32), index};
  }
};

/// Range of the kept points of a tile on one axis, in lanes that vector units hold.
/// \param verdicts  null: all are kept
template <typename T>
[[gnu::always_inline]] inline void widen_lanes(const T* __restrict values, const std::uint8_t* __restrict verdicts,
                                               std::uint64_t count, double& low, double& high) {
  constexpr std::uint64_t kLanes = 16;
  constexpr T kTop = std::numeric_limits<T>::max();
  constexpr T kBottom = std::numeric_limits<T>::lowest();
  T least[kLanes];
  T most[kLanes];
  std::fill_n(least, kLanes, kTop);
  std::fill_n(most, kLanes, kBottom);
  // What is not kept is replaced first, so that the choice is a loop of its own, which becomes vector code.
  T some_low[kTile];
  T some_high[kTile];
  const T* __restrict down = values;
  const T* __restrict up = values;
  if (verdicts != nullptr) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const bool kept = verdicts[i] == static_cast<std::uint8_t>(Verdict::kKept);
      some_low[i] = kept ? values[i] : kTop;
      some_high[i] = kept ? values[i] : kBottom;
    }
    down = some_low;
    up = some_high;
  }
  std::uint64_t first = 0;
  for (; first + kLanes <= count; first += kLanes) {
    for (std::uint64_t lane = 0; lane < kLanes; ++lane) {
      least[lane] = down[first + lane] < least[lane] ? down[first + lane] : least[lane];
      most[lane] = up[first + lane] > most[lane] ? up[first + lane] : most[lane];
    }
  }
  for (; first < count; ++first) {
    least[0] = std::min(least[0], down[first]);
    most[0] = std::max(most[0], up[first]);
  }
  low = std::min(low, static_cast<double>(*std::min_element(least, least + kLanes)));
  high = std::max(high, static_cast<double>(*std::max_element(most, most + kLanes)));
}

SLUICE_MULTIVERSION
void widen(const std::int32_t* values, const std::uint8_t* verdicts, std::uint64_t count, double& low, double& high) {
  widen_lanes(values, verdicts, count, low, high);
}

SLUICE_MULTIVERSION
void widen(const double* values, const std::uint8_t* verdicts, std::uint64_t count, double& low, double& high) {
  widen_lanes(values, verdicts, count, low, high);
}

BlockStats judge_block(const Judge& judge, std::uint64_t begin, std::uint64_t end, std::uint8_t* verdicts) {
  BlockStats stats{0, 0, {}, {}};
  std::fill_n(stats.low, 3, std::numeric_limits<double>::infinity());
  std::fill_n(stats.high, 3, -std::numeric_limits<double>::infinity());
  const bool lattice = judge.input().positions.kind == CoordinateKind::kLattice;
  TilePositions tile;
  for (std::uint64_t first = begin; first < end; first += kTile) {
    const std::uint64_t count = std::min(kTile, end - first);
    std::uint8_t* mine = verdicts + first;
    judge.tile(first, count, true, tile, mine);
    const std::uint64_t kept = count_chosen(EqualTo(1), mine, 0, count);
    stats.kept += static_cast<std::uint32_t>(kept);
    stats.nonfinite += static_cast<std::uint32_t>(count_chosen(EqualTo(2), mine, 0, count));
    if (kept == 0) continue;
    const std::uint8_t* some = kept == count ? nullptr : mine;
    for (int d = 0; d < 3; ++d) {
      if (lattice) {
        widen(tile.raw[d], some, count, stats.low[d], stats.high[d]);
      } else {
        widen(tile.world[d], some, count, stats.low[d], stats.high[d]);
      }
    }
  }
  return stats;
}

/// The layout of the keys of all kept points. Cells rise or fall with the coordinate, so the cells of the two corners
/// of the points bound all the others, and are refused where any is.
KeyLayout layout_of(const CellGrid& grid, CellOrder order, const double low[3], const double high[3]) {
  Position corners[2] = {};
  for (int d = 0; d < 3; ++d) {
    if (grid.kind == CoordinateKind::kLattice) {
      corners[0].raw[d] = static_cast<std::int32_t>(low[d]);
      corners[1].raw[d] = static_cast<std::int32_t>(high[d]);
    } else {
      corners[0].world[d] = low[d];
      corners[1].world[d] = high[d];
    }
  }
  std::int64_t cells[2][3];
  for (int i = 0; i < 2; ++i) {
    if (!cell_of(grid, corners[i], cells[i])) refuse_cell();
  }
  for (int d = 0; d < 3; ++d) {
    if (cells[0][d] > cells[1][d]) std::swap(cells[0][d], cells[1][d]);
  }
  return make_key_layout(order, grid.use_z, cells[0], cells[1]);
}

/// Sorts the kept points and writes the outputs; returns the number of cells.
template <typename Items>
std::uint64_t sort_points(const Judge& judge, const CellGrid& grid, const KeyLayout& layout,
                          const std::uint8_t* verdicts, const BlockStats* stats, const std::uint32_t* first_kept,
                          std::uint64_t kept, std::uint32_t* permutation, std::uint64_t* cell_keys,
                          std::uint32_t* cell_first, Workspace& workspace) {
  const PointInput& input = judge.input();
  const Items items[2] = {{workspace.take<typename Items::Item>(kept)}, {workspace.take<typename Items::Item>(kept)}};
  const CellKeys cell_keys_of(grid, layout);
  for_blocks(input.count, kBlock, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    if (stats[block].kept == 0) return;
    TilePositions tile;
    std::uint32_t rows[kTile];
    typename Items::Key keys[kTile];
    typename Items::Item* out = items[0].items + first_kept[block];
    for (std::uint64_t first = begin; first < end; first += kTile) {
      const std::uint64_t count = std::min(kTile, end - first);
      const std::uint64_t chosen = count_chosen(EqualTo(1), verdicts, first, first + count);
      if (chosen == 0) continue;
      if (chosen == count) {
        for (std::uint64_t i = 0; i < count; ++i) rows[i] = static_cast<std::uint32_t>(first + i);
        tile.load(input.positions, first, count);
      } else {
        emit_chosen(EqualTo(1), verdicts, first, first + count, chosen, rows,
                    [](std::uint64_t i) { return static_cast<std::uint32_t>(i); });
        tile.load(input.positions, rows, chosen);
      }
      cell_keys_of.keys(tile, chosen, keys);
      for (std::uint64_t i = 0; i < chosen; ++i) out[i] = Items::make(keys[i], rows[i]);
      out += chosen;
    }
  });
  const int result = radix_sort(items, kept, 0, layout.key_bits, workspace);
  const Items sorted = items[result];
  // In one pass over the items: their order, and per block where cells start. The other buffer is free for the latter.
  auto* starts = reinterpret_cast<std::uint32_t*>(items[1 - result].items);
  auto* first_cell = workspace.take<std::uint64_t>(blocks_of(kept) + 1);
  for_blocks(kept, kBlock, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    std::uint64_t found = 0;
    std::uint64_t before = begin == 0 ? ~sorted.key(0) : sorted.key(begin - 1);
    for (std::uint64_t i = begin; i < end; ++i) {
      permutation[i] = sorted.index(i);
      // Written for every item, kept where a cell starts: no branch to mispredict.
      const std::uint64_t key = sorted.key(i);
      starts[begin + found] = static_cast<std::uint32_t>(i);
      found += key != before ? 1U : 0U;
      before = key;
    }
    first_cell[block] = found;
  });
  first_cell[blocks_of(kept)] = begin_of_each(first_cell, blocks_of(kept));
  for_blocks(kept, kBlock, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t /*end*/) {
    for (std::uint64_t c = first_cell[block]; c < first_cell[block + 1]; ++c) {
      const std::uint32_t i = starts[begin + c - first_cell[block]];
      if (cell_keys != nullptr) cell_keys[c] = sorted.key(i);
      if (cell_first != nullptr) cell_first[c] = i;
    }
  });
  return first_cell[blocks_of(kept)];
}

}  // namespace

CellOrdering order_by_cell(const Judge& judge, const CellGrid& grid, CellOrder order, std::uint32_t* permutation,
                           std::uint64_t* cell_keys, std::uint32_t* cell_first, Workspace& workspace) {
  const WorkspaceScope scope(workspace);
  const std::uint64_t count = judge.input().count;
  const std::uint64_t blocks = blocks_of(count);
  auto* verdicts = workspace.take<std::uint8_t>(count);
  auto* stats = workspace.take<BlockStats>(blocks);
  auto* first_kept = workspace.take<std::uint32_t>(blocks);
  for_blocks(count, kBlock, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    stats[block] = judge_block(judge, begin, end, verdicts);
    first_kept[block] = stats[block].kept;
  });

  CellOrdering out;
  out.counts.kept = begin_of_each(first_kept, blocks);
  double low[3];
  double high[3];
  std::fill_n(low, 3, std::numeric_limits<double>::infinity());
  std::fill_n(high, 3, -std::numeric_limits<double>::infinity());
  for (std::uint64_t b = 0; b < blocks; ++b) {
    out.counts.nonfinite += stats[b].nonfinite;
    for (int d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], stats[b].low[d]);
      high[d] = std::max(high[d], stats[b].high[d]);
    }
  }
  out.counts.rejected = count - out.counts.kept - out.counts.nonfinite;
  if (out.counts.kept == 0) return out;

  out.layout = layout_of(grid, order, low, high);
  const auto sort = out.layout.key_bits <= 32 ? sort_points<NarrowItems> : sort_points<WideItems>;
  out.cells = sort(judge, grid, out.layout, verdicts, stats, first_kept, out.counts.kept, permutation, cell_keys,
                   cell_first, workspace);
  return out;
}

std::size_t order_by_cell_scratch(std::uint64_t count) {
  const std::uint64_t blocks = blocks_of(count);
  return Workspace::bytes_for<std::uint8_t>(count) + Workspace::bytes_for<BlockStats>(blocks) +
         Workspace::bytes_for<std::uint32_t>(blocks) + 2 * Workspace::bytes_for<WideItem>(count) +
         std::max(radix_scratch(count), Workspace::bytes_for<std::uint64_t>(blocks + 1));
}

}  // namespace sluice::kernels
