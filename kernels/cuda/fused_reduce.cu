// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "kernels/cuda/binning.hpp"
#include "kernels/cuda/bodies/bits.hpp"
#include "kernels/cuda/bodies/cell_runs.hpp"
#include "kernels/cuda/bodies/fast_cells.hpp"
#include "kernels/cuda/bodies/reduce_cells.hpp"
#include "kernels/cuda/dense_thin.hpp"
#include "kernels/cuda/detail/arguments.hpp"
#include "kernels/cuda/detail/device.hpp"
#include "kernels/cuda/detail/limits.hpp"
#include "kernels/cuda/detail/scratch_size.hpp"
#include "kernels/cuda/fused_operations.hpp"
#include "kernels/cuda/judging.cuh"
#include "kernels/cuda/look_back.cuh"
#include "kernels/cuda/radix.cuh"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::cuda {

namespace {

/// What the host reads in the end.
struct Found {
  BinCounts counts;
  std::uint64_t marked;  ///< points that stay; for centroids as many first points of cells
};

/// The cells that a box holds: on each axis cells rise with coordinates, so those of its corners bound the others.
std::optional<CellRange> cells_between(const CellGrid& grid, const Position& low, const Position& high) {
  CellRange out{};
  if (!cell_of(grid, low, out.min) || !cell_of(grid, high, out.max)) return std::nullopt;
  double cells = 1.0;
  for (int d = 0; d < 3; ++d) {
    if (out.min[d] > out.max[d]) return std::nullopt;
    cells *= static_cast<double>(out.max[d] - out.min[d]) + 1.0;
  }
  // Beyond 32 bits keys are not cheap, and the occupied range may well be smaller.
  return cells <= 4294967296.0 ? std::optional(out) : std::nullopt;
}

/// The cells that the predicate keeps points of, where it is a box.
std::optional<CellRange> cells_of_box(const DevicePredicate& predicate, const CellGrid& grid, const PointInput& input) {
  Position low{};
  Position high{};
  if (const auto box = lattice_box(predicate, input)) {
    if (box->low[0] > box->high[0]) return std::nullopt;
    std::copy_n(box->low, 3, low.raw);
    std::copy_n(box->high, 3, high.raw);
    return cells_between(grid, low, high);
  }
  if (!predicate.box() || predicate.box()->code != PredicateOp::Code::kWorldBox ||
      grid.kind == CoordinateKind::kLattice) {
    return std::nullopt;
  }
  std::copy_n(predicate.box()->reals, 3, low.world);
  std::copy_n(predicate.box()->reals + 3, 3, high.world);
  return cells_between(grid, low, high);
}

/// Marks of points, one bit each.
std::uint64_t mask_words(std::uint64_t count) { return simt::blocks_for(count, 32); }
std::uint64_t mask_tiles(std::uint64_t count) { return simt::blocks_for(mask_words(count), bodies::ListMarked::kTile); }

/// Memory that all ways need; all but `before` is zero before anything else.
struct ReduceHead {
  Found* found;
  std::uint32_t* piece_count;
  std::uint64_t* states;
  std::uint32_t* mask;
  std::uint32_t* before;

  template <typename SourceT>
  static ReduceHead take(SourceT& source, std::uint64_t count) {
    ReduceHead out{};
    out.found = source.template take<Found>(1);
    out.piece_count = source.template take<std::uint32_t>(1);
    out.states = source.template take<std::uint64_t>(state_words(mask_tiles(count)));
    out.mask = source.template take<std::uint32_t>(mask_words(count));
    out.before = source.template take<std::uint32_t>(mask_words(count));
    return out;
  }
  static std::size_t zeroed(std::uint64_t count) {
    return Workspace::bytes_for<Found>(1) + Workspace::bytes_for<std::uint32_t>(1) +
           Workspace::bytes_for<std::uint64_t>(state_words(mask_tiles(count))) +
           Workspace::bytes_for<std::uint32_t>(mask_words(count));
  }
};

/// Memory for points in cell order.
struct OrderScratch {
  bodies::CellPieces pieces;
  Record16* order;  ///< the points, or their numbers
  std::uint32_t* cell_first;

