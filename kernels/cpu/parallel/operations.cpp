// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/parallel/operations.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "kernels/arguments.hpp"
#include "kernels/cpu/host_backend.hpp"
#include "kernels/cpu/parallel/blocks.hpp"
#include "kernels/cpu/parallel/cell_means.hpp"
#include "kernels/cpu/parallel/cell_order.hpp"
#include "kernels/cpu/parallel/compact.hpp"
#include "kernels/cpu/parallel/judge.hpp"
#include "kernels/cpu/parallel/primitives.hpp"
#include "kernels/cpu/parallel/stencil.hpp"
#include "kernels/score.hpp"

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
  // Points come in whole words: those of a tile or a block, but for the last ones of the input.
  if (outputs.mask != nullptr) pack_chosen(EqualTo(1), verdicts, count, outputs.mask + first / 32);
  const Positions& positions = input.positions;
  const auto emit_points = [&]<typename Record, typename Coordinate>(const Record* records, Coordinate) {
    const auto emit_kept = [&]<typename T>(T* out, const auto& value) {
      if (out != nullptr) emit_chosen(EqualTo(1), verdicts, 0, count, counts.kept, out + at.kept, value);
    };
    emit_kept(static_cast<Record*>(outputs.records), [=](std::uint64_t i) { return records[first + i]; });
    const std::byte* const columns[3] = {positions.x, positions.y, positions.z};
    for (int d = 0; d < 3; ++d) {
      const std::byte* column = columns[d] + first * positions.stride;
      emit_kept(static_cast<Coordinate*>(outputs.coordinates[d]), [=, stride = positions.stride](std::uint64_t i) {
        return load_unaligned<Coordinate>(column + i * stride);
      });
    }
  };
  // Coordinates move as words, which keeps the bits of any NaN.
  if (positions.kind == CoordinateKind::kFloat64) {
    emit_points(reinterpret_cast<const Record32*>(positions.x), std::uint64_t{});
  } else {
    emit_points(reinterpret_cast<const Record16*>(positions.x), std::uint32_t{});
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

/// What `bin` and `enqueue_bin` share.
CellOrdering bin_points(const Judge& judge, const BinSpec& spec, const BinOutputs& outputs, Workspace& workspace,
                        StreamView stream) {
  const PointInput& input = judge.input();
  const WorkspaceScope scope(workspace);
  auto* permutation = outputs.permutation != nullptr ? outputs.permutation : workspace.take<std::uint32_t>(input.count);
  const CellOrdering cells = order_by_cell(judge, spec, permutation, outputs.cell_keys, outputs.cell_first, workspace);
  if (outputs.records != nullptr) {
    ParallelPrimitives().gather(input.positions.x, static_cast<std::uint32_t>(input.positions.stride), permutation,
                                cells.counts.kept, outputs.records, stream);
  }
  return cells;
}

/// Copies positions into packed records, by point: the points of a cell lie anywhere, and one line of memory that is
/// mapped in huge pages is much sooner there than a whole record of a file.
template <typename Record, typename T>
Positions pack(const Positions& positions, std::uint64_t count, Workspace& workspace) {
  auto* records = workspace.take<Record>(count);
  for_blocks(count, kBlock, [&](std::uint64_t /*block*/, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t at = i * positions.stride;
      records[i].x = load_unaligned<T>(positions.x + at);
      records[i].y = load_unaligned<T>(positions.y + at);
      records[i].z = load_unaligned<T>(positions.z + at);
    }
  });
  Positions out = positions;
  out.x = reinterpret_cast<const std::byte*>(records);
  out.y = out.x + sizeof(T);
  out.z = out.y + sizeof(T);
  out.stride = sizeof(Record);
  return out;
}

Positions packed(const Positions& positions, std::uint64_t count, Workspace& workspace) {
  if (positions.is_packed()) return positions;
  return positions.kind == CoordinateKind::kFloat64 ? pack<Record32, double>(positions, count, workspace)
                                                    : pack<Record16, std::int32_t>(positions, count, workspace);
}

std::size_t packed_scratch(CoordinateKind kind, std::uint64_t count) {
  return kind == CoordinateKind::kFloat64 ? Workspace::bytes_for<Record32>(count)
                                          : Workspace::bytes_for<Record16>(count);
}

/// How many points ahead of its use a position is asked for.
constexpr std::uint64_t kAhead = 24;

