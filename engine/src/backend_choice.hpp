// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which backend a job runs on, and why.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sluice/execution.hpp"
#include "sluice/kernels/backend.hpp"
#include "sluice/pipeline.hpp"

namespace sluice::detail {

/// Points of a chunk for a device, which wants many at a time to hide launches and copies, and chunks in flight.
inline constexpr std::uint64_t kDeviceChunk = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kDeviceParcels = 4;

struct Choice {
  std::shared_ptr<kernels::Backend> backend;
  std::string reason;
  bool automatic = false;  ///< may be given up for the CPU when it fails
};

/// Chooses for a plan over `points` points. Runs in the arena that the job will run in.
/// \throws InvalidArgument, Unsupported for a backend asked for by name
Choice choose_backend(const Execution& execution, const Plan& plan, std::uint64_t points, int threads);

/// The GPU that a job may get, behind calls so that it is asked only what it must be.
struct GpuOffer {
  std::string label;                     ///< tells it from other GPUs
  std::function<std::string()> missing;  ///< why it cannot be used; empty where it can. May wake it
  std::function<std::shared_ptr<kernels::Backend>()> make;
};

/// Takes whichever of the two is expected to be done first. Waking a GPU takes longer than many a job does on the CPU,
/// so it is not touched where rates measured before already rule it out.
Choice quicker_backend(std::shared_ptr<kernels::Backend> cpu, const GpuOffer& gpu, const Plan& plan,
                       std::uint64_t points, int threads);

/// The CPU backend, to fall back on.
std::shared_ptr<kernels::Backend> cpu_backend(const Execution& execution);

}  // namespace sluice::detail
