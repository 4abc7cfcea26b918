// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/parallel/operations.hpp"

#include <algorithm>

#include "kernels/cpu/arguments.hpp"
#include "kernels/cpu/host_backend.hpp"
#include "kernels/cpu/parallel/blocks.hpp"
#include "kernels/cpu/parallel/cell_order.hpp"
#include "kernels/cpu/parallel/compact.hpp"
#include "kernels/cpu/parallel/judge.hpp"
#include "kernels/cpu/parallel/primitives.hpp"
#include "kernels/cpu/parallel/stencil.hpp"
#include "kernels/cpu/score.hpp"

namespace sluice::kernels {

namespace {

const ParallelPredicate& mine(const PreparedPredicate& predicate) {
  const auto* out = dynamic_cast<const ParallelPredicate*>(&predicate);
  if (out == nullptr) throw InvalidArgument("the predicate was prepared by another backend");
  return *out;
}

/// Counts of verdicts, and where what they choose goes.
struct SelectPlace {
  std::uint32_t kept = 0;
  std::uint32_t rejected = 0;
};

SelectPlace count_verdicts(const std::uint8_t* verdicts, std::uint64_t count, std::uint64_t& nonfinite) {
  const std::uint64_t kept = count_chosen(EqualTo(1), verdicts, 0, count);
  const std::uint64_t odd = count_chosen(EqualTo(2), verdicts, 0, count);
  nonfinite += odd;
  return {static_cast<std::uint32_t>(kept), static_cast<std::uint32_t>(count - kept - odd)};
}

/// Writes what the verdicts of the points from `first` on choose.
void emit(const PointInput& input, const SelectOutputs& outputs, const std::uint8_t* verdicts, std::uint64_t first,
          std::uint64_t count, SelectPlace counts, SelectPlace at) {
  const auto index = [=](std::uint64_t i) { return static_cast<std::uint32_t>(first + i); };
  if (outputs.kept != nullptr) {
    emit_chosen(EqualTo(1), verdicts, 0, count, counts.kept, outputs.kept + at.kept, index);
  }
  if (outputs.rejected != nullptr) {
    emit_chosen(EqualTo(0), verdicts, 0, count, counts.rejected, outputs.rejected + at.rejected, index);
  }
  if (outputs.records == nullptr) return;
  const auto emit_records = [&]<typename Record>(const Record* records) {
    emit_chosen(EqualTo(1), verdicts, 0, count, counts.kept, static_cast<Record*>(outputs.records) + at.kept,
                [=](std::uint64_t i) { return records[first + i]; });
  };
  if (input.positions.kind == CoordinateKind::kFloat64) {
    emit_records(reinterpret_cast<const Record32*>(input.positions.x));
  } else {
    emit_records(reinterpret_cast<const Record16*>(input.positions.x));
  }
}

/// Everything at once, tile by tile, on the calling thread.
SelectCounts select_in_order(const Judge& judge, const SelectOutputs& outputs) {
  const PointInput& input = judge.input();
  SelectCounts counts;
  TilePositions tile;
  std::uint8_t verdicts_of_tile[kTile];
  for (std::uint64_t first = 0; first < input.count; first += kTile) {
    const std::uint64_t count = std::min(kTile, input.count - first);
    std::uint8_t* verdicts = outputs.verdicts != nullptr ? outputs.verdicts + first : verdicts_of_tile;
    judge.tile(first, count, false, tile, verdicts);
    const SelectPlace found = count_verdicts(verdicts, count, counts.nonfinite);
    emit(input, outputs, verdicts, first, count, found,
         {static_cast<std::uint32_t>(counts.kept), static_cast<std::uint32_t>(counts.rejected)});
    counts.kept += found.kept;
    counts.rejected += found.rejected;
  }
  return counts;
}

struct SelectBlock {
  SelectPlace counts;
  SelectPlace at;
  std::uint64_t nonfinite;
};

/// Verdicts and counts of every block, then places, then outputs.
SelectCounts select_in_blocks(const Judge& judge, const SelectOutputs& outputs, Workspace& workspace) {
  const PointInput& input = judge.input();
  const WorkspaceScope scope(workspace);
  const std::uint64_t blocks = blocks_of(input.count);
  auto* verdicts = outputs.verdicts != nullptr ? outputs.verdicts : workspace.take<std::uint8_t>(input.count);
  auto* found = workspace.take<SelectBlock>(blocks);
  for_blocks(input.count, kBlock, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    judge.range(begin, end, verdicts);
    found[block].nonfinite = 0;
    found[block].counts = count_verdicts(verdicts + begin, end - begin, found[block].nonfinite);
  });
  SelectCounts counts;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    found[block].at = {static_cast<std::uint32_t>(counts.kept), static_cast<std::uint32_t>(counts.rejected)};
    counts.kept += found[block].counts.kept;
    counts.rejected += found[block].counts.rejected;
    counts.nonfinite += found[block].nonfinite;
  }
  for_blocks(input.count, kBlock, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    emit(input, outputs, verdicts + begin, begin, end - begin, found[block].counts, found[block].at);
  });
  return counts;
}

