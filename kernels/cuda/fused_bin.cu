// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>
#include <utility>

#include "kernels/cuda/binning.hpp"
#include "kernels/cuda/bodies/bin.hpp"
#include "kernels/cuda/bodies/points.hpp"
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

using bodies::FastCells;
using bodies::ItemCount;
using bodies::Rejected;

/// With few tiles for each multiprocessor smaller ones leave less of them idle at the end.
using MediumBinShape = bodies::TileShape<512, 8, 6, 2, true>;
constexpr unsigned kProgramBytes = 64;
using TableShape = bodies::TileShape<512, 16, 0, 2>;
using LargeTableShape = bodies::TileShape<512, 16, 0, 2, true>;

/// Points in all passes but the last, whose shapes and states are the same.
using PassPoints = bodies::PointItems<bodies::PassTable::kNone>;

/// A dense table of up to so many cells stays in the cache while the last pass fills it.
constexpr std::uint64_t kMostDense = std::uint64_t{1} << 20;

constexpr std::uint64_t kLargeBin = std::uint64_t{4} << 20;
/// No more points than the smallest tiles have.
constexpr std::uint64_t kLeastJudged = 256 * 2;
constexpr std::uint64_t kLeastTabled = 512 * 8;

/// Set to zero before anything else.
struct BinHeader {
  bodies::DigitCounts digits;
  BinCounts counts;
  std::uint32_t tickets[bodies::kMostPasses];
};

/// Memory of one binning. Points travel as records or as keys with numbers; what either needs is laid out for both.
struct BinScratch {
  BinHeader* header;
  std::uint64_t* judged;  ///< states, and those of the table behind them; zero with the header
  std::uint64_t* tabled;
  std::byte* words[2];
  Record16* points;  ///< or two buffers of keys, the second one aligned as well
  std::uint32_t* values[2];
  std::uint32_t* dense;

  template <typename SourceT>
  static BinScratch take(SourceT& source, const DeviceLimits& limits, std::uint64_t count) {
    BinScratch out{};
    out.header = source.template take<BinHeader>(1);
    out.judged = source.template take<std::uint64_t>(state_words(judged_tiles(count)));
    out.tabled = source.template take<std::uint64_t>(state_words(tabled_tiles(count)));
    const std::uint64_t bytes = std::max({PassScratch::room<PassPoints>(limits, count),
                                          PassScratch::room<bodies::KeyItems<std::uint32_t, true>>(limits, count),
                                          PassScratch::room<bodies::KeyItems<std::uint64_t, true>>(limits, count)});
    for (std::byte*& words : out.words) words = source.template take<std::byte>(bytes);
    out.points = source.template take<Record16>(count + 1);
    for (std::uint32_t*& values : out.values) values = source.template take<std::uint32_t>(count);
    out.dense = source.template take<std::uint32_t>(kMostDense);
    return out;
  }
  static std::uint64_t judged_tiles(std::uint64_t count) { return simt::blocks_for(count, kLeastJudged); }
  static std::uint64_t tabled_tiles(std::uint64_t count) {
    return simt::blocks_for(std::max(count, kMostDense), kLeastTabled);
  }
  [[nodiscard]] std::size_t zeroed(std::uint64_t count) const {
    return Workspace::bytes_for<BinHeader>(1) + Workspace::bytes_for<std::uint64_t>(state_words(judged_tiles(count))) +
           Workspace::bytes_for<std::uint64_t>(state_words(tabled_tiles(count)));
  }
};

/// One binning into a given layout; only enqueues.
class Binning {
 public:
  Binning(const DevicePredicate& predicate, const BinSpec& spec, const KeyLayout& layout, const PointInput& input,
          const BinOutputs& outputs, BinCounts* counts, const DeviceLimits& limits, StreamView stream,
          bool numbered = false)
      : predicate_(predicate),
        spec_(spec),
        layout_(layout),
        input_(input),
        outputs_(outputs),
        counts_(counts),
        limits_(limits),
        choice_(limits, input.count),
        stream_(stream),
        numbered_(numbered) {}

