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

/// A box around points (lattice numbers are exact here).
struct Bounds {
  double low[3];
  double high[3];

  static Bounds none() {
    constexpr double kTop = std::numeric_limits<double>::infinity();
    return {{kTop, kTop, kTop}, {-kTop, -kTop, -kTop}};
  }
  void add(const Bounds& other) {
    for (int d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], other.low[d]);
      high[d] = std::max(high[d], other.high[d]);
    }
  }
};

/// What one block found: how many points of each kind, and where the kept ones lie.
struct BlockStats {
  std::uint32_t kept;
  std::uint32_t nonfinite;
  std::uint32_t outside;
  Bounds bounds;
};

/// The verdict of a point that the predicate keeps and the range of cells does not hold.
constexpr std::uint8_t kOutside = 3;

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

/// The cells of points. Cells rise or fall with the coordinate, so the cells of the two corners of the points bound all
/// the others.
/// \return false where a corner has no cell, as is so where any point has none
bool cells_of(const CellGrid& grid, const Bounds& bounds, CellRange& cells) {
  Position corners[2] = {};
  for (int d = 0; d < 3; ++d) {
    if (grid.kind == CoordinateKind::kLattice) {
      corners[0].raw[d] = static_cast<std::int32_t>(bounds.low[d]);
      corners[1].raw[d] = static_cast<std::int32_t>(bounds.high[d]);
    } else {
      corners[0].world[d] = bounds.low[d];
      corners[1].world[d] = bounds.high[d];
    }
  }
  if (!cell_of(grid, corners[0], cells.min) || !cell_of(grid, corners[1], cells.max)) return false;
  for (int d = 0; d < 3; ++d) {
    if (cells.min[d] > cells.max[d]) std::swap(cells.min[d], cells.max[d]);
  }
  return true;
}

/// Marks the kept points of a tile that a range does not hold. \return how many
std::uint64_t mark_outside(const CellGrid& grid, const CellRange& range, const TilePositions& tile, std::uint64_t count,
                           std::uint8_t* verdicts) {
  std::uint64_t outside = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (verdicts[i] != static_cast<std::uint8_t>(Verdict::kKept)) continue;
    std::int64_t cell[3];
    if (cell_of(grid, tile.position(grid.kind, i), cell) && contains(range, cell)) continue;
    verdicts[i] = kOutside;
    ++outside;
  }
  return outside;
}

BlockStats judge_block(const Judge& judge, const BinSpec& spec, std::uint64_t begin, std::uint64_t end,
                       std::uint8_t* verdicts) {
  BlockStats stats{0, 0, 0, Bounds::none()};
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
    Bounds bounds = Bounds::none();
    for (int d = 0; d < 3; ++d) {
      if (lattice) {
        widen(tile.raw[d], some, count, bounds.low[d], bounds.high[d]);
      } else {
        widen(tile.world[d], some, count, bounds.low[d], bounds.high[d]);
      }
    }
    stats.bounds.add(bounds);
    if (!spec.range.has_value()) continue;
    // Mostly all points of a tile are in the range, which their corners tell.
    CellRange cells;
    if (cells_of(spec.grid, bounds, cells) && contains(*spec.range, cells.min) && contains(*spec.range, cells.max)) {
      continue;
    }
    const std::uint64_t outside = mark_outside(spec.grid, *spec.range, tile, count, mine);
    stats.kept -= static_cast<std::uint32_t>(outside);
    stats.outside += static_cast<std::uint32_t>(outside);
  }
  return stats;
}

/// The layout of the keys of all kept points.
KeyLayout layout_of(const BinSpec& spec, const Bounds& bounds) {
  CellRange occupied;
  if (!cells_of(spec.grid, bounds, occupied)) refuse_cell();
  return make_key_layout(spec.order, spec.grid.use_z, occupied.min, occupied.max);
}

