// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/bodies/dense_cells.hpp"
#include "kernels/cuda/bodies/fast_cells.hpp"
#include "kernels/cuda/dense_thin.hpp"
#include "kernels/cuda/detail/device.hpp"
#include "kernels/cuda/judging.cuh"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::cuda {

namespace {

using bodies::Look;

/// One thinning; only enqueues.
class DenseThin {
 public:
  DenseThin(const ReduceSpec& spec, const PointInput& input, const DenseTables& tables, SelectCounts* counts,
            const DeviceLimits& limits, StreamView stream)
      : spec_(spec), input_(input), tables_(tables), counts_(counts), limits_(limits), stream_(stream) {}

  [[nodiscard]] bool packs() const { return bodies::has_short_scores(spec_.policy, input_.positions.kind); }

  template <typename JudgeT, typename SourceT, typename KeysT>
  void look(const JudgeT& judge, const SourceT& source, const KeysT& keys) const {
    if (packs()) return enter<Look::kPacked>(judge, source, keys);
    enter<Look::kScores>(judge, source, keys);
    enter<Look::kTies>(judge, source, keys);
  }

 private:
  template <Look kLook, typename JudgeT, typename SourceT, typename KeysT>
  void enter(const JudgeT& judge, const SourceT& source, const KeysT& keys) const {
    using Kernel = bodies::EnterPoints<JudgeT, SourceT, KeysT, kLook>;
    Kernel kernel{};
    kernel.judge = judge;
    kernel.source = source;
    kernel.keys_of = keys;
    kernel.spec = spec_;
    kernel.positions = input_.positions;
    kernel.first_index = input_.first_index;
    kernel.count = input_.count;
    kernel.best = tables_.best;
    kernel.numbers = tables_.numbers;
    kernel.counts = counts_;
    simt::launch(kernel,
                 std::min<std::uint64_t>(simt::blocks_for(input_.count, Kernel::kTile), limits_.multiprocessors * 8),
                 stream_);
  }

  const ReduceSpec& spec_;
  const PointInput& input_;
  const DenseTables& tables_;
  SelectCounts* counts_;
  const DeviceLimits& limits_;
  StreamView stream_;
};

}  // namespace

void enqueue_dense_thin(const DevicePredicate& predicate, const ReduceSpec& spec, const KeyLayout& layout,
                        const PointInput& input, const DenseTables& tables, std::uint32_t* mask, SelectCounts* counts,
                        const DeviceLimits& limits, StreamView stream) {
  const std::uint64_t cells = layout.extent[0] * layout.extent[1] * layout.extent[2];
  const DenseThin thin(spec, input, tables, counts, limits, stream);
  fill(tables.best, 0xff, cells * sizeof *tables.best, stream);
  if (!thin.packs()) fill(tables.numbers, 0xff, cells * sizeof *tables.numbers, stream);
  const auto fast = bodies::fast_cells(spec.grid, layout);
  const bodies::AnyKeys any{layout};
  const auto box = lattice_box(predicate, input);
  const bodies::ItemArray<Record16> narrow{reinterpret_cast<const Record16*>(input.positions.x)};
  if (box && fast) {
    thin.look(*box, narrow, bodies::FastKeys{*fast});
  } else if (const auto floats = float_box(predicate, input)) {
    thin.look(*floats, narrow, any);
  } else if (input.positions.kind == CoordinateKind::kFloat64) {
    const bodies::ItemArray<Record32> wide{reinterpret_cast<const Record32*>(input.positions.x)};
    thin.look(program_judge(predicate, input), wide, any);
  } else {
    thin.look(program_judge(predicate, input), narrow, any);
  }
  simt::launch(bodies::MarkEntries{tables.best, thin.packs() ? nullptr : tables.numbers, cells, mask},
               simt::blocks_for(cells, bodies::MarkEntries::kThreads), stream);
}

}  // namespace sluice::kernels::cuda