  void run(Workspace& workspace) {
    if (input_.count == 0) return fill(counts_, 0, sizeof *counts_, stream_);
    scratch_ = BinScratch::take(workspace, limits_, input_.count);
    fill(scratch_.header, 0, scratch_.zeroed(input_.count), stream_);
    const auto cells = bodies::fast_cells(spec_.grid, layout_);
    // Records can be carried where their keys are cheap to compute anew; a permutation needs the numbers of points.
    if (cells && outputs_.records != nullptr && outputs_.permutation == nullptr) {
      plan_ = choice_.plan<PassPoints>(0, std::max<unsigned>(layout_.key_bits, 1));  // the last pass finds the cells
      carry_points(*cells);
    } else if (layout_.key_bits <= 32) {
      plan_ = choice_.plan<bodies::KeyItems<std::uint32_t, true>>(0, layout_.key_bits);
      carry_keys<std::uint32_t>();
    } else {
      plan_ = choice_.plan<bodies::KeyItems<std::uint64_t, true>>(0, layout_.key_bits);
      carry_keys<std::uint64_t>();
    }
  }

 private:
  [[nodiscard]] PassScratch passes() const {
    return {scratch_.header->tickets, &scratch_.header->digits, {scratch_.words[0], scratch_.words[1]}};
  }
  [[nodiscard]] ItemCount kept() const { return {0, &scratch_.header->counts.counts.kept}; }

  /// What sinks of all kinds have in common.
  template <typename ItemsT, typename SinkT>
  typename SinkT::BinSink common() const {
    typename SinkT::BinSink out{};
    out.plan = plan_;
    out.digit_counts = &scratch_.header->digits;
    out.wide = choice_.wide;
    out.counts = &scratch_.header->counts;
    out.next_words = reinterpret_cast<std::uint32_t*>(scratch_.words[0]);
    out.next_word_count = PassScratch::state_bytes<ItemsT>(choice_, input_.count) / sizeof(std::uint32_t);
    return out;
  }

  template <typename ShapeT, typename SourceT, typename JudgeT, typename SinkT>
  void judge(const SourceT& source, const JudgeT& judge, const SinkT& sink) const {
    using Kernel = bodies::SelectPoints<JudgeT, SinkT, ShapeT, SourceT>;
    static_assert(Kernel::kTile >= kLeastJudged);
    const std::uint64_t tiles = simt::blocks_for(input_.count, Kernel::kTile);
    simt::launch(Kernel{judge, sink, states_in(scratch_.judged, tiles), source, {input_.count}}, tiles, stream_);
  }

  template <typename SinkT>
  SinkT last_sink(bool knows_rejected) const {
    SinkT out{};
    out.count = &counts_->cells;
    out.known = &scratch_.header->counts;
    out.counts = counts_;
    out.points = input_.count;
    out.knows_rejected = knows_rejected;
    out.cell_keys = outputs_.cell_keys;
    out.cell_first = outputs_.cell_first;
    return out;
  }

  template <typename ShapeT, typename JudgeT, typename SinkT>
  void launch_table(const JudgeT& judge, const SinkT& sink, const typename JudgeT::Record* items, ItemCount count,
                    std::uint64_t most) const {
    using Kernel = bodies::SelectPoints<JudgeT, SinkT, ShapeT>;
    static_assert(Kernel::kTile >= kLeastTabled);
    const std::uint64_t tiles = simt::blocks_for(most, Kernel::kTile);
    simt::launch(Kernel{judge, sink, states_in(scratch_.tabled, tiles), {items}, count}, tiles, stream_);
  }

  /// Finds the first of each run of equal keys.
  template <typename KeyT>
  void write_table(const KeyT* sorted, bool knows_rejected) const {
    const bodies::KeyRunJudge<KeyT> judge{sorted};
    const auto sink = last_sink<bodies::TableSink>(knows_rejected);
    if (limits_.has_large_shared() && input_.count >= limits_.large_from(kLargeBin)) {
      launch_table<LargeTableShape>(judge, sink, sorted, kept(), input_.count);
    } else {
      launch_table<TableShape>(judge, sink, sorted, kept(), input_.count);
    }
  }

  /// Cells of the layout, or 0 where they are too many for a dense table.
  [[nodiscard]] std::uint64_t dense_cells() const {
    if (layout_.key_bits > 20) return 0;
    static_assert(kMostDense == std::uint64_t{1} << 20);
    return layout_.extent[0] * layout_.extent[1] * layout_.extent[2];
  }