/// The numbers of the kept points of a tile. \return how many there are
std::uint64_t kept_rows(const std::uint8_t* verdicts, std::uint64_t first, std::uint64_t count, std::uint32_t* rows) {
  const auto index = [](std::uint64_t i) { return static_cast<std::uint32_t>(i); };
  const std::uint64_t chosen = count_chosen(EqualTo(1), verdicts, first, first + count);
  if (chosen == count) {
    for (std::uint64_t i = 0; i < count; ++i) rows[i] = index(first + i);
  } else {
    emit_chosen(EqualTo(1), verdicts, first, first + count, chosen, rows, index);
  }
  return chosen;
}

/// Calls f(keys, rows, count) for the kept points of begin..end, tile by tile.
template <typename Key, typename F>
void for_keys(const PointInput& input, const CellKeys& cell_keys, const std::uint8_t* verdicts, std::uint64_t begin,
              std::uint64_t end, const F& f) {
  TilePositions tile;
  std::uint32_t rows[kTile];
  Key keys[kTile];
  for (std::uint64_t first = begin; first < end; first += kTile) {
    const std::uint64_t count = std::min(kTile, end - first);
    const std::uint64_t chosen = kept_rows(verdicts, first, count, rows);
    if (chosen == 0) continue;
    if (chosen == count) {
      tile.load(input.positions, first, count);
    } else {
      tile.load(input.positions, rows, chosen);
    }
    cell_keys.keys(tile, chosen, keys);
    f(keys, rows, chosen);
  }
}

/// What both ways to sort read, and where they write.
struct Sorting {
  const Judge& judge;
  CellKeys cell_keys_of;
  unsigned key_bits;
  const std::uint8_t* verdicts;
  const std::uint32_t* first_kept;  ///< kept points before each block
  std::uint64_t kept;
  std::uint32_t* permutation;
  std::uint64_t* cell_keys;
  std::uint32_t* cell_first;

  void write_cell(std::uint64_t cell, std::uint64_t key, std::uint32_t first) const {
    if (cell_keys != nullptr) cell_keys[cell] = key;
    if (cell_first != nullptr) cell_first[cell] = first;
  }
};

/// Whether `sort_dense` can sort such keys and does not spend its time on cells that nothing is in.
bool is_dense(unsigned key_bits, std::uint64_t kept) {
  return key_bits <= 2 * kDigitBits && (std::uint64_t{1} << key_bits) <= 4 * kept;
}

/// Blocks of `sort_dense`: as those of the radix sort, but whole blocks of `kBlock`.
std::uint64_t dense_block(std::uint64_t n) { return blocks_of(radix_block(n)) * kBlock; }

