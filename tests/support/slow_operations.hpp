// SPDX-License-Identifier: Apache-2.0
/// \file
/// Clouds of many shapes, and select and bin of them over ordered maps, point by point: what backends are held against.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "sluice/core/cell_grid.hpp"
#include "sluice/core/cell_key.hpp"
#include "sluice/core/centroid.hpp"
#include "sluice/core/predicate_program.hpp"
#include "sluice/core/random.hpp"
#include "sluice/kernels/operations.hpp"

namespace sluice::test {

using Cell = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

/// Number of the first point of a cloud within an input of which it is a part.
inline constexpr std::uint64_t kFirstIndex = 1000;

/// Packed points of one kind and an attribute of one byte.
struct Cloud {
  CoordinateFrame frame;
  std::vector<std::byte> records;
  std::vector<std::uint8_t> attribute;
  std::uint64_t count = 0;

  [[nodiscard]] std::uint64_t record_bytes() const {
    return frame.kind == CoordinateKind::kFloat64 ? sizeof(Record32) : sizeof(Record16);
  }
  [[nodiscard]] Positions positions(const std::byte* at) const {
    Positions out = frame.kind == CoordinateKind::kFloat64
                        ? Positions::packed(reinterpret_cast<const Record32*>(at))
                        : Positions::packed(reinterpret_cast<const Record16*>(at), frame.kind);
    for (int d = 0; d < 3; ++d) {
      out.scale[d] = frame.scale[d];
      out.offset[d] = frame.offset[d];
    }
    return out;
  }
};

/// How the points lie.
enum class Scene {
  kScattered,  ///< across zero, few points a cell
  kOnFaces,    ///< half and whole numbers: on faces of cells and regions, many duplicates
  kOneCell,
  kScan,  ///< neighbours follow each other
};

inline Cloud cloud_of(CoordinateKind kind, Scene scene, std::uint64_t count) {
  Cloud cloud;
  cloud.count = count;
  cloud.frame.kind = kind;
  const double scale[3] = {0.01, 0.01, 0.001};
  const double offset[3] = {300000.0, -20.0, 0.5};
  if (kind == CoordinateKind::kLattice) {
    std::copy_n(scale, 3, cloud.frame.scale);
    std::copy_n(offset, 3, cloud.frame.offset);
  }
  cloud.records.resize(count * cloud.record_bytes());
  cloud.attribute.resize(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    double world[3];
    std::int32_t raw[3];
    for (std::uint64_t d = 0; d < 3; ++d) {
      const std::uint64_t r = counter_random(17, 3 * i + d);
      const double unit = static_cast<double>(r >> 11) * 0x1.0p-53;
      switch (scene) {
        case Scene::kScattered:
          world[d] = (unit - 0.5) * 200.0;
          break;
        case Scene::kOnFaces:
          world[d] = (static_cast<double>(r % 17) - 8.0) * 0.5;
          break;
        case Scene::kOneCell:
          world[d] = 0.25 + unit * 0.5;
          break;
        case Scene::kScan:
          world[d] = d == 0 ? static_cast<double>(i % 400) * 0.05 : d == 1 ? static_cast<double>(i / 400) * 0.1 : unit;
          break;
      }
      raw[d] = static_cast<std::int32_t>(std::lround(world[d] / scale[d]));
    }
    if (kind != CoordinateKind::kLattice && counter_random(18, i) % 50 == 0) {
      const double odd[3] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()};
      world[i % 3] = odd[counter_random(19, i) % 3];
    }
    if (counter_random(20, i) % 61 == 0) {
      std::fill_n(world, 3, 0.0);
      std::fill_n(raw, 3, 0);
    }
    std::byte* at = cloud.records.data() + i * cloud.record_bytes();
    for (std::size_t d = 0; d < 3; ++d) {
      if (kind == CoordinateKind::kLattice) store_unaligned(at + 4 * d, raw[d]);
      if (kind == CoordinateKind::kFloat32) store_unaligned(at + 4 * d, static_cast<float>(world[d]));
      if (kind == CoordinateKind::kFloat64) store_unaligned(at + 8 * d, world[d]);
    }
    const std::uint64_t w = counter_random(22, i);
    if (kind == CoordinateKind::kFloat64) {
      store_unaligned(at + offsetof(Record32, w), w);
    } else {
      store_unaligned(at + offsetof(Record16, w), static_cast<std::uint32_t>(w));
    }
    cloud.attribute[i] = static_cast<std::uint8_t>(counter_random(21, i) % 8);
  }
  return cloud;
}

struct Oracle {
  std::vector<Verdict> verdicts;
  kernels::SelectCounts counts;
  std::vector<std::uint32_t> kept;
  std::vector<std::uint32_t> rejected;
};