/// The points of the cells of one call, and how to go through them.
struct CellPoints {
  const PointInput& input;
  const ReduceSpec& spec;
  const std::uint32_t* permutation;
  const std::uint32_t* cell_first;
  std::uint64_t cells;
  std::uint64_t kept;

  /// Asks for a point that will be read soon: the points of a cell lie anywhere.
  void prefetch(std::uint64_t place) const {
    constexpr std::uint64_t kAhead = 32;
    if (place + kAhead >= kept) return;
    const std::uint64_t at = permutation[place + kAhead] * input.positions.stride;
    __builtin_prefetch(input.positions.x + at);
    __builtin_prefetch(input.positions.z + at);
  }

  /// Calls f(c, cell, sums) for every cell, from many threads; `sums` are set for the policies that need them, and
  /// `cell` where the arithmetic does.
  template <typename F>
  void for_cells(const F& f) const {
    constexpr std::uint64_t kCells = 512;
    const bool lattice = input.positions.kind == CoordinateKind::kLattice;
    const bool needs_sums = spec.policy == KeepPolicy::kCentroid || spec.policy == KeepPolicy::kNearestCentroid;
    const bool needs_cell = !lattice || spec.policy == KeepPolicy::kRandom;
    for_each(blocks_of(cells, kCells), kept, [&](std::uint64_t block) {
      const std::uint64_t end = std::min(cells, (block + 1) * kCells);
      for (std::uint64_t c = block * kCells; c < end; ++c) {
        std::int64_t cell[3] = {0, 0, 0};
        if (needs_cell) cell_of(spec.grid, load_position(input.positions, permutation[cell_first[c]]), cell);
        CentroidSums sums;
        if (needs_sums) {
          for (std::uint64_t place = cell_first[c]; place < cell_first[c + 1]; ++place) {
            prefetch(place);
            add_point(sums, spec.grid, load_position(input.positions, permutation[place]), cell);
          }
        }
        f(c, cell, sums);
      }
    });
  }

  [[nodiscard]] std::uint64_t score(std::uint32_t point, const std::int64_t cell[3], const CentroidSums& sums) const {
    return point_score(spec, input.positions, load_position(input.positions, point), cell, sums,
                       input.first_index + point);
  }

  /// The point of a cell with the lowest score; of equal ones the first.
  [[nodiscard]] std::uint32_t best(std::uint64_t c, const std::int64_t cell[3], const CentroidSums& sums) const {
    const std::uint64_t begin = cell_first[c];
    const std::uint64_t end = cell_first[c + 1];
    std::uint32_t winner = permutation[begin];
    if (end - begin == 1) return winner;
    std::uint64_t lowest = score(winner, cell, sums);
    for (std::uint64_t place = begin + 1; place < end; ++place) {
      if (sums.count == 0) prefetch(place);
      const std::uint64_t one = score(permutation[place], cell, sums);
      if (one < lowest) {
        lowest = one;
        winner = permutation[place];
      }
    }
    return winner;
  }
};