/// Sorts by keys of at most two digits that mostly occur: first all points into buckets by the high digit, then each
/// bucket, which fits the second cache, by the low one. \return the number of cells
std::uint64_t sort_dense(const Sorting& sorting, Workspace& workspace) {
  const PointInput& input = sorting.judge.input();
  const unsigned low_bits = sorting.key_bits / 2;
  const std::uint64_t lows = std::uint64_t{1} << low_bits;
  const std::uint64_t buckets = std::uint64_t{1} << (sorting.key_bits - low_bits);
  const std::uint64_t block_size = dense_block(input.count);
  const std::uint64_t blocks = blocks_of(input.count, block_size);
  const NarrowItems sorted{workspace.take<NarrowItems::Item>(sorting.kept)};
  auto* places = workspace.take<std::uint32_t>(blocks << kDigitBits);
  auto* bucket_first = workspace.take<std::uint32_t>(buckets + 1);
  auto* first_cell = workspace.take<std::uint64_t>(buckets + 1);

  // Keys wait where the permutation will be.
  for_blocks(input.count, block_size, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    std::uint32_t* mine = places + block * buckets;
    std::fill_n(mine, buckets, 0U);
    std::uint32_t* to = sorting.permutation + sorting.first_kept[begin / kBlock];
    for_keys<std::uint32_t>(input, sorting.cell_keys_of, sorting.verdicts, begin, end,
                            [&](const std::uint32_t* keys, const std::uint32_t* /*rows*/, std::uint64_t count) {
                              for (std::uint64_t i = 0; i < count; ++i) ++mine[keys[i] >> low_bits];
                              to = std::copy_n(keys, count, to);
                            });
  });
  std::uint32_t sum = 0;
  for (std::uint64_t bucket = 0; bucket < buckets; ++bucket) {
    bucket_first[bucket] = sum;
    for (std::uint64_t b = 0; b < blocks; ++b) {
      const std::uint32_t count = places[b * buckets + bucket];
      places[b * buckets + bucket] = sum;
      sum += count;
    }
  }
  bucket_first[buckets] = sum;
  for_blocks(input.count, block_size, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    std::uint32_t* mine = places + block * buckets;
    const std::uint32_t* keys = sorting.permutation + sorting.first_kept[begin / kBlock];
    std::uint32_t rows[kTile];
    for (std::uint64_t first = begin; first < end; first += kTile) {
      const std::uint64_t chosen = kept_rows(sorting.verdicts, first, std::min(kTile, end - first), rows);
      for (std::uint64_t i = 0; i < chosen; ++i) {
        sorted.store(mine[keys[i] >> low_bits]++, NarrowItems::make(keys[i], rows[i]));
      }
      keys += chosen;
    }
  });

  for_each(buckets, sorting.kept, [&](std::uint64_t bucket) {
    const std::uint32_t begin = bucket_first[bucket];
    const std::uint32_t end = bucket_first[bucket + 1];
    first_cell[bucket] = 0;
    if (begin == end) return;
    std::uint32_t place[std::uint64_t{1} << kDigitBits];
    std::fill_n(place, lows, 0U);
    for (std::uint32_t i = begin; i < end; ++i) ++place[sorted.key(i) & (lows - 1)];
    std::uint32_t next = begin;
    for (std::uint64_t low = 0; low < lows; ++low) {
      const std::uint32_t count = place[low];
      place[low] = next;
      next += count;
    }
    for (std::uint32_t i = begin; i < end; ++i) {
      sorting.permutation[place[sorted.key(i) & (lows - 1)]++] = sorted.index(i);
    }
    // Each place is now where the next cell starts; the items are of no more use, and give room to the cells.
    std::uint32_t cells = 0;
    for (std::uint32_t low = 0, start = begin; low < lows; ++low) {
      if (place[low] == start) continue;
      sorted.store(begin + cells++, NarrowItems::make(static_cast<std::uint32_t>(bucket << low_bits) | low, start));
      start = place[low];
    }
    first_cell[bucket] = cells;
  });
  first_cell[buckets] = begin_of_each(first_cell, buckets);
  for_each(buckets, sorting.kept, [&](std::uint64_t bucket) {
    for (std::uint64_t c = first_cell[bucket], i = bucket_first[bucket]; c < first_cell[bucket + 1]; ++c, ++i) {
      sorting.write_cell(c, sorted.key(i), sorted.index(i));
    }
  });
  return first_cell[buckets];
}

std::size_t sort_dense_scratch(std::uint64_t count) {
  const std::uint64_t buckets = std::uint64_t{1} << kDigitBits;
  return Workspace::bytes_for<NarrowItems::Item>(count) +
         Workspace::bytes_for<std::uint32_t>(blocks_of(count, dense_block(count)) << kDigitBits) +
         Workspace::bytes_for<std::uint32_t>(buckets + 1) + Workspace::bytes_for<std::uint64_t>(buckets + 1);
}