inline Oracle select_slowly(const Cloud& cloud, const PredicateProgram& program) {
  Oracle out;
  const Column column{reinterpret_cast<const std::byte*>(cloud.attribute.data()), 1, FieldType::kUint8, 0, 0};
  const Positions positions = cloud.positions(cloud.records.data());
  for (std::uint64_t i = 0; i < cloud.count; ++i) {
    const Verdict verdict = evaluate(program.view(&column), positions, i, kFirstIndex + i);
    out.verdicts.push_back(verdict);
    if (verdict == Verdict::kKept) out.kept.push_back(static_cast<std::uint32_t>(i));
    if (verdict == Verdict::kRejected) out.rejected.push_back(static_cast<std::uint32_t>(i));
  }
  out.counts.kept = out.kept.size();
  out.counts.rejected = out.rejected.size();
  out.counts.nonfinite = cloud.count - out.kept.size() - out.rejected.size();
  return out;
}

inline Cell cell_at(const CellGrid& grid, const Positions& positions, std::uint32_t i) {
  Position p = load_position(positions, i);
  std::int64_t cell[3];
  EXPECT_TRUE(cell_of(grid, p, cell));
  return {cell[0], cell[1], cell[2]};
}

inline void expect_equal(const kernels::SelectCounts& a, const kernels::SelectCounts& b) {
  EXPECT_EQ(a.kept, b.kept);
  EXPECT_EQ(a.rejected, b.rejected);
  EXPECT_EQ(a.nonfinite, b.nonfinite);
}

/// What `bin` or `enqueue_bin` gives.
struct Binned {
  kernels::BinCounts counts;
  KeyLayout layout;
  std::vector<std::uint32_t> permutation;
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> first;
  std::vector<std::byte> records;
};

inline void expect_equal(const Binned& a, const Binned& b) {
  expect_equal(a.counts.counts, b.counts.counts);
  EXPECT_EQ(a.counts.cells, b.counts.cells);
  EXPECT_EQ(a.counts.outside, b.counts.outside);
  for (int d = 0; d < 3; ++d) {
    EXPECT_EQ(a.layout.min[d], b.layout.min[d]);
    EXPECT_EQ(a.layout.extent[d], b.layout.extent[d]);
  }
  EXPECT_EQ(a.layout.key_bits, b.layout.key_bits);
  EXPECT_TRUE(a.permutation == b.permutation);
  EXPECT_TRUE(a.keys == b.keys);
  EXPECT_TRUE(a.first == b.first);
  EXPECT_TRUE(a.records == b.records);
}

/// The range of the cells of the points that a predicate keeps; that of one cell where it keeps none.
inline CellRange occupied_range(const Cloud& cloud, const PredicateProgram& program, const CellGrid& grid) {
  const Positions positions = cloud.positions(cloud.records.data());
  CellRange out{{INT64_MAX, INT64_MAX, INT64_MAX}, {INT64_MIN, INT64_MIN, INT64_MIN}};
  for (const std::uint32_t i : select_slowly(cloud, program).kept) {
    const Cell c = cell_at(grid, positions, i);
    const std::int64_t at[3] = {std::get<0>(c), std::get<1>(c), std::get<2>(c)};
    for (int d = 0; d < 3; ++d) {
      out.min[d] = std::min(out.min[d], at[d]);
      out.max[d] = std::max(out.max[d], at[d]);
    }
  }
  return out.min[0] <= out.max[0] ? out : CellRange{{0, 0, 0}, {0, 0, 0}};
}

/// Bins over an ordered map.
inline Binned bin_slowly(const Cloud& cloud, const PredicateProgram& program, const kernels::BinSpec& spec) {
  const Positions positions = cloud.positions(cloud.records.data());
  const Oracle chosen = select_slowly(cloud, program);
  Binned out;
  out.counts.counts = chosen.counts;
  const CellRange range = spec.range.has_value() ? *spec.range : occupied_range(cloud, program, spec.grid);
  if (spec.range.has_value() || !chosen.kept.empty()) {
    out.layout = make_key_layout(spec.order, spec.grid.use_z, range.min, range.max);
  }
  std::map<std::uint64_t, std::vector<std::uint32_t>> by_key;
  for (const std::uint32_t i : chosen.kept) {
    std::int64_t cell[3];
    bool inside = cell_of(spec.grid, load_position(positions, i), cell);
    for (int d = 0; d < 3; ++d) inside = inside && range.min[d] <= cell[d] && cell[d] <= range.max[d];
    if (!inside) {
      ++out.counts.outside;
      --out.counts.counts.kept;
      continue;
    }
    std::uint64_t key = 0;
    if (spec.order == CellOrder::kRowMajor) {
      for (int d = 2; d >= 0; --d) {
        key = key * static_cast<std::uint64_t>(range.max[d] - range.min[d] + 1) +
              static_cast<std::uint64_t>(cell[d] - range.min[d]);
      }
    } else {
      key = key_of(out.layout, cell);
    }
    by_key[key].push_back(i);
  }
  out.counts.cells = by_key.size();
  for (const auto& [key, members] : by_key) {
    out.keys.push_back(key);
    out.first.push_back(static_cast<std::uint32_t>(out.permutation.size()));
    out.permutation.insert(out.permutation.end(), members.begin(), members.end());
  }
  for (const std::uint32_t i : out.permutation) {
    const auto at = cloud.records.begin() + static_cast<std::ptrdiff_t>(i * cloud.record_bytes());
    out.records.insert(out.records.end(), at, at + static_cast<std::ptrdiff_t>(cloud.record_bytes()));
  }
  return out;
}

