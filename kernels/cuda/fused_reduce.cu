// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <optional>

#include "kernels/cuda/binning.hpp"
#include "kernels/cuda/bodies/cell_runs.hpp"
#include "kernels/cuda/bodies/fast_cells.hpp"
#include "kernels/cuda/detail/arguments.hpp"
#include "kernels/cuda/detail/device.hpp"
#include "kernels/cuda/detail/limits.hpp"
#include "kernels/cuda/detail/scratch_size.hpp"
#include "kernels/cuda/fused_operations.hpp"
#include "kernels/cuda/judging.cuh"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::cuda {

namespace {

/// Most points of a cell that one warp sums up; a fuller one would keep all others waiting.
constexpr std::uint32_t kMostPerCell = std::uint32_t{1} << 16;

/// Results of a first part, which the host reads.
struct Found {
  BinCounts counts;
  std::uint32_t longest;
};

/// The cells that a box of lattice numbers reaches.
std::optional<CellRange> cells_of_box(const CellGrid& grid, const bodies::LatticeBoxJudge& box) {
  CellRange out{};
  const auto cell_at = [&](const std::int32_t(&raw)[3], std::int64_t(&cell)[3]) {
    Position position{};
    std::copy_n(raw, 3, position.raw);
    return cell_of(grid, position, cell);
  };
  if (box.low[0] > box.high[0] || !cell_at(box.low, out.min) || !cell_at(box.high, out.max)) return std::nullopt;
  double cells = 1.0;
  for (int d = 0; d < 3; ++d) {
    if (out.min[d] > out.max[d]) return std::nullopt;
    cells *= static_cast<double>(out.max[d] - out.min[d]) + 1.0;
  }
  // Beyond 32 bits keys are not cheap, and the occupied range may well be smaller.
  return cells <= 4294967296.0 ? std::optional(out) : std::nullopt;
}

struct FirstScratch {
  Record16* points;
  std::uint32_t* cell_first;
  Found* found;

  template <typename SourceT>
  static FirstScratch take(SourceT& source, std::uint64_t count) {
    FirstScratch out{};
    out.points = source.template take<Record16>(count);
    out.cell_first = source.template take<std::uint32_t>(count);
    out.found = source.template take<Found>(1);
    return out;
  }
};

struct SecondScratch {
  bodies::CellResults results;
  std::uint32_t* spare[2];

  template <typename SourceT>
  static SecondScratch take(SourceT& source, std::uint64_t count) {
    SecondScratch out{};
    out.results.leaders = source.template take<std::uint32_t>(count);
    out.results.ranks = source.template take<std::uint32_t>(count);
    out.results.nearest = source.template take<std::uint32_t>(count);
    out.results.centroids = source.template take<Record16>(count);
    for (std::uint32_t*& spare : out.spare) spare = source.template take<std::uint32_t>(count);
    return out;
  }
};

template <unsigned kLanes>
void reduce_runs(const bodies::CellRuns& runs, const CellGrid& grid, const Positions& positions,
                 const bodies::CellResults& results, StreamView stream) {
  using Kernel = bodies::ReduceRuns<kLanes>;
  Kernel kernel{runs, grid, {}, results};
  std::copy_n(positions.scale, 3, kernel.scale);
  simt::launch(kernel, simt::blocks_for(runs.cells, Kernel::kCells), stream);
}

}  // namespace

ReduceResult FusedOperations::reduce_cells(const PreparedPredicate& predicate, const ReduceSpec& spec,
                                           const PointInput& input, const ReduceOutputs& outputs, Workspace& workspace,
                                           StreamView stream) {
  check_reduce(spec);
  check_arguments(predicate, input);
  const ScopedDevice current(device());
  if (spec.policy == KeepPolicy::kCentroid && input.count != 0) {
    const auto result = lattice_centroids(device_predicate(predicate), spec.grid, input, outputs, workspace, stream);
    if (result) return *result;
  }
  return ComposedOperations::reduce_cells(predicate, spec, input, outputs, workspace, stream);
}