/// A point and its score, which order as the choice of points does.
struct Candidate {
  std::uint64_t score;
  std::uint32_t point;
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score < b.score : a.point < b.point;
  }
};

/// The points of the cells of one call.
struct CellPoints {
  const ReduceSpec& spec;
  Positions positions;
  std::uint64_t first_index;
  const std::uint32_t* permutation;
  const std::uint32_t* cell_first;
  std::uint64_t cells;
  std::uint64_t kept;

  [[nodiscard]] Position position(std::uint64_t place) const { return load_position(positions, permutation[place]); }
  void prefetch_position(std::uint64_t place) const {
    if (place < kept) __builtin_prefetch(positions.x + permutation[place] * positions.stride);
  }
};

/// One cell: its points, and what their scores depend on.
class CellScores {
 public:
  CellScores(const CellPoints& points, std::uint64_t c)
      : points_(points), begin_(points.cell_first[c]), end_(points.cell_first[c + 1]) {
    // On a lattice only the random scores depend on the cell.
    const KeepPolicy policy = points.spec.policy;
    if (points.positions.kind != CoordinateKind::kLattice || policy == KeepPolicy::kRandom) {
      cell_of(points.spec.grid, points.position(begin_), cell_);
    }
    if (policy == KeepPolicy::kCentroid || policy == KeepPolicy::kNearestCentroid) {
      for (std::uint64_t place = begin_; place < end_; ++place) {
        if (place + kAhead < end_) points.prefetch_position(place + kAhead);
        add_point(sums_, points.spec.grid, points.position(place), cell_);
      }
    }
  }

  [[nodiscard]] const std::int64_t* cell() const { return cell_; }
  [[nodiscard]] const CentroidSums& sums() const { return sums_; }
  [[nodiscard]] Candidate candidate(std::uint64_t place) const {
    const std::uint32_t point = points_.permutation[place];
    return {point_score(points_.spec, points_.positions, points_.position(place), cell_, sums_,
                        points_.first_index + point),
            point};
  }
  /// The point with the lowest score; of equal ones the first.
  [[nodiscard]] std::uint32_t best() const {
    if (end_ - begin_ == 1) return points_.permutation[begin_];
    Candidate winner = candidate(begin_);
    for (std::uint64_t place = begin_ + 1; place < end_; ++place) {
      const Candidate one = candidate(place);
      if (one.score < winner.score) winner = one;
    }
    return winner.point;
  }

 private:
  const CellPoints& points_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::int64_t cell_[3] = {0, 0, 0};
  CentroidSums sums_;
};

/// Cells of one task.
constexpr std::uint64_t kCells = 1024;

