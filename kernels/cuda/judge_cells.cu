// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>

#include "kernels/arguments.hpp"
#include "kernels/cuda/bodies/occupied.hpp"
#include "kernels/cuda/detail/device.hpp"
#include "kernels/cuda/detail/limits.hpp"
#include "kernels/cuda/fused_operations.hpp"
#include "kernels/cuda/judging.cuh"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::cuda {

FusedOperations::JudgedCells FusedOperations::judge_cells(const PreparedPredicate& predicate, const CellGrid& grid,
                                                          const PointInput& input, Workspace& workspace,
                                                          StreamView stream) const {
  const WorkspaceScope scope(workspace);
  auto* status = workspace.take<bodies::JudgeStatus>(1);
  simt::launch(bodies::ClearStatus{status}, 1, stream);
  // Enough blocks to keep any multiprocessor busy; more would only add to the numbers that all of them share.
  const std::uint64_t most_blocks = std::uint64_t{DeviceLimits::of(device()).multiprocessors} * 8;
  const auto look = [&]<typename ValueT>(const auto& judge) {
    with_source(input.positions, [&]<typename SourceT>(const SourceT& source) {
      if constexpr (sizeof(SourceT::Item::x) == sizeof(ValueT)) {
        using Kernel = bodies::FindOccupied<std::decay_t<decltype(judge)>, SourceT, ValueT>;
        simt::launch(Kernel{judge, source, input.count, grid, status},
                     std::min(simt::blocks_for(input.count, Kernel::kTile), most_blocks), stream);
      }
    });
  };
  const DevicePredicate& program = device_predicate(predicate);
  if (const auto lattice = lattice_box(program, input)) {
    look.template operator()<std::int32_t>(*lattice);
  } else if (const auto floats = float_box(program, input)) {
    look.template operator()<float>(*floats);
  } else if (input.positions.kind == CoordinateKind::kLattice) {
    look.template operator()<std::int32_t>(program_judge(program, input));
  } else if (input.positions.kind == CoordinateKind::kFloat32) {
    look.template operator()<float>(program_judge(program, input));
  } else {
    look.template operator()<double>(program_judge(program, input));
  }
  const bodies::JudgeStatus found = read_back(status, stream);
  if (found.failed != 0) refuse_cell();
  return {found.counts, bodies::occupied_range(found)};
}

std::size_t FusedOperations::judge_cells_scratch() { return Workspace::bytes_for<bodies::JudgeStatus>(1); }

}  // namespace sluice::kernels::cuda
