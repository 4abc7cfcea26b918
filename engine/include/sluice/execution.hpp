// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a job runs: which backend, how many threads, how much memory, and who watches.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sluice/core/error.hpp"

namespace sluice::kernels {
class Backend;
}

namespace sluice {

/// Where a job runs and within what limits.
struct Execution {
  /// "auto", or one of `kernels::backends()`. A backend asked for by name and absent is an error; empty means the
  /// environment variable SLUICE_BACKEND, or "auto" where that is not set either.
  std::string backend;
  int device = 0;                  ///< index of the GPU
  int threads = 0;                 ///< most threads to use; 0: all that the process may run on
  std::uint64_t memory_bytes = 0;  ///< most memory of the host to hold at once; 0: three quarters of the machine's
  std::uint64_t chunk_points = 0;  ///< points per chunk of a stream; 0: chosen. The result does not depend on it

  /// Called now and then, from any one thread at a time, with the points passed so far and in all.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
  /// Asked now and then; true ends the job with `Cancelled`.
  std::function<bool()> cancelled;
  /// Makes a backend by name; empty: `kernels::make_backend`. A program that has a backend of its own puts it in here.
  std::function<std::shared_ptr<kernels::Backend>(const std::string& name, int device)> make_backend;
};

}  // namespace sluice
