// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "kernels/cuda/bodies/select.hpp"
#include "kernels/cuda/detail/arguments.hpp"
#include "kernels/cuda/detail/device.hpp"
#include "kernels/cuda/detail/limits.hpp"
#include "kernels/cuda/fused_operations.hpp"
#include "kernels/cuda/judging.cuh"
#include "kernels/cuda/look_back.cuh"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::cuda {

namespace {

using bodies::Rejected;

/// Records of fewer tiles gain nothing by what is asked for ahead.
using MediumSelectShape = bodies::TileShape<512, 10, 12, 2>;

/// No more points than the smallest tile has.
constexpr std::uint64_t kLeastTile = 256 * 4;

template <typename ShapeT, Rejected kRejected, typename JudgeT, typename SourceT>
void launch_select(const JudgeT& judge, const SourceT& source, std::uint64_t count, const SelectOutputs& outputs,
                   Workspace& workspace, StreamView stream) {
  using Kernel = bodies::SelectPoints<JudgeT, bodies::SelectSink<kRejected>, ShapeT, SourceT>;
  static_assert(Kernel::kTile >= kLeastTile);
  const std::uint64_t tiles = simt::blocks_for(count, Kernel::kTile);
  simt::launch(Kernel{judge, {outputs}, clear_states(tiles, workspace, stream), source, {count}}, tiles, stream);
}

template <typename ShapeT, typename JudgeT, typename SourceT>
void select_once(const JudgeT& judge, const SourceT& source, std::uint64_t count, const SelectOutputs& outputs,
                 Workspace& workspace, StreamView stream) {
  if (outputs.rejected != nullptr) {
    launch_select<ShapeT, Rejected::kIndices>(judge, source, count, outputs, workspace, stream);
  } else {
    constexpr Rejected kCounted = JudgeT::kNeverNonFinite ? Rejected::kNothing : Rejected::kCount;
    launch_select<ShapeT, kCounted>(judge, source, count, outputs, workspace, stream);
  }
}

}  // namespace

void FusedOperations::select(const PreparedPredicate& predicate, const PointInput& input, const SelectOutputs& outputs,
                             Workspace& workspace, StreamView stream) {
  check_arguments(predicate, input);
  check_records(input, outputs.records);
  check_outputs(input, outputs);
  const ScopedDevice current(device());
  if (input.count == 0) {
    if (outputs.counts != nullptr) fill(outputs.counts, 0, sizeof *outputs.counts, stream);
    return;
  }
  const WorkspaceScope scope(workspace);
  const DevicePredicate& program = device_predicate(predicate);
  const DeviceLimits limits = DeviceLimits::of(device());
  const auto by_box = [&](const auto& box) {
    with_narrow_source(input.positions, [&]<typename SourceT>(const SourceT& source) {
      using Point = typename SourceT::Item;
      constexpr bool kRecords = sizeof(Point) == sizeof(Record16);
      if (limits.has_large_shared() && input.count >= limits.large_from(kRecords ? kManyTiles : kLargeBox)) {
        select_once<LargeBoxShape<Point>>(box, source, input.count, outputs, workspace, stream);
      } else if (limits.has_large_shared() && input.count >= limits.large_from(kLargeBox)) {
        select_once<MediumSelectShape>(box, source, input.count, outputs, workspace, stream);
      } else {
        select_once<BoxShape>(box, source, input.count, outputs, workspace, stream);
      }
    });
  };
  if (const auto lattice = lattice_box(program, input)) return by_box(*lattice);
  if (const auto floats = float_box(program, input)) return by_box(*floats);
  with_source(input.positions, [&]<typename SourceT>(const SourceT& source) {
    select_once<ProgramShape<typename SourceT::Item, 128>>(program_judge(program, input), source, input.count, outputs,
                                                           workspace, stream);
  });
}

std::size_t FusedOperations::select_scratch(std::uint64_t count) const {
  return states_scratch(simt::blocks_for(count, kLeastTile));
}

}  // namespace sluice::kernels::cuda