/// Sets the flag of every point that stays.
void flag_points(const CellPoints& points, Candidate* candidates, std::uint8_t* flags) {
  const ReduceSpec& spec = points.spec;
  const bool scored = spec.policy != KeepPolicy::kFirst;
  for_each(blocks_of(points.cells, kCells), points.kept, [&](std::uint64_t block) {
    const std::uint64_t last = std::min(points.cells, (block + 1) * kCells);
    for (std::uint64_t c = block * kCells; c < last; ++c) {
      const std::uint64_t begin = points.cell_first[c];
      const std::uint64_t end = points.cell_first[c + 1];
      if (scored) {
        for (std::uint64_t place = begin; place < end; ++place) points.prefetch_position(place + kAhead);
      }
      const std::uint64_t stay = std::min<std::uint64_t>(end - begin, spec.max_per_cell);
      if (!scored || stay == end - begin) {
        for (std::uint64_t place = begin; place < begin + stay; ++place) flags[points.permutation[place]] = 1;
        continue;
      }
      const CellScores scores(points, c);
      if (stay == 1) {
        flags[scores.best()] = 1;
        continue;
      }
      for (std::uint64_t place = begin; place < end; ++place) candidates[place] = scores.candidate(place);
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

/// Numbers of the cells in the order of their first points.
void order_cells(const CellPoints& points, std::uint64_t count, std::uint32_t* cells, Workspace& workspace) {
  const WorkspaceScope scope(workspace);
  auto* flags = workspace.take<std::uint8_t>(count);
  auto* cell_at = workspace.take<std::uint32_t>(count);
  clear(flags, count);
  for_blocks(points.cells, kBlock, [&](std::uint64_t /*block*/, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t c = begin; c < end; ++c) {
      const std::uint32_t first_point = points.permutation[points.cell_first[c]];
      flags[first_point] = 1;
      cell_at[first_point] = static_cast<std::uint32_t>(c);
    }
  });
  compact_chosen(
      NonZero{}, flags, count, cells, [=](std::uint64_t i) { return cell_at[i]; }, workspace);
}

/// Means of cells and the points nearest to them: small cells in batches, large ones in parts; where numbers are too
/// large for doubles, point by point.
/// \tparam Take  take(i, sums, cell, nearest) is called once for every cell
template <typename Take>
class MeanFinder {
 public:
  MeanFinder(const CellPoints& points, const Take& take)
      : points_(points), take_(take), lattice_(points.positions.kind == CoordinateKind::kLattice) {
    for (int d = 0; d < (points.spec.grid.use_z ? 3 : 2); ++d) {
      unit_[d] = lattice_ ? std::fabs(points.positions.scale[d]) : points.spec.grid.axis[d].size;
    }
  }

  /// Adds cell `c`, which `take` is to know as `i`.
  void add(std::uint64_t i, std::uint64_t c) {
    const std::uint64_t begin = points_.cell_first[c];
    const std::uint64_t count = points_.cell_first[c + 1] - begin;
    if (count > kMeanPoints) {
      flush();
      if (!find_large(i, begin, count)) find_exactly(i, c);
      return;
    }
    if (batch_.points + count > kMeanPoints) flush();
    places_[batch_.cells] = {i, c};
    std::memcpy(rows_ + batch_.points, points_.permutation + begin, count * sizeof *rows_);
    batch_.points += count;
    batch_.end[batch_.cells++] = static_cast<std::uint32_t>(batch_.points);
  }

  /// Finds the means of what was added so far.
  void flush() {
    const bool fits = load(rows_, batch_.points, most_steps(kMeanPoints));
    if (fits) find_nearest(unit_, batch_);
    std::uint32_t begin = 0;
    for (std::uint64_t k = 0; k < batch_.cells; ++k) {
      const std::uint32_t end = batch_.end[k];
      if (fits) {
        const double sum[3] = {batch_.sum[0][k], batch_.sum[1][k], batch_.sum[2][k]};
        give(places_[k].output, end - begin, sum, begin, rows_[batch_.nearest[k]]);
      } else {
        find_exactly(places_[k].output, places_[k].number);
      }
      begin = end;
    }
    batch_.points = 0;
    batch_.cells = 0;
  }

 private:
  struct Place {
    std::uint64_t output;
    std::uint64_t number;
  };

  /// Loads points into the batch. \return false where a number is too large
  bool load(const std::uint32_t* rows, std::uint64_t count, double most) {
    batch_.points = count;
    if (points_.positions.kind == CoordinateKind::kFloat64) {
      load_records<Record32>(rows);
    } else {
      load_records<Record16>(rows);
    }
    if (!lattice_) return take_steps(points_.spec.grid, most, batch_);
    take_numbers(batch_);
    return most >= 0x1p31;
  }

  /// Brings the positions together, and then apart by axis.
  template <typename Record>
  void load_records(const std::uint32_t* rows) {
    Record records[kMeanPoints];
    const std::byte* from = points_.positions.x;  // anywhere in memory, and nothing need follow the last z
    for (std::uint64_t k = 0; k < batch_.points; ++k) {
      if (k + kAhead < batch_.points) __builtin_prefetch(from + rows[k + kAhead] * sizeof(Record));
      std::memcpy(&records[k], from + rows[k] * sizeof(Record), offsetof(Record, w));
    }
    Positions packed = points_.positions;
    packed.x = reinterpret_cast<const std::byte*>(records);
    packed.y = packed.x + (points_.positions.y - points_.positions.x);
    packed.z = packed.x + (points_.positions.z - points_.positions.x);
    batch_.tile.load(packed, std::uint64_t{0}, batch_.points);
  }

  /// A cell of more points than a batch has: once over them for the sums, once for the nearest.
  bool find_large(std::uint64_t i, std::uint64_t begin, std::uint64_t count) {
    const std::uint32_t* rows = points_.permutation + begin;
    const double most = most_steps(count);
    double sum[3] = {0.0, 0.0, 0.0};
    bool fits = true;
    for (std::uint64_t first = 0; fits && first < count; first += kMeanPoints) {
      fits = load(rows + first, std::min(kMeanPoints, count - first), most);
      if (fits) add_steps(batch_, sum);
    }
    double least = std::numeric_limits<double>::infinity();
    std::uint32_t row = rows[0];
    for (std::uint64_t first = 0; fits && first < count; first += kMeanPoints) {
      load(rows + first, std::min(kMeanPoints, count - first), most);
      const NearestPoint one = nearest_point(unit_, static_cast<double>(count), sum, batch_);
      if (one.distance < least) {
        least = one.distance;
        row = rows[first + one.at];
      }
    }
    if (fits) give(i, count, sum, 0, row);
    batch_.points = 0;
    return fits;
  }

  /// \param at  a point of the cell in the batch
  void give(std::uint64_t i, std::uint64_t count, const double sum[3], std::uint64_t at, std::uint32_t nearest) const {
    CentroidSums sums;
    std::int64_t cell[3] = {0, 0, 0};
    for (int d = 0; d < 3; ++d) {
      sums.sum[d] = static_cast<std::int64_t>(sum[d]);
      if (!lattice_) cell[d] = static_cast<std::int64_t>(batch_.cell[d][at]);
    }
    sums.count = count;
    take_(i, sums, cell, nearest);
  }

  void find_exactly(std::uint64_t i, std::uint64_t c) const {
    const CellScores scores(points_, c);
    take_(i, scores.sums(), scores.cell(), scores.best());
  }

  const CellPoints& points_;
  const Take& take_;
  bool lattice_;
  double unit_[3] = {0.0, 0.0, 0.0};
  MeanBatch batch_;
  std::uint32_t rows_[kMeanPoints];
  Place places_[kMeanPoints];
};

/// Calls take(i, sums, cell, nearest) for every cell, from many threads.
/// \param cells  cells in the order of i; null: that of their numbers
template <typename Take>
void find_means(const CellPoints& points, const std::uint32_t* cells, const Take& take) {
  const auto cell_at = [=](std::uint64_t i) { return cells != nullptr ? cells[i] : i; };
  for_each(blocks_of(points.cells, kCells), points.kept, [&](std::uint64_t block) {
    const std::uint64_t last = std::min(points.cells, (block + 1) * kCells);
    MeanFinder finder(points, take);
    for (std::uint64_t i = block * kCells; i < last; ++i) {
      // Where a cell starts and its points lie anywhere: each is asked for in time for the next.
      if (i + 32 < last) __builtin_prefetch(points.cell_first + cell_at(i + 32));
      if (i + 16 < last) __builtin_prefetch(points.permutation + points.cell_first[cell_at(i + 16)]);
      finder.add(i, cell_at(i));
    }
    finder.flush();
  });
}

/// Writes centroids and the points nearest to them.
/// \param cells  the cell of every output
void write_centroids(const CellPoints& points, const std::uint32_t* cells, const ReduceOutputs& outputs) {
  find_means(points, cells,
             [&](std::uint64_t i, const CentroidSums& sums, const std::int64_t cell[3], std::uint32_t nearest) {
               if (outputs.kept != nullptr) outputs.kept[i] = nearest;
               if (outputs.centroids == nullptr) return;
               if (points.positions.kind == CoordinateKind::kLattice) {
                 static_cast<Record16*>(outputs.centroids)[i] = lattice_centroid(sums);
                 return;
               }
               // The point itself is only needed where it is the only one.
               const Position only = sums.count == 1 ? load_position(points.positions, nearest) : Position{};
               static_cast<Record32*>(outputs.centroids)[i] = world_centroid(points.spec.grid, sums, cell, only);
             });
}

}  // namespace

std::shared_ptr<const PreparedPredicate> ParallelOperations::prepare(const PredicateProgram& program) {
  return std::make_shared<ParallelPredicate>(program);
}

void ParallelOperations::select(const PreparedPredicate& predicate, const PointInput& input,
                                const SelectOutputs& outputs, Workspace& workspace, StreamView /*stream*/) {
  const Judge judge(mine(predicate), input);
  check_records(input, outputs.records);
  const SelectCounts counts =
      input.count <= kSerialCount ? select_in_order(judge, outputs) : select_in_blocks(judge, outputs, workspace);
  if (outputs.counts != nullptr) *outputs.counts = counts;
}

std::size_t ParallelOperations::select_scratch(std::uint64_t count) const {
  if (count <= kSerialCount) return 0;
  return Workspace::bytes_for<std::uint8_t>(count) + Workspace::bytes_for<SelectBlock>(blocks_of(count));
}

BinResult ParallelOperations::bin(const PreparedPredicate& predicate, const BinSpec& spec, const PointInput& input,
                                  const BinOutputs& outputs, Workspace& workspace, StreamView stream) {
  const Judge judge(mine(predicate), input);
  check_bin(input, spec, outputs);
  const CellOrdering cells = bin_points(judge, spec, outputs, workspace, stream);
  return bin_result({cells.counts, cells.cells, cells.outside}, cells.layout);
}

std::size_t ParallelOperations::bin_scratch(const BinSpec& /*spec*/, std::uint64_t count) const {
  return order_by_cell_scratch(count) + Workspace::bytes_for<std::uint32_t>(count);
}

void ParallelOperations::enqueue_bin(const PreparedPredicate& predicate, const BinSpec& spec, const PointInput& input,
                                     const BinOutputs& outputs, BinCounts* counts, Workspace& workspace,
                                     StreamView stream) {
  const Judge judge(mine(predicate), input);
  check_enqueue_bin(input, spec, outputs, counts);
  const CellOrdering cells = bin_points(judge, spec, outputs, workspace, stream);
  *counts = BinCounts{cells.counts, cells.cells, cells.outside};
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
  const CellOrdering ordering = order_by_cell(judge, BinSpec{spec.grid}, permutation, nullptr, cell_first, workspace);
  cell_first[ordering.cells] = static_cast<std::uint32_t>(ordering.counts.kept);
  ReduceResult result{ordering.counts, ordering.cells, 0, ordering.layout};
  if (ordering.cells == 0) return result;

  CellPoints points{spec,       input.positions, input.first_index,   permutation,
                    cell_first, ordering.cells,  ordering.counts.kept};
  if (centroid) {
    auto* cells = output_or_scratch(outputs.cell, input.count);
    order_cells(points, input.count, cells, workspace);
    points.positions = packed(input.positions, input.count, workspace);
    write_centroids(points, cells, outputs);
    result.kept = ordering.cells;
    return result;
  }
  auto* flags = workspace.take<std::uint8_t>(input.count);
  clear(flags, input.count);
  if (spec.policy != KeepPolicy::kFirst) points.positions = packed(input.positions, input.count, workspace);
  Candidate* candidates = spec.max_per_cell > 1 ? workspace.take<Candidate>(ordering.counts.kept) : nullptr;
  if (spec.policy == KeepPolicy::kNearestCentroid && spec.max_per_cell == 1) {
    find_means(points, nullptr,
               [=](std::uint64_t /*i*/, const CentroidSums& /*sums*/, const std::int64_t* /*cell*/,
                   std::uint32_t nearest) { flags[nearest] = 1; });
  } else {
    flag_points(points, candidates, flags);
  }
  const auto index = [](std::uint64_t i) { return static_cast<std::uint32_t>(i); };
  result.kept = compact_chosen(NonZero{}, flags, input.count, outputs.kept, index, workspace);
  return result;
}

std::size_t ParallelOperations::reduce_cells_scratch(const ReduceSpec& spec, std::uint64_t count) const {
  const std::size_t one = Workspace::bytes_for<std::uint32_t>(count);
  const std::size_t flags = Workspace::bytes_for<std::uint8_t>(count) + compact_chosen_scratch(count);
  const std::size_t positions = spec.policy == KeepPolicy::kFirst ? 0 : packed_scratch(spec.grid.kind, count);
  std::size_t reduction = flags + positions + (spec.max_per_cell > 1 ? Workspace::bytes_for<Candidate>(count) : 0);
  if (spec.policy == KeepPolicy::kCentroid) reduction = one + std::max(flags + one, positions);
  return one + Workspace::bytes_for<std::uint32_t>(count + 1) + std::max(order_by_cell_scratch(count), reduction);
}

std::unique_ptr<Backend> make_cpu_backend() {
  return std::make_unique<HostBackend>("cpu", std::make_unique<ParallelPrimitives>(),
                                       std::make_unique<ParallelOperations>());
}

}  // namespace sluice::kernels