  void carry_points(const FastCells& cells) {
    // Back and forth so that the last pass writes to the output.
    auto* out = static_cast<Record16*>(outputs_.records);
    Record16* buffers[2] = {out, scratch_.points};
    if (plan_.passes % 2 != 0) std::swap(buffers[0], buffers[1]);
    const std::uint64_t dense = dense_cells();
    const auto sink_to = [&]<Rejected kRejected>() {
      using Sink = bodies::PointSink<kRejected>;
      Sink out{common<PassPoints, Sink>(), cells, buffers[0], numbered_};
      out.plan.passes = 1;
      if (dense != 0) out.dense = scratch_.dense;
      out.dense_count = dense;
      return out;
    };
    const auto box = lattice_box(predicate_, input_);
    with_narrow_source(input_.positions, [&]<typename SourceT>(const SourceT& source) {
      using Point = typename SourceT::Item;
      if (box) {
        const Record16 low{box->low[0], box->low[1], box->low[2], 0};
        const Record16 high{box->high[0], box->high[1], box->high[2], 0};
        const auto judge_box = [&]<bool kSure>() {
          const bodies::InRangeJudge<bodies::LatticeBoxJudge, kSure> in_range{*box, cells, &scratch_.header->counts};
          const auto points = sink_to.template operator()<Rejected::kNothing>();
          if (limits_.has_large_shared() && input_.count >= limits_.large_from(kManyTiles)) {
            judge<LargeBoxShape<Point>>(source, in_range, points);
          } else if (limits_.has_large_shared() && input_.count >= limits_.large_from(kLargeBin)) {
            judge<MediumBinShape>(source, in_range, points);
          } else {
            judge<BoxShape>(source, in_range, points);
          }
        };
        if (cells.holds(low) && cells.holds(high)) {
          judge_box.template operator()<true>();
        } else {
          judge_box.template operator()<false>();
        }
      } else {
        const bodies::InRangeJudge<bodies::ProgramJudge, false> in_range{program_judge(predicate_, input_), cells,
                                                                         &scratch_.header->counts};
        judge<ProgramShape<Point, kProgramBytes>>(source, in_range, sink_to.template operator()<Rejected::kCount>());
      }
    });
    for (unsigned pass = 0; pass < plan_.passes; ++pass) {
      const bool last = pass + 1 == plan_.passes;
      const auto sort = [&]<bodies::PassTable kTable>() {
        bodies::PointItems<kTable> items{};
        items.points = buffers[pass % 2];
        items.points_out = buffers[1 - pass % 2];
        items.cells = cells;
        items.sort_digit = plan_.digits[pass];
        if (!last) items.next_digit = plan_.digits[pass + 1];
        items.cell_first = scratch_.dense;
        items.keys_out = scratch_.values[0];
        radix_pass(items, choice_, pass, last, passes(), kept(), input_.count, stream_);
      };
      if (!last) {
        sort.template operator()<bodies::PassTable::kNone>();
      } else if (dense != 0) {
        sort.template operator()<bodies::PassTable::kFirsts>();
      } else {
        sort.template operator()<bodies::PassTable::kKeys>();
      }
    }
    if (dense != 0) {
      launch_table<TableShape>(bodies::DenseJudge{}, last_sink<bodies::DenseSink>(!box), scratch_.dense,
                               ItemCount{dense}, dense);
    } else {
      write_table(scratch_.values[0], !box);
    }
  }

  template <typename KeyT>
  void carry_keys() {
    static_assert(2 * sizeof(KeyT) <= sizeof(Record16));
    auto* first_keys = reinterpret_cast<KeyT*>(scratch_.points);
    constexpr std::uint64_t kAligned = 16 / sizeof(KeyT);
    KeyT* const keys[2] = {first_keys, first_keys + (input_.count + kAligned - 1) / kAligned * kAligned};
    std::uint32_t* values[2] = {scratch_.values[0], scratch_.values[1]};
    if (outputs_.permutation != nullptr) values[plan_.passes % 2] = outputs_.permutation;
    using Sink = bodies::KeySink<KeyT>;
    const Sink pairs{common<bodies::KeyItems<KeyT, true>, Sink>(), keys[0], values[0]};
    const bodies::KeyJudge<bodies::ProgramJudge> by_key{program_judge(predicate_, input_), spec_.grid, layout_,
                                                        &scratch_.header->counts};
    with_source(input_.positions, [&]<typename SourceT>(const SourceT& source) {
      judge<ProgramShape<typename SourceT::Item, kProgramBytes>>(source, by_key, pairs);
    });
    const int sorted = radix_passes<KeyT, true>(keys, values, plan_, choice_, passes(), kept(), input_.count, stream_);
    if (outputs_.records != nullptr) gather(values[sorted]);
    write_table(keys[sorted], true);
  }