  template <typename SourceT>
  static OrderScratch take(SourceT& source, const ReduceSpec& spec, std::uint64_t count) {
    OrderScratch out{};
    const std::uint64_t pieces = bodies::CellPieces::room(count);
    out.pieces.list = source.template take<bodies::Piece>(pieces);
    out.pieces.cells = source.template take<bodies::FullCell>(pieces);
    const std::uint64_t chosen = std::min(spec.max_per_cell, bodies::kMostChosen);
    out.pieces.bests = source.template take<bodies::PieceBest>(pieces * chosen);
    constexpr std::uint64_t kNumbers = sizeof(Record16) / sizeof(std::uint32_t);
    const bool lattice = spec.grid.kind == CoordinateKind::kLattice;
    out.order = source.template take<Record16>(lattice ? count : simt::blocks_for(count, kNumbers));
    out.cell_first = source.template take<std::uint32_t>(count + 1);
    return out;
  }
};

/// Groups of 2^bits cells side by side in x, as cells of a grid and a layout of their own.
struct Groups {
  CellGrid grid;
  KeyLayout layout;

  Groups(const CellGrid& of, const KeyLayout& cells, unsigned bits) : grid(of) {
    // Numbers count from the lowest cell, so that groups are those of equal upper bits.
    CellGrid::Axis& x = grid.axis[0];
    x.b -= (static_cast<int128>(cells.min[0]) - x.base) * x.s;
    x.base = 0;
    x.s <<= bits;
    std::int64_t min[3] = {0, cells.min[1], cells.min[2]};
    std::int64_t max[3] = {static_cast<std::int64_t>((cells.extent[0] - 1) >> bits), 0, 0};
    for (int d = 1; d < 3; ++d) max[d] = cells.min[d] + static_cast<std::int64_t>(cells.extent[d] - 1);
    layout = make_key_layout(CellOrder::kRowMajor, cells.use_z, min, max);
  }
};

/// One reduction of cells in a given layout; waits for its result only.
class CellReducer {
 public:
  CellReducer(const DevicePredicate& predicate, const ReduceSpec& spec, const KeyLayout& layout,
              const PointInput& input, const ReduceOutputs& outputs, const DeviceLimits& limits, StreamView stream)
      : predicate_(predicate),
        spec_(spec),
        layout_(layout),
        input_(input),
        outputs_(outputs),
        limits_(limits),
        stream_(stream) {}

  ReduceResult run(Workspace& workspace) {
    head_ = ReduceHead::take(workspace, input_.count);
    fill(head_.found, 0, ReduceHead::zeroed(input_.count), stream_);
    if (is_dense()) {
      enqueue_dense_thin(predicate_, spec_, layout_, input_, DenseTables::take(workspace, input_.count), head_.mask,
                         &head_.found->counts.counts, limits_, stream_);
    } else if (const unsigned bits = group_bits(); bits != 0) {
      reduce_groups(bits, workspace);
    } else {
      reduce_in_order(workspace);
    }
    if (!centroids()) list_marked(nullptr, outputs_.kept);
    const Found found = read_back(head_.found, stream_);
    ReduceResult result;
    result.counts = found.counts.counts;
    result.counts.nonfinite = input_.count - result.counts.kept - result.counts.rejected;
    result.cells = spec_.max_per_cell == 1 ? found.marked : found.counts.cells;
    result.kept = found.marked;
    result.layout = layout_;
    return result;
  }

 private:
  [[nodiscard]] bool is_dense() const {
    // Columns take the other way: they would double the kernels.
    return takes_single_points(spec_) && !input_.positions.is_columns() && layout_.key_bits <= 32 &&
           layout_.extent[0] * layout_.extent[1] * layout_.extent[2] <= most_dense_cells(input_.count);
  }

  /// How many bits of the key to leave out of the sort, so that it has a pass less; 0: none.
  [[nodiscard]] unsigned group_bits() const {
    if (!takes_means() || spec_.max_per_cell != 1 || outputs_.permutation != nullptr ||
        outputs_.cell_first != nullptr || outputs_.cell != nullptr || !bodies::fast_cells(spec_.grid, layout_)) {
      return 0;
    }
    const PassChoice choice(limits_, input_.count);
    const auto passes_for = [&](unsigned key_bits) {  // one at least
      return choice.plan<bodies::PointItems<bodies::PassTable::kNone>>(0, std::max(key_bits, 1U)).passes;
    };
    const unsigned passes = passes_for(layout_.key_bits);
    for (unsigned bits = 1; bits <= bodies::kMostGroupBits; ++bits) {
      const Groups groups(spec_.grid, layout_, bits);
      if (passes_for(groups.layout.key_bits) < passes && bodies::fast_cells(groups.grid, groups.layout)) {
        return bits;
      }
    }
    return 0;
  }

