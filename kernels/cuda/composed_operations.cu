// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <type_traits>
#include <vector>

#include "kernels/cuda/bodies/cells.hpp"
#include "kernels/cuda/bodies/points.hpp"
#include "kernels/cuda/composed_operations.hpp"
#include "kernels/cuda/detail/arguments.hpp"
#include "kernels/cuda/detail/device_predicate.hpp"
#include "kernels/cuda/detail/scratch_size.hpp"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::cuda {

namespace {

using bodies::CellPoints;
using bodies::JudgeStatus;
using bodies::SumColumns;

/// Fills in what all kernels that judge points need.
template <bool kCells>
bodies::JudgePoints<kCells> judge_kernel(const DevicePredicate& predicate, const PointInput& input,
                                         std::uint8_t* verdicts, SelectCounts* counts) {
  bodies::JudgePoints<kCells> kernel{};
  kernel.program = predicate.view();
  std::copy_n(input.columns, predicate.columns(), kernel.table.columns);
  kernel.positions = input.positions;
  kernel.count = input.count;
  kernel.first_index = input.first_index;
  kernel.verdicts = verdicts;
  kernel.counts = counts;
  return kernel;
}

std::uint32_t record_bytes(CoordinateKind kind) {
  return kind == CoordinateKind::kFloat64 ? sizeof(Record32) : sizeof(Record16);
}

constexpr auto kKept = static_cast<std::uint8_t>(Verdict::kKept);
constexpr auto kRejected = static_cast<std::uint8_t>(Verdict::kRejected);

struct SelectScratch {
  std::uint8_t* verdicts;
  std::uint32_t* kept;
  std::uint64_t* count;

  template <typename SourceT>
  static SelectScratch take(SourceT& source, std::uint64_t count) {
    SelectScratch out{};
    out.verdicts = source.template take<std::uint8_t>(count);
    out.kept = source.template take<std::uint32_t>(count);
    out.count = source.template take<std::uint64_t>(1);
    return out;
  }
};

struct OrderScratch {
  std::uint8_t* verdicts;  // later flags
  JudgeStatus* status;
  std::uint64_t* count;
  std::uint64_t* keys[2];  // of 4 or 8 bytes
  std::uint32_t* values[2];

  template <typename SourceT>
  static OrderScratch take(SourceT& source, std::uint64_t count) {
    OrderScratch out{};
    out.verdicts = source.template take<std::uint8_t>(count);
    out.status = source.template take<JudgeStatus>(1);
    out.count = source.template take<std::uint64_t>(1);
    for (int i = 0; i < 2; ++i) {
      out.keys[i] = source.template take<std::uint64_t>(count);
      out.values[i] = source.template take<std::uint32_t>(count);
    }
    return out;
  }
};

std::size_t ordering_primitives_scratch(const DevicePrimitives& primitives, std::uint64_t count) {
  return std::max({primitives.compact_scratch(count), primitives.sort_scratch(4, count),
                   primitives.sort_scratch(8, count), primitives.find_runs_scratch(count)});
}

}  // namespace

/// The kept points in the order of their cells.
struct ComposedOperations::Ordering {
  OrderScratch scratch{};
  SelectCounts counts;
  std::uint64_t outside = 0;
  KeyLayout layout;
  std::uint32_t key_bytes = 8;
  void* keys = nullptr;  ///< sorted
  std::uint32_t* permutation = nullptr;
  void* spare_keys = nullptr;  ///< the other buffers, room for count 64-bit keys
  std::uint32_t* spare_values = nullptr;
};

/// What `reduce_cells` works with once points are in cell order.
struct ComposedOperations::Reduction {
  CellPoints points{};
  SumColumns sums;
  std::uint32_t* ranks = nullptr;
  std::uint32_t* chosen = nullptr;               ///< place in cell order of each cell's best point; room for count
  std::uint64_t* words[2] = {nullptr, nullptr};  ///< free
  std::uint32_t* spare = nullptr;                ///< free
  std::uint8_t* flags = nullptr;                 ///< zero