  void gather(const std::uint32_t* permutation) const {
    const auto of = [&]<typename RecordT>() {
      using Kernel = bodies::GatherRecords<RecordT>;
      const std::uint64_t blocks =
          std::min<std::uint64_t>(simt::blocks_for(input_.count, Kernel::kThreads), limits_.multiprocessors * 8);
      simt::launch(Kernel{reinterpret_cast<const RecordT*>(input_.positions.x), permutation, kept(),
                          static_cast<RecordT*>(outputs_.records)},
                   blocks, stream_);
    };
    if (input_.positions.kind == CoordinateKind::kFloat64) {
      of.template operator()<Record32>();
    } else {
      of.template operator()<Record16>();
    }
  }

  const DevicePredicate& predicate_;
  const BinSpec& spec_;
  const KeyLayout& layout_;
  const PointInput& input_;
  const BinOutputs& outputs_;
  BinCounts* counts_;
  const DeviceLimits& limits_;
  PassChoice choice_;
  bodies::DigitPlan plan_{};
  StreamView stream_;
  bool numbered_;  ///< points that are carried get their numbers
  BinScratch scratch_{};
};

}  // namespace

void enqueue_binning(const DevicePredicate& predicate, const BinSpec& spec, const KeyLayout& layout,
                     const PointInput& input, const BinOutputs& outputs, bool numbered, BinCounts* counts,
                     const DeviceLimits& limits, Workspace& workspace, StreamView stream) {
  const WorkspaceScope scope(workspace);
  Binning(predicate, spec, layout, input, outputs, counts, limits, stream, numbered).run(workspace);
}

std::size_t binning_scratch(const DeviceLimits& limits, std::uint64_t count) {
  ScratchSize size;
  BinScratch::take(size, limits, count);
  return size.bytes();
}

void FusedOperations::enqueue_bin(const PreparedPredicate& predicate, const BinSpec& spec, const PointInput& input,
                                  const BinOutputs& outputs, BinCounts* counts, Workspace& workspace,
                                  StreamView stream) {
  check_arguments(predicate, input);
  check_enqueue_bin(input, spec, outputs, counts);
  check_aligned(outputs.records, 16, "records");
  const ScopedDevice current(device());
  const KeyLayout layout = make_key_layout(spec.order, spec.grid.use_z, spec.range->min, spec.range->max);
  const WorkspaceScope scope(workspace);
  Binning(device_predicate(predicate), spec, layout, input, outputs, counts, DeviceLimits::of(device()), stream)
      .run(workspace);
}

BinResult FusedOperations::bin(const PreparedPredicate& predicate, const BinSpec& spec, const PointInput& input,
                               const BinOutputs& outputs, Workspace& workspace, StreamView stream) {
  check_arguments(predicate, input);
  check_bin(input, spec, outputs);
  check_aligned(outputs.records, 16, "records");
  const ScopedDevice current(device());
  const WorkspaceScope scope(workspace);
  BinSpec ranged = spec;
  if (!ranged.range.has_value()) {
    // The range of occupied cells lays out the keys, so a first look at the points must find it.
    const JudgedCells judged = judge_cells(predicate, spec.grid, input, workspace, stream);
    if (judged.counts.kept == 0) return BinResult{judged.counts, 0, KeyLayout{}};
    ranged.range = judged.occupied;
  }
  auto* counts = workspace.take<BinCounts>(1);
  const KeyLayout layout = make_key_layout(spec.order, spec.grid.use_z, ranged.range->min, ranged.range->max);
  Binning(device_predicate(predicate), ranged, layout, input, outputs, counts, DeviceLimits::of(device()), stream)
      .run(workspace);
  return bin_result(read_back(counts, stream), layout);
}

std::size_t FusedOperations::bin_scratch(const BinSpec& /*spec*/, std::uint64_t count) const {
  const ScopedDevice current(device());
  ScratchSize size;
  size.take<BinCounts>(1);
  BinScratch::take(size, DeviceLimits::of(device()), count);
  return std::max(size.bytes(), judge_cells_scratch());
}

}  // namespace sluice::kernels::cuda