/// Sorts by keys of any kind, digit by digit. \return the number of cells
template <typename Items>
std::uint64_t sort_points(const Sorting& sorting, Workspace& workspace) {
  const PointInput& input = sorting.judge.input();
  const std::uint64_t kept = sorting.kept;
  const Items items[2] = {{workspace.take<typename Items::Item>(kept)}, {workspace.take<typename Items::Item>(kept)}};
  for_blocks(input.count, kBlock, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    typename Items::Item* out = items[0].items + sorting.first_kept[block];
    for_keys<typename Items::Key>(input, sorting.cell_keys_of, sorting.verdicts, begin, end,
                                  [&](const typename Items::Key* keys, const std::uint32_t* rows, std::uint64_t count) {
                                    for (std::uint64_t i = 0; i < count; ++i) *out++ = Items::make(keys[i], rows[i]);
                                  });
  });
  const int result = radix_sort(items, kept, 0, sorting.key_bits, workspace);
  const Items sorted = items[result];
  // In one pass over the items: their order, and per block where cells start. The other buffer is free for the latter.
  auto* starts = reinterpret_cast<std::uint32_t*>(items[1 - result].items);
  auto* first_cell = workspace.take<std::uint64_t>(blocks_of(kept) + 1);
  for_blocks(kept, kBlock, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    std::uint64_t found = 0;
    std::uint64_t before = begin == 0 ? ~sorted.key(0) : sorted.key(begin - 1);
    for (std::uint64_t i = begin; i < end; ++i) {
      sorting.permutation[i] = sorted.index(i);
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
      sorting.write_cell(c, sorted.key(i), i);
    }
  });
  return first_cell[blocks_of(kept)];
}

}  // namespace

CellOrdering order_by_cell(const Judge& judge, const BinSpec& spec, std::uint32_t* permutation,
                           std::uint64_t* cell_keys, std::uint32_t* cell_first, Workspace& workspace) {
  CellOrdering out;
  const auto& range = spec.range;
  if (range.has_value()) out.layout = make_key_layout(spec.order, spec.grid.use_z, range->min, range->max);
  const WorkspaceScope scope(workspace);
  const std::uint64_t count = judge.input().count;
  const std::uint64_t blocks = blocks_of(count);
  auto* verdicts = workspace.take<std::uint8_t>(count);
  auto* stats = workspace.take<BlockStats>(blocks);
  auto* first_kept = workspace.take<std::uint32_t>(blocks);
  for_blocks(count, kBlock, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    stats[block] = judge_block(judge, spec, begin, end, verdicts);
    first_kept[block] = stats[block].kept;
  });

  out.counts.kept = begin_of_each(first_kept, blocks);
  Bounds bounds = Bounds::none();
  for (std::uint64_t b = 0; b < blocks; ++b) {
    out.counts.nonfinite += stats[b].nonfinite;
    out.outside += stats[b].outside;
    bounds.add(stats[b].bounds);
  }
  out.counts.rejected = count - out.counts.kept - out.counts.nonfinite - out.outside;
  if (out.counts.kept == 0) return out;

  if (!range.has_value()) out.layout = layout_of(spec, bounds);
  const Sorting sorting{judge,
                        CellKeys(spec.grid, out.layout),
                        out.layout.key_bits,
                        verdicts,
                        first_kept,
                        out.counts.kept,
                        permutation,
                        cell_keys,
                        cell_first};
  const auto sort = is_dense(sorting.key_bits, sorting.kept) ? sort_dense
                    : sorting.key_bits <= 32                 ? sort_points<NarrowItems>
                                                             : sort_points<WideItems>;
  out.cells = sort(sorting, workspace);
  return out;
}

std::size_t order_by_cell_scratch(std::uint64_t count) {
  const std::uint64_t blocks = blocks_of(count);
  const std::size_t any = 2 * Workspace::bytes_for<WideItem>(count) +
                          std::max(radix_scratch(count), Workspace::bytes_for<std::uint64_t>(blocks + 1));
  return Workspace::bytes_for<std::uint8_t>(count) + Workspace::bytes_for<BlockStats>(blocks) +
         Workspace::bytes_for<std::uint32_t>(blocks) + std::max(any, sort_dense_scratch(count));
}

}  // namespace sluice::kernels