  /// Lays out what the ordering does not have already.
  template <typename SourceT>
  static Reduction take(SourceT& source, const ReduceSpec& spec, std::uint64_t count, std::uint32_t*& cell_first) {
    Reduction out;
    cell_first = source.template take<std::uint32_t>(count + 1);
    out.ranks = source.template take<std::uint32_t>(count);
    out.chosen = source.template take<std::uint32_t>(count);
    if (needs_sums(spec.policy)) {
      out.sums.stride = count;
      out.sums.words = source.template take<std::uint64_t>(count * SumColumns::parts(spec.grid.kind));
    }
    return out;
  }
  static bool needs_sums(KeepPolicy policy) {
    return policy == KeepPolicy::kCentroid || policy == KeepPolicy::kNearestCentroid;
  }
};

std::shared_ptr<const PreparedPredicate> ComposedOperations::prepare(const PredicateProgram& program) {
  const ScopedDevice current(device_);
  return std::make_shared<DevicePredicate>(program, memory_, stream_.view());
}

void ComposedOperations::select(const PreparedPredicate& predicate, const PointInput& input,
                                const SelectOutputs& outputs, Workspace& workspace, StreamView stream) {
  check_arguments(predicate, input);
  check_records(input, outputs.records);
  check_outputs(input, outputs);
  const ScopedDevice current(device_);
  const WorkspaceScope scope(workspace);
  const SelectScratch scratch = SelectScratch::take(workspace, input.count);
  std::uint8_t* verdicts = outputs.verdicts != nullptr ? outputs.verdicts : scratch.verdicts;
  const auto kernel = judge_kernel<false>(device_predicate(predicate), input, verdicts, outputs.counts);
  if (outputs.counts != nullptr) fill(outputs.counts, 0, sizeof(SelectCounts), stream);
  simt::launch(kernel, simt::blocks_for(input.count, bodies::kJudgeTile), stream);
  const bool some_coordinates = std::any_of(std::begin(outputs.coordinates), std::end(outputs.coordinates),
                                            [](const void* column) { return column != nullptr; });
  if (outputs.kept != nullptr || some_coordinates) {
    std::uint32_t* kept = outputs.kept != nullptr ? outputs.kept : scratch.kept;
    primitives_.indices_where(verdicts, FlagTest::equals(kKept), input.count, kept, scratch.count, workspace, stream);
    if (some_coordinates) {
      bodies::TakeCoordinates kernel{input.positions, kept, scratch.count, {}};
      std::copy_n(outputs.coordinates, 3, kernel.out);
      simt::launch(kernel, simt::blocks_for(input.count, bodies::TakeCoordinates::kThreads), stream);
    }
  }
  if (outputs.rejected != nullptr) {
    primitives_.indices_where(verdicts, FlagTest::equals(kRejected), input.count, outputs.rejected, scratch.count,
                              workspace, stream);
  }
  if (outputs.mask != nullptr) {
    simt::launch(bodies::PackFlags{verdicts, input.count, FlagTest::equals(kKept), outputs.mask},
                 simt::blocks_for(input.count, bodies::PackFlags::kThreads), stream);
  }
  if (outputs.records != nullptr) {
    primitives_.compact_where(input.positions.x, record_bytes(input.positions.kind), verdicts, FlagTest::equals(kKept),
                              input.count, outputs.records, scratch.count, workspace, stream);
  }
}

std::size_t ComposedOperations::select_scratch(std::uint64_t count) const {
  const ScopedDevice current(device_);
  ScratchSize size;
  SelectScratch::take(size, count);
  return size.bytes() + primitives_.compact_scratch(count);
}