std::optional<ReduceResult> FusedOperations::lattice_centroids(const DevicePredicate& predicate, const CellGrid& grid,
                                                               const PointInput& input, const ReduceOutputs& outputs,
                                                               Workspace& workspace, StreamView stream) {
  if (grid.kind != CoordinateKind::kLattice) return std::nullopt;
  // Keys may be laid out for any range that holds the points, so a box spares the look for the occupied one.
  std::optional<CellRange> range;
  if (const auto box = lattice_box(predicate, input)) range = cells_of_box(grid, *box);
  if (!range) {
    const JudgedCells judged = judge_cells(predicate, grid, input, workspace, stream);
    if (judged.counts.kept == 0) return std::nullopt;
    range = judged.occupied;
  }
  const KeyLayout layout = make_key_layout(CellOrder::kRowMajor, grid.use_z, range->min, range->max);
  if (!bodies::fast_cells(grid, layout)) return std::nullopt;

  const DeviceLimits limits = DeviceLimits::of(device());
  const WorkspaceScope scope(workspace);
  const FirstScratch first = FirstScratch::take(workspace, input.count);
  fill(first.found, 0, sizeof(Found), stream);
  enqueue_numbered_points(predicate, grid, layout, input, {first.points, first.cell_first}, &first.found->counts,
                          limits, workspace, stream);
  simt::launch(bodies::FindLongestRun{first.points, first.cell_first, &first.found->counts, &first.found->longest},
               std::min<std::uint64_t>(simt::blocks_for(input.count, bodies::FindLongestRun::kThreads),
                                       limits.multiprocessors * 8),
               stream);
  const Found found = read_back(first.found, stream);
  if (found.longest > kMostPerCell) return std::nullopt;

  ReduceResult result;
  result.counts = found.counts.counts;
  result.cells = result.kept = found.counts.cells;
  result.layout = layout;
  const std::uint64_t kept = result.counts.kept;
  if (outputs.cell_first != nullptr) {
    copy(outputs.cell_first, first.cell_first, result.cells * sizeof(std::uint32_t), stream);
    // The count of kept points is a 64-bit number, whose lower half comes first.
    copy(outputs.cell_first + result.cells, &first.found->counts.counts.kept, sizeof(std::uint32_t), stream);
  }
  if (kept != 0) {
    const bodies::CellRuns runs{first.points, first.cell_first, result.cells, kept};
    const SecondScratch second = SecondScratch::take(workspace, input.count);
    if (kept / result.cells < 16) {
      reduce_runs<4>(runs, grid, input.positions, second.results, stream);
    } else {
      reduce_runs<32>(runs, grid, input.positions, second.results, stream);
    }
    const SortBuffers by_leader{{second.results.leaders, second.spare[0]}, {second.results.ranks, second.spare[1]}};
    const auto bits = static_cast<unsigned>(std::bit_width(input.count - 1));
    const int sorted = primitives().sort(by_leader, 4, result.cells, 0, bits, workspace, stream);
    simt::launch(bodies::WriteCells{second.results, by_leader.values[sorted], result.cells, outputs.kept,
                                    static_cast<Record16*>(outputs.centroids), outputs.cell},
                 simt::blocks_for(result.cells, bodies::WriteCells::kThreads), stream);
    if (outputs.permutation != nullptr) {
      simt::launch(bodies::TakeNumbers{first.points, kept, outputs.permutation},
                   simt::blocks_for(kept, bodies::TakeNumbers::kThreads), stream);
    }
  }
  SLUICE_CUDA_CHECK(cudaStreamSynchronize(handle_of(stream)));
  return result;
}

std::size_t FusedOperations::reduce_cells_scratch(const ReduceSpec& spec, std::uint64_t count) const {
  const std::size_t composed = ComposedOperations::reduce_cells_scratch(spec, count);
  if (spec.policy != KeepPolicy::kCentroid || spec.grid.kind != CoordinateKind::kLattice) return composed;
  const ScopedDevice current(device());
  ScratchSize first;
  FirstScratch::take(first, count);
  ScratchSize second;
  SecondScratch::take(second, count);
  return std::max({composed, judge_cells_scratch(count),
                   first.bytes() + std::max(numbered_points_scratch(DeviceLimits::of(device()), count),
                                            second.bytes() + primitives().sort_scratch(4, count))});
}

}  // namespace sluice::kernels::cuda