  void take_order(Workspace& workspace) {
    scratch_ = OrderScratch::take(workspace, spec_, input_.count);
    scratch_.pieces.count = head_.piece_count;
  }

  void reduce_groups(unsigned bits, Workspace& workspace) {
    take_order(workspace);
    const Groups groups(spec_.grid, layout_, bits);
    BinOutputs binned;
    binned.cell_first = scratch_.cell_first;
    binned.records = scratch_.order;
    enqueue_binning(predicate_, BinSpec{groups.grid}, groups.layout, input_, binned, true, &head_.found->counts,
                    limits_, workspace, stream_);
    const bodies::CarriedPoints<true> points{scratch_.order, bodies::fast_cells(spec_.grid, layout_)->axis[0], bits};
    launch(bodies::MarkGroupedCells{points, runs(), scratch_.pieces, centroids() ? head_.mask : nullptr}, input_.count);
    reduce_to_means(points);
  }

  void reduce_in_order(Workspace& workspace) {
    take_order(workspace);
    if (centroids() && outputs_.cell_first != nullptr) scratch_.cell_first = outputs_.cell_first;
    // Points are carried along where their keys are cheap to compute anew, else their numbers.
    BinOutputs binned;
    binned.cell_first = scratch_.cell_first;
    const bool carried = bodies::fast_cells(spec_.grid, layout_).has_value();
    auto* numbers = reinterpret_cast<std::uint32_t*>(scratch_.order);
    if (carried) {
      binned.records = scratch_.order;
    } else {
      if (centroids() && outputs_.permutation != nullptr) numbers = outputs_.permutation;
      binned.permutation = numbers;
    }
    enqueue_binning(predicate_, BinSpec{spec_.grid}, layout_, input_, binned, carried, &head_.found->counts, limits_,
                    workspace, stream_);
    if (carried) {
      const bodies::CarriedPoints<false> points{scratch_.order, {}, 0};
      reduce(points);
      if (centroids() && outputs_.permutation != nullptr) {
        launch(bodies::TakeNumbers{points, &head_.found->counts.counts.kept, outputs_.permutation}, input_.count);
      }
    } else {
      reduce(bodies::ListedPoints{input_.positions, numbers});
    }
  }

  [[nodiscard]] bool centroids() const { return spec_.policy == KeepPolicy::kCentroid; }
  [[nodiscard]] bool takes_means() const { return centroids() || spec_.policy == KeepPolicy::kNearestCentroid; }
  [[nodiscard]] bodies::CellRuns runs() const { return {scratch_.cell_first, &head_.found->counts}; }

  /// Launches a kernel whose blocks stride over what only the device can count. \param most  threads that can be busy
  template <typename KernelT>
  void launch(const KernelT& kernel, std::uint64_t most) const {
    const std::uint64_t blocks = simt::blocks_for(most, KernelT::kThreads);
    simt::launch(kernel, std::min<std::uint64_t>(blocks, limits_.multiprocessors * 8), stream_);
  }

  template <typename PointsT>
  void reduce(const PointsT& points) const {
    const bool first = spec_.policy == KeepPolicy::kFirst;
    const bool leaders = centroids() || (first && spec_.max_per_cell == 1);
    constexpr std::uint32_t kAll = ~std::uint32_t{0};
    launch(bodies::MarkCells<PointsT>{points, runs(), scratch_.pieces, first ? spec_.max_per_cell : kAll,
                                      leaders ? head_.mask : nullptr, centroids() ? outputs_.cell_first : nullptr},
           input_.count);
    if (first && !leaders) {
      launch(bodies::MarkFirstFew<PointsT>{points, runs(), scratch_.pieces, spec_.max_per_cell, head_.mask},
             input_.count);
    }
    if (takes_means()) {
      reduce_to_means(points);
    } else if (!first) {
      launch(reduction<bodies::ReduceCells<PointsT, false>>(points), input_.count);
    }
  }

  /// Once first points are marked.
  template <typename PointsT>
  void reduce_to_means(const PointsT& points) const {
    // Centroids come in the order of first points, whose ranks must be known before any is written.
    if (centroids()) list_marked(head_.before, nullptr);
    const auto kernel = reduction<bodies::ReduceCells<PointsT, true>>(points);
    launch(kernel, input_.count);
    launch(bodies::ChooseInPieces<PointsT>{kernel.reduction}, bodies::CellPieces::room(input_.count) * kPieceThreads);
  }

