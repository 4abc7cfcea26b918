// SPDX-License-Identifier: Apache-2.0
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

/// A box needs few registers, so points can fill them and shared memory; a program needs the registers itself.
using LargeBoxShape = bodies::TileShape<1024, 12, 10, 1>;
using BoxShape = bodies::TileShape<512, 8, 0, 2>;
template <typename RecordT>
using ProgramShape = bodies::TileShape<256, 0, 128 / sizeof(RecordT), 4>;

/// From this many points on large tiles keep 132 multiprocessors busy.
constexpr std::uint64_t kLargeSelect = std::uint64_t{4} << 20;
/// No more points than the smallest tile has.
constexpr std::uint64_t kLeastTile = 256 * 4;

template <typename ShapeT, bool kRejected, typename JudgeT>
void launch_select(const JudgeT& judge, const PointInput& input, const SelectOutputs& outputs, Workspace& workspace,
                   StreamView stream) {
  using Record = typename JudgeT::Record;
  using Kernel = bodies::SelectPoints<JudgeT, bodies::SelectSink<Record, kRejected>, ShapeT>;
  static_assert(Kernel::kTile >= kLeastTile);
  const std::uint64_t tiles = simt::blocks_for(input.count, Kernel::kTile);
  simt::launch(Kernel{judge,
                      {outputs},
                      clear_states(tiles, workspace, stream),
                      reinterpret_cast<const Record*>(input.positions.x),
                      {input.count}},
               tiles, stream);
}

template <typename ShapeT, typename JudgeT>
void select_once(const JudgeT& judge, const PointInput& input, const SelectOutputs& outputs, Workspace& workspace,
                 StreamView stream) {
  if constexpr (JudgeT::kNeverNonFinite) {
    if (outputs.rejected == nullptr) return launch_select<ShapeT, false>(judge, input, outputs, workspace, stream);
  }
  launch_select<ShapeT, true>(judge, input, outputs, workspace, stream);
}

}  // namespace

void FusedOperations::select(const PreparedPredicate& predicate, const PointInput& input, const SelectOutputs& outputs,
                             Workspace& workspace, StreamView stream) {
  check_arguments(predicate, input);
  check_records(input, outputs.records);
  check_aligned(outputs.records, 16, "records");
  const ScopedDevice current(device());
  if (input.count == 0) {
    if (outputs.counts != nullptr) fill(outputs.counts, 0, sizeof *outputs.counts, stream);
    return;
  }
  const WorkspaceScope scope(workspace);
  const DevicePredicate& program = device_predicate(predicate);
  const auto with_box = [&](const auto& box) {
    const DeviceLimits limits = DeviceLimits::of(device());
    if (limits.has_large_shared() && input.count >= limits.large_from(kLargeSelect)) {
      select_once<LargeBoxShape>(box, input, outputs, workspace, stream);
    } else {
      select_once<BoxShape>(box, input, outputs, workspace, stream);
    }
  };
  if (const auto lattice = lattice_box(program, input)) return with_box(*lattice);
  if (const auto floats = float_box(program, input)) return with_box(*floats);
  if (input.positions.kind == CoordinateKind::kFloat64) {
    select_once<ProgramShape<Record32>>(program_judge<Record32>(program, input), input, outputs, workspace, stream);
  } else {
    select_once<ProgramShape<Record16>>(program_judge<Record16>(program, input), input, outputs, workspace, stream);
  }
}

std::size_t FusedOperations::select_scratch(std::uint64_t count) const {
  return states_scratch(simt::blocks_for(count, kLeastTile));
}

}  // namespace sluice::kernels::cuda