/// The score of a point under a policy; the smallest stay.
inline std::uint64_t score_of(const kernels::ReduceSpec& spec, const Positions& positions, std::uint32_t i,
                              const Cell& cell, const CentroidSums& sums) {
  const Position p = load_position(positions, i);
  const std::int64_t at[3] = {std::get<0>(cell), std::get<1>(cell), std::get<2>(cell)};
  switch (spec.policy) {
    case kernels::KeepPolicy::kFirst:
      return 0;
    case kernels::KeepPolicy::kCenter:
      return center_score(spec.grid, p, at);
    case kernels::KeepPolicy::kLowest:
    case kernels::KeepPolicy::kHighest: {
      std::uint64_t key =
          positions.kind == CoordinateKind::kLattice
              ? static_cast<std::uint64_t>((positions.scale[2] < 0.0 ? -1 : 1) * std::int64_t{p.raw[2]} +
                                           (std::int64_t{1} << 40))
              : 0;
      if (positions.kind != CoordinateKind::kLattice) {
        // Order of doubles by their bits, written apart from the library's.
        const double z = p.world[2] == 0.0 ? 0.0 : p.world[2];
        std::int64_t bits;
        std::memcpy(&bits, &z, sizeof bits);
        key =
            bits < 0 ? ~static_cast<std::uint64_t>(bits) : static_cast<std::uint64_t>(bits) + (std::uint64_t{1} << 63);
      }
      return spec.policy == kernels::KeepPolicy::kLowest ? key : ~key;
    }
    case kernels::KeepPolicy::kRandom:
      return counter_random(spec.seed, at, kFirstIndex + i);
    default:
      return centroid_score(spec.grid, positions.scale, sums, p, at);
  }
}

/// What `reduce_cells` gives; the members of output i, for centroids, are the points of its cell.
struct Reduced {
  kernels::SelectCounts counts;
  std::uint64_t cells = 0;
  std::vector<std::uint32_t> kept;
  std::vector<std::byte> centroids;
  std::vector<std::vector<std::uint32_t>> members;
};

/// Thins over an ordered map, each cell by itself.
inline Reduced reduce_slowly(const Cloud& cloud, const PredicateProgram& program, const kernels::ReduceSpec& spec) {
  const Positions positions = cloud.positions(cloud.records.data());
  const Oracle chosen = select_slowly(cloud, program);
  std::map<Cell, std::size_t> number_of;  // in the order of first points
  std::vector<Cell> cells;
  Reduced out;
  out.counts = chosen.counts;
  for (const std::uint32_t i : chosen.kept) {
    const Cell cell = cell_at(spec.grid, positions, i);
    const auto [found, added] = number_of.try_emplace(cell, cells.size());
    if (added) {
      cells.push_back(cell);
      out.members.emplace_back();
    }
    out.members[found->second].push_back(i);
  }
  out.cells = cells.size();
  const auto put = [&](const auto& record) {
    const std::size_t at = out.centroids.size();
    out.centroids.resize(at + sizeof record);
    std::memcpy(out.centroids.data() + at, &record, sizeof record);
  };
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const std::vector<std::uint32_t>& points = out.members[c];
    const std::int64_t at[3] = {std::get<0>(cells[c]), std::get<1>(cells[c]), std::get<2>(cells[c])};
    CentroidSums sums;
    for (const std::uint32_t i : points) add_point(sums, spec.grid, load_position(positions, i), at);
    std::vector<std::pair<std::uint64_t, std::uint32_t>> ranked;
    ranked.reserve(points.size());
    for (const std::uint32_t i : points) ranked.emplace_back(score_of(spec, positions, i, cells[c], sums), i);
    std::sort(ranked.begin(), ranked.end());
    ranked.resize(std::min<std::size_t>(spec.max_per_cell, ranked.size()));
    for (const auto& [score, i] : ranked) out.kept.push_back(i);
    if (spec.policy != kernels::KeepPolicy::kCentroid) continue;
    if (cloud.frame.kind == CoordinateKind::kLattice) {
      put(lattice_centroid(sums));
    } else {
      put(world_centroid(spec.grid, sums, at, load_position(positions, points.front())));
    }
  }
  if (spec.policy != kernels::KeepPolicy::kCentroid) std::sort(out.kept.begin(), out.kept.end());
  return out;
}

}  // namespace sluice::test