void ComposedOperations::order_by_cell(const PreparedPredicate& predicate, const BinSpec& spec, const PointInput& input,
                                       Ordering& out, Workspace& workspace, StreamView stream) {
  const CellGrid& grid = spec.grid;
  const OrderScratch& scratch = out.scratch;
  const std::uint64_t judge_blocks = simt::blocks_for(input.count, bodies::kJudgeTile);
  if (spec.range.has_value()) out.layout = make_key_layout(spec.order, grid.use_z, spec.range->min, spec.range->max);
  simt::launch(bodies::ClearStatus{scratch.status}, 1, stream);
  if (spec.range.has_value()) {
    simt::launch(judge_kernel<false>(device_predicate(predicate), input, scratch.verdicts, &scratch.status->counts),
                 judge_blocks, stream);
    simt::launch(bodies::MarkOutside{input.positions, grid, *spec.range, input.count, scratch.verdicts, scratch.status},
                 simt::blocks_for(input.count, bodies::MarkOutside::kThreads), stream);
  } else {
    auto judge = judge_kernel<true>(device_predicate(predicate), input, scratch.verdicts, &scratch.status->counts);
    judge.grid = grid;
    judge.status = scratch.status;
    simt::launch(judge, judge_blocks, stream);
  }
  const JudgeStatus status = read_back(scratch.status, stream);
  if (status.failed != 0) refuse_cell();
  out.counts = status.counts;
  out.outside = status.outside;
  out.permutation = scratch.values[0];
  out.spare_values = scratch.values[1];
  out.keys = scratch.keys[0];
  out.spare_keys = scratch.keys[1];
  const std::uint64_t kept = status.counts.kept;
  if (kept == 0) return;

  if (!spec.range.has_value()) {
    const CellRange occupied = bodies::occupied_range(status);
    out.layout = make_key_layout(spec.order, grid.use_z, occupied.min, occupied.max);
  }
  out.key_bytes = out.layout.key_bits <= 32 ? 4 : 8;
  primitives_.indices_where(scratch.verdicts, FlagTest::equals(kKept), input.count, scratch.values[0], scratch.count,
                            workspace, stream);
  const auto make_keys = [&]<typename KeyT>(KeyT) {
    using Kernel = bodies::MakeKeys<KeyT>;
    simt::launch(
        Kernel{input.positions, grid, out.layout, scratch.values[0], kept, reinterpret_cast<KeyT*>(scratch.keys[0])},
        simt::blocks_for(kept, Kernel::kThreads), stream);
  };
  if (out.key_bytes == 4) {
    make_keys(std::uint32_t{});
  } else {
    make_keys(std::uint64_t{});
  }
  const SortBuffers buffers{{scratch.keys[0], scratch.keys[1]}, {scratch.values[0], scratch.values[1]}};
  const int sorted = primitives_.sort(buffers, out.key_bytes, kept, 0, out.layout.key_bits, workspace, stream);
  out.keys = scratch.keys[sorted];
  out.permutation = scratch.values[sorted];
  out.spare_keys = scratch.keys[1 - sorted];
  out.spare_values = scratch.values[1 - sorted];
}

/// What `bin` and `enqueue_bin` share.
BinCounts ComposedOperations::bin_points(const PreparedPredicate& predicate, const BinSpec& spec,
                                         const PointInput& input, const BinOutputs& outputs, KeyLayout& layout,
                                         Workspace& workspace, StreamView stream) {
  const WorkspaceScope scope(workspace);
  Ordering ordering;
  ordering.scratch = OrderScratch::take(workspace, input.count);
  order_by_cell(predicate, spec, input, ordering, workspace, stream);
  layout = ordering.layout;
  const std::uint64_t kept = ordering.counts.kept;
  BinCounts result{ordering.counts, 0, ordering.outside};
  if (kept == 0) return result;
  if (outputs.permutation != nullptr) {
    copy(outputs.permutation, ordering.permutation, kept * sizeof(std::uint32_t), stream);
  }
  if (outputs.records != nullptr) {
    primitives_.gather(input.positions.x, record_bytes(input.positions.kind), ordering.permutation, kept,
                       outputs.records, stream);
  }
  // What the caller does not want lands in buffers that the sort has left.
  auto* cell_keys = outputs.cell_keys != nullptr ? outputs.cell_keys : static_cast<std::uint64_t*>(ordering.spare_keys);
  auto* cell_first = outputs.cell_first != nullptr ? outputs.cell_first : ordering.spare_values;
  primitives_.find_runs(ordering.keys, ordering.key_bytes, kept, cell_keys, cell_first, ordering.scratch.count,
                        workspace, stream);
  result.cells = read_back(ordering.scratch.count, stream);
  return result;
}