/// A point and its score, which order as the choice of points does.
struct Candidate {
  std::uint64_t score;
  std::uint32_t point;
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score < b.score : a.point < b.point;
  }
};

/// Sets the flag of every point that stays.
void flag_points(const CellPoints& points, Candidate* candidates, std::uint8_t* flags) {
  const ReduceSpec& spec = points.spec;
  points.for_cells([&](std::uint64_t c, const std::int64_t cell[3], const CentroidSums& sums) {
    const std::uint64_t begin = points.cell_first[c];
    const std::uint64_t end = points.cell_first[c + 1];
    const std::uint64_t stay = std::min<std::uint64_t>(end - begin, spec.max_per_cell);
    if (spec.policy == KeepPolicy::kFirst || stay == end - begin) {
      for (std::uint64_t place = begin; place < begin + stay; ++place) flags[points.permutation[place]] = 1;
    } else if (stay == 1) {
      flags[points.best(c, cell, sums)] = 1;
    } else {
      for (std::uint64_t place = begin; place < end; ++place) {
        const std::uint32_t point = points.permutation[place];
        candidates[place] = {points.score(point, cell, sums), point};
      }
      std::nth_element(candidates + begin, candidates + begin + stay, candidates + end);
      for (std::uint64_t place = begin; place < begin + stay; ++place) flags[candidates[place].point] = 1;
    }
  });
}

void clear(std::uint8_t* flags, std::uint64_t count) {
  for_blocks(count, kBlock, [=](std::uint64_t /*block*/, std::uint64_t begin, std::uint64_t end) {
    std::fill(flags + begin, flags + end, std::uint8_t{0});
  });
}

/// Writes centroids and their nearest points, in the order of the first points of the cells.
/// \param cell_of_output  receives the cell of every output
void make_centroids(const CellPoints& points, const ReduceOutputs& outputs, std::uint32_t* cell_of_output,
                    Workspace& workspace) {
  const std::uint64_t count = points.input.count;
  auto* flags = workspace.take<std::uint8_t>(count);
  auto* cell_at = workspace.take<std::uint32_t>(count);
  auto* output_of = workspace.take<std::uint32_t>(points.cells);
  clear(flags, count);
  for_blocks(points.cells, kBlock, [&](std::uint64_t /*block*/, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t c = begin; c < end; ++c) {
      const std::uint32_t first_point = points.permutation[points.cell_first[c]];
      flags[first_point] = 1;
      cell_at[first_point] = static_cast<std::uint32_t>(c);
    }
  });
  compact_chosen(
      NonZero{}, flags, count, cell_of_output, [=](std::uint64_t i) { return cell_at[i]; }, workspace);
  for_blocks(points.cells, kBlock, [&](std::uint64_t /*block*/, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) output_of[cell_of_output[i]] = static_cast<std::uint32_t>(i);
  });
  const Positions& positions = points.input.positions;
  points.for_cells([&](std::uint64_t c, const std::int64_t cell[3], const CentroidSums& sums) {
    const std::uint32_t i = output_of[c];
    outputs.kept[i] = points.best(c, cell, sums);
    if (outputs.centroids == nullptr) return;
    if (positions.kind == CoordinateKind::kLattice) {
      static_cast<Record16*>(outputs.centroids)[i] = lattice_centroid(sums);
    } else {
      static_cast<Record32*>(outputs.centroids)[i] =
          world_centroid(points.spec.grid, sums, cell, load_position(positions, outputs.kept[i]));
    }
  });
}

}  // namespace

std::shared_ptr<const PreparedPredicate> ParallelOperations::prepare(const PredicateProgram& program) {
  return std::make_shared<ParallelPredicate>(program);
}

void ParallelOperations::select(const PreparedPredicate& predicate, const PointInput& input,
                                const SelectOutputs& outputs, Workspace& workspace, StreamView /*stream*/) {
  const Judge judge(mine(predicate), input);
  check_outputs(input, outputs);
  const SelectCounts counts =
      input.count <= kSerialCount ? select_in_order(judge, outputs) : select_in_blocks(judge, outputs, workspace);
  if (outputs.counts != nullptr) *outputs.counts = counts;
}

