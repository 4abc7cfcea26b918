// SPDX-License-Identifier: Apache-2.0
/// \file
/// Thrust's temporary memory from a workspace, for sources that call Thrust.
#pragma once

#include <thrust/system/cuda/execution_policy.h>

#include <cstddef>

#include "kernels/cuda/detail/device.hpp"
#include "sluice/kernels/stream.hpp"

namespace sluice::kernels::family {

/// What is taken is given back by whoever owns the workspace.
class WorkspaceAllocator {
 public:
  using value_type = char;

  explicit WorkspaceAllocator(Workspace& workspace) : workspace_(workspace) {}
  char* allocate(std::ptrdiff_t bytes) { return workspace_.take<char>(static_cast<std::uint64_t>(bytes)); }
  void deallocate(char* /*block*/, std::size_t /*bytes*/) {}

 private:
  Workspace& workspace_;
};

/// Calls `run(policy)` with an execution policy that takes its memory from the workspace, and enqueues where the
/// algorithm allows it.
template <typename RunT>
void with_thrust(Workspace& workspace, StreamView stream, const RunT& run) {
  const WorkspaceScope scope(workspace);
  WorkspaceAllocator allocator(workspace);
  run(thrust::cuda::par_nosync(allocator).on(cuda::handle_of(stream)));
}

/// Thrust does not say how much memory it will take. Beside what the same call of CUB does there are a few words.
inline constexpr std::size_t kThrustExtra = std::size_t{64} << 10;

}  // namespace sluice::kernels::family