BinResult ComposedOperations::bin(const PreparedPredicate& predicate, const BinSpec& spec, const PointInput& input,
                                  const BinOutputs& outputs, Workspace& workspace, StreamView stream) {
  check_arguments(predicate, input);
  check_bin(input, spec, outputs);
  check_aligned(outputs.records, 16, "records");
  const ScopedDevice current(device_);
  KeyLayout layout;
  const BinCounts counts = bin_points(predicate, spec, input, outputs, layout, workspace, stream);
  return bin_result(counts, layout);
}

void ComposedOperations::enqueue_bin(const PreparedPredicate& predicate, const BinSpec& spec, const PointInput& input,
                                     const BinOutputs& outputs, BinCounts* counts, Workspace& workspace,
                                     StreamView stream) {
  check_arguments(predicate, input);
  check_enqueue_bin(input, spec, outputs, counts);
  check_aligned(outputs.records, 16, "records");
  const ScopedDevice current(device_);
  KeyLayout layout;
  const BinCounts found = bin_points(predicate, spec, input, outputs, layout, workspace, stream);
  SLUICE_CUDA_CHECK(cudaMemcpyAsync(counts, &found, sizeof found, cudaMemcpyHostToDevice, handle_of(stream)));
  SLUICE_CUDA_CHECK(cudaStreamSynchronize(handle_of(stream)));
}

std::size_t ComposedOperations::bin_scratch(const BinSpec& /*spec*/, std::uint64_t count) const {
  const ScopedDevice current(device_);
  ScratchSize size;
  OrderScratch::take(size, count);
  return size.bytes() + ordering_primitives_scratch(primitives_, count);
}

/// Finds the best point of every cell.
void ComposedOperations::choose(const ReduceSpec& spec, const Reduction& reduction, StreamView stream) {
  const CellPoints& points = reduction.points;
  const std::uint64_t tiles = simt::blocks_for(points.n, bodies::kWalkTile);
  std::uint64_t* scores = reduction.words[0];
  std::uint64_t* best = reduction.words[1];
  fill(best, 0xff, points.cells * sizeof *best, stream);
  fill(reduction.chosen, 0xff, points.cells * sizeof *reduction.chosen, stream);
  simt::launch(bodies::ScorePoints{points, spec, reduction.sums, scores, best}, tiles, stream);
  simt::launch(bodies::ChooseBest{points, scores, best, reduction.chosen}, tiles, stream);
}