std::size_t ParallelOperations::select_scratch(std::uint64_t count) const {
  if (count <= kSerialCount) return 0;
  return Workspace::bytes_for<std::uint8_t>(count) + Workspace::bytes_for<SelectBlock>(blocks_of(count));
}

BinResult ParallelOperations::bin(const PreparedPredicate& predicate, const BinSpec& spec, const PointInput& input,
                                  const BinOutputs& outputs, Workspace& workspace, StreamView /*stream*/) {
  const Judge judge(mine(predicate), input);
  const CellOrdering cells = order_by_cell(judge, spec.grid, spec.order, outputs.permutation, outputs.cell_keys,
                                           outputs.cell_first, workspace);
  return BinResult{cells.counts, cells.cells, cells.layout};
}

std::size_t ParallelOperations::bin_scratch(const BinSpec& /*spec*/, std::uint64_t count) const {
  return order_by_cell_scratch(count);
}

ReduceResult ParallelOperations::reduce_cells(const PreparedPredicate& predicate, const ReduceSpec& spec,
                                              const PointInput& input, const ReduceOutputs& outputs,
                                              Workspace& workspace, StreamView /*stream*/) {
  const Judge judge(mine(predicate), input);
  check_reduce(spec);
  const WorkspaceScope scope(workspace);
  const bool centroid = spec.policy == KeepPolicy::kCentroid;
  const auto output_or_scratch = [&](std::uint32_t* output, std::uint64_t count) {
    return centroid && output != nullptr ? output : workspace.take<std::uint32_t>(count);
  };
  auto* permutation = output_or_scratch(outputs.permutation, input.count);
  auto* cell_first = output_or_scratch(outputs.cell_first, input.count + 1);
  const CellOrdering ordering =
      order_by_cell(judge, spec.grid, CellOrder::kRowMajor, permutation, nullptr, cell_first, workspace);
  cell_first[ordering.cells] = static_cast<std::uint32_t>(ordering.counts.kept);
  ReduceResult result{ordering.counts, ordering.cells, 0, ordering.layout};
  if (ordering.cells == 0) return result;

  const CellPoints points{input, spec, permutation, cell_first, ordering.cells, ordering.counts.kept};
  if (centroid) {
    make_centroids(points, outputs, output_or_scratch(outputs.cell, input.count), workspace);
    result.kept = ordering.cells;
    return result;
  }
  auto* flags = workspace.take<std::uint8_t>(input.count);
  Candidate* candidates = spec.max_per_cell > 1 ? workspace.take<Candidate>(ordering.counts.kept) : nullptr;
  clear(flags, input.count);
  flag_points(points, candidates, flags);
  const auto index = [](std::uint64_t i) { return static_cast<std::uint32_t>(i); };
  result.kept = compact_chosen(NonZero{}, flags, input.count, outputs.kept, index, workspace);
  return result;
}

std::size_t ParallelOperations::reduce_cells_scratch(const ReduceSpec& spec, std::uint64_t count) const {
  const std::size_t one = Workspace::bytes_for<std::uint32_t>(count);
  std::size_t reduction = Workspace::bytes_for<std::uint8_t>(count) + compact_chosen_scratch(count);
  if (spec.policy == KeepPolicy::kCentroid) {
    reduction += 3 * one;
  } else if (spec.max_per_cell > 1) {
    reduction += Workspace::bytes_for<Candidate>(count);
  }
  return one + Workspace::bytes_for<std::uint32_t>(count + 1) + std::max(order_by_cell_scratch(count), reduction);
}

std::unique_ptr<Backend> make_cpu_backend() {
  return std::make_unique<HostBackend>("cpu", std::make_unique<ParallelPrimitives>(),
                                       std::make_unique<ParallelOperations>());
}

}  // namespace sluice::kernels