  template <typename KernelT, typename PointsT>
  KernelT reduction(const PointsT& points) const {
    KernelT out{};
    out.reduction.points = points;
    out.reduction.runs = runs();
    out.reduction.pieces = scratch_.pieces;
    out.reduction.spec = spec_;
    out.reduction.positions = input_.positions;
    out.reduction.first_index = input_.first_index;
    out.reduction.mask = {head_.mask, head_.before};
    if (centroids()) {
      out.reduction.nearest = outputs_.kept;
      if (input_.positions.kind == CoordinateKind::kLattice) {
        out.reduction.lattice = static_cast<Record16*>(outputs_.centroids);
      } else {
        out.reduction.world = static_cast<Record32*>(outputs_.centroids);
      }
      out.reduction.cells = outputs_.cell;
    }
    return out;
  }

  void list_marked(std::uint32_t* before, std::uint32_t* marked) const {
    const std::uint64_t tiles = mask_tiles(input_.count);
    simt::launch(bodies::ListMarked{states_in(head_.states, tiles), head_.mask, mask_words(input_.count), before,
                                    marked, &head_.found->marked},
                 tiles, stream_);
  }

  static constexpr unsigned kPieceThreads = bodies::ChooseInPieces<bodies::CarriedPoints<false>>::kThreads;

  const DevicePredicate& predicate_;
  const ReduceSpec& spec_;
  const KeyLayout& layout_;
  const PointInput& input_;
  const ReduceOutputs& outputs_;
  const DeviceLimits& limits_;
  StreamView stream_;
  ReduceHead head_{};
  OrderScratch scratch_{};
};

/// Many points by score want an order within cells.
bool is_composed(const ReduceSpec& spec) {
  return spec.max_per_cell > bodies::kMostChosen && spec.policy != KeepPolicy::kFirst;
}

}  // namespace

ReduceResult FusedOperations::reduce_cells(const PreparedPredicate& predicate, const ReduceSpec& spec,
                                           const PointInput& input, const ReduceOutputs& outputs, Workspace& workspace,
                                           StreamView stream) {
  check_reduce(spec);
  check_arguments(predicate, input);
  check_aligned(outputs.centroids, 16, "centroids");
  if (is_composed(spec)) {
    return ComposedOperations::reduce_cells(predicate, spec, input, outputs, workspace, stream);
  }
  const ScopedDevice current(device());
  const DevicePredicate& program = device_predicate(predicate);
  // Keys may be laid out for any range that holds the points, so a box spares the look for the occupied one.
  auto range = input.count == 0 ? std::nullopt : cells_of_box(program, spec.grid, input);
  if (!range) {
    ReduceResult none;
    if (input.count != 0) {
      const JudgedCells judged = judge_cells(predicate, spec.grid, input, workspace, stream);
      none.counts = judged.counts;
      if (judged.counts.kept != 0) range = judged.occupied;
    }
    if (!range) {
      if (spec.policy == KeepPolicy::kCentroid && outputs.cell_first != nullptr) {
        fill(outputs.cell_first, 0, sizeof *outputs.cell_first, stream);
        SLUICE_CUDA_CHECK(cudaStreamSynchronize(handle_of(stream)));
      }
      return none;
    }
  }
  const KeyLayout layout = make_key_layout(CellOrder::kRowMajor, spec.grid.use_z, range->min, range->max);
  const DeviceLimits limits = DeviceLimits::of(device());
  const WorkspaceScope scope(workspace);
  return CellReducer(program, spec, layout, input, outputs, limits, stream).run(workspace);
}

std::size_t FusedOperations::reduce_cells_scratch(const ReduceSpec& spec, std::uint64_t count) const {
  if (is_composed(spec)) return ComposedOperations::reduce_cells_scratch(spec, count);
  const ScopedDevice current(device());
  ScratchSize head;
  ReduceHead::take(head, count);
  ScratchSize order;
  OrderScratch::take(order, spec, count);
  ScratchSize tables;
  if (takes_single_points(spec)) DenseTables::take(tables, count);
  const std::size_t ordering = order.bytes() + binning_scratch(DeviceLimits::of(device()), count);
  return std::max(judge_cells_scratch(), head.bytes() + std::max(ordering, tables.bytes()));
}

}  // namespace sluice::kernels::cuda