/// Flags the best few points of every cell: sorts by score, then stably by cell.
void ComposedOperations::flag_few(const ReduceSpec& spec, const Reduction& reduction, Workspace& workspace,
                                  StreamView stream) {
  const CellPoints& points = reduction.points;
  const std::uint64_t blocks = simt::blocks_for(points.n, bodies::FlagFirstFew::kThreads);
  const std::uint32_t* places = nullptr;
  const std::uint32_t* ranks = reduction.ranks;
  if (spec.policy != KeepPolicy::kFirst) {
    simt::launch(bodies::ScorePoints{points, spec, reduction.sums, reduction.words[0], nullptr},
                 simt::blocks_for(points.n, bodies::kWalkTile), stream);
    std::uint32_t* values[2] = {reduction.spare, reduction.chosen};
    simt::launch(bodies::CountUp{values[0], points.n}, simt::blocks_for(points.n, bodies::CountUp::kThreads), stream);
    const SortBuffers by_score{{reduction.words[0], reduction.words[1]}, {values[0], values[1]}};
    const int scored = primitives_.sort(by_score, 8, points.n, 0, 64, workspace, stream);
    primitives_.gather(reduction.ranks, 4, values[scored], points.n, reduction.words[0], stream);
    const SortBuffers by_cell{{reduction.words[0], reduction.words[1]}, {values[scored], values[1 - scored]}};
    const auto bits = static_cast<unsigned>(std::bit_width(points.cells - 1));
    const int sorted = primitives_.sort(by_cell, 4, points.n, 0, bits, workspace, stream);
    places = by_cell.values[sorted];
    ranks = static_cast<const std::uint32_t*>(by_cell.keys[sorted]);
  }
  simt::launch(bodies::FlagFirstFew{points.permutation, places, ranks, points.cell_first, points.n, spec.max_per_cell,
                                    reduction.flags},
               blocks, stream);
}

/// Writes centroids in the order of the first points of their cells.
void ComposedOperations::write_centroids(const Reduction& reduction, std::uint64_t input_count,
                                         const ReduceOutputs& outputs, Workspace& workspace, StreamView stream) {
  const CellPoints& points = reduction.points;
  const std::uint64_t cells = points.cells;
  // Scores and ranks have done their work: their memory sorts cells by first point.
  primitives_.gather(points.permutation, 4, points.cell_first, cells, reduction.words[0], stream);
  simt::launch(bodies::CountUp{reduction.spare, cells}, simt::blocks_for(cells, bodies::CountUp::kThreads), stream);
  const SortBuffers buffers{{reduction.words[0], reduction.words[1]}, {reduction.spare, reduction.ranks}};
  const auto bits = static_cast<unsigned>(std::bit_width(input_count - 1));
  const int sorted = primitives_.sort(buffers, 4, cells, 0, bits, workspace, stream);
  const std::uint32_t* order = buffers.values[sorted];

  const bool lattice = points.grid.kind == CoordinateKind::kLattice;
  simt::launch(bodies::WriteCentroids{points, reduction.sums, reduction.chosen, order, outputs.kept,
                                      lattice ? static_cast<Record16*>(outputs.centroids) : nullptr,
                                      lattice ? nullptr : static_cast<Record32*>(outputs.centroids)},
               simt::blocks_for(cells, bodies::WriteCentroids::kThreads), stream);
  if (outputs.permutation != nullptr) {
    copy(outputs.permutation, points.permutation, points.n * sizeof(std::uint32_t), stream);
  }
  if (outputs.cell_first != nullptr) {
    copy(outputs.cell_first, points.cell_first, cells * sizeof(std::uint32_t), stream);
  }
  if (outputs.cell != nullptr) copy(outputs.cell, order, cells * sizeof(std::uint32_t), stream);
}

