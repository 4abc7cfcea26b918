// SPDX-License-Identifier: Apache-2.0
/// \file
/// CUB's two-step calls: how much scratch, then the work, with the scratch from a workspace.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/detail/device.hpp"
#include "sluice/kernels/stream.hpp"

namespace sluice::kernels::cuda {

/// Bytes that a call wants. \param call  takes (void* scratch, std::size_t& bytes) and returns a status
template <typename CallT>
std::size_t cub_scratch(const CallT& call) {
  std::size_t bytes = 0;
  SLUICE_CUDA_CHECK(call(nullptr, bytes));
  return Workspace::bytes_for<std::byte>(bytes);
}

template <typename CallT>
void cub_run(const CallT& call, Workspace& workspace) {
  std::size_t bytes = 0;
  SLUICE_CUDA_CHECK(call(nullptr, bytes));
  const WorkspaceScope scope(workspace);
  // A null pointer would ask for the size again.
  void* scratch = workspace.take<std::byte>(bytes == 0 ? 1 : bytes);
  SLUICE_CUDA_CHECK(call(scratch, bytes));
  SLUICE_CUDA_CHECK(cudaGetLastError());
}

}  // namespace sluice::kernels::cuda