ReduceResult ComposedOperations::reduce_cells(const PreparedPredicate& predicate, const ReduceSpec& spec,
                                              const PointInput& input, const ReduceOutputs& outputs,
                                              Workspace& workspace, StreamView stream) {
  check_reduce(spec);
  check_arguments(predicate, input);
  check_aligned(outputs.centroids, 16, "centroids");
  const ScopedDevice current(device_);
  const WorkspaceScope scope(workspace);
  Ordering ordering;
  ordering.scratch = OrderScratch::take(workspace, input.count);
  std::uint32_t* cell_first = nullptr;
  Reduction reduction = Reduction::take(workspace, spec, input.count, cell_first);
  order_by_cell(predicate, BinSpec{spec.grid}, input, ordering, workspace, stream);
  const std::uint64_t kept = ordering.counts.kept;
  std::uint64_t* count = ordering.scratch.count;
  ReduceResult result;
  result.counts = ordering.counts;
  result.layout = ordering.layout;
  const bool centroids = spec.policy == KeepPolicy::kCentroid;
  if (kept != 0) {
    primitives_.find_runs(ordering.keys, ordering.key_bytes, kept, static_cast<std::uint64_t*>(ordering.spare_keys),
                          cell_first, count, workspace, stream);
    result.cells = read_back(count, stream);
  }
  if (centroids && outputs.cell_first != nullptr) {
    const auto end = static_cast<std::uint32_t>(kept);
    SLUICE_CUDA_CHECK(cudaMemcpyAsync(outputs.cell_first + result.cells, &end, sizeof end, cudaMemcpyHostToDevice,
                                      handle_of(stream)));
    SLUICE_CUDA_CHECK(cudaStreamSynchronize(handle_of(stream)));
  }
  if (kept == 0) return result;

  CellPoints& points = reduction.points;
  points.positions = input.positions;
  points.grid = spec.grid;
  points.first_index = input.first_index;
  points.permutation = ordering.permutation;
  points.ranks = reduction.ranks;
  points.n = kept;
  points.cell_first = cell_first;
  points.cells = result.cells;
  const std::uint64_t tiles = simt::blocks_for(kept, bodies::kWalkTile);
  if (ordering.key_bytes == 4) {
    simt::launch(bodies::RankPositions<std::uint32_t>{static_cast<const std::uint32_t*>(ordering.keys), kept,
                                                      cell_first, result.cells, reduction.ranks},
                 tiles, stream);
  } else {
    simt::launch(bodies::RankPositions<std::uint64_t>{static_cast<const std::uint64_t*>(ordering.keys), kept,
                                                      cell_first, result.cells, reduction.ranks},
                 tiles, stream);
  }
  // From here on keys are not needed.
  reduction.words[0] = ordering.scratch.keys[0];
  reduction.words[1] = ordering.scratch.keys[1];
  reduction.spare = ordering.spare_values;
  reduction.flags = ordering.scratch.verdicts;
  if (Reduction::needs_sums(spec.policy)) {
    const unsigned parts = SumColumns::parts(spec.grid.kind);
    reduction.sums.stride = result.cells;
    fill(reduction.sums.words, 0, result.cells * parts * sizeof(std::uint64_t), stream);
    if (parts == 3) {
      simt::launch(bodies::SumCells<3>{points, reduction.sums}, tiles, stream);
    } else {
      simt::launch(bodies::SumCells<6>{points, reduction.sums}, tiles, stream);
    }
  }
  if (centroids) {
    choose(spec, reduction, stream);
    write_centroids(reduction, input.count, outputs, workspace, stream);
    SLUICE_CUDA_CHECK(cudaStreamSynchronize(handle_of(stream)));
    result.kept = result.cells;
    return result;
  }
  fill(reduction.flags, 0, input.count, stream);
  if (spec.max_per_cell > 1) {
    flag_few(spec, reduction, workspace, stream);
  } else {
    const bool first = spec.policy == KeepPolicy::kFirst;
    if (!first) choose(spec, reduction, stream);
    simt::launch(
        bodies::FlagChosen{points.permutation, first ? cell_first : reduction.chosen, result.cells, reduction.flags},
        simt::blocks_for(result.cells, bodies::FlagChosen::kThreads), stream);
  }
  primitives_.indices_where(reduction.flags, FlagTest::not_zero(), input.count, outputs.kept, count, workspace, stream);
  result.kept = read_back(count, stream);
  return result;
}

std::size_t ComposedOperations::reduce_cells_scratch(const ReduceSpec& spec, std::uint64_t count) const {
  const ScopedDevice current(device_);
  ScratchSize size;
  OrderScratch::take(size, count);
  std::uint32_t* cell_first = nullptr;
  static_cast<void>(Reduction::take(size, spec, count, cell_first));
  return size.bytes() + ordering_primitives_scratch(primitives_, count);
}

}  // namespace sluice::kernels::cuda
