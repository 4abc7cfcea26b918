// SPDX-License-Identifier: Apache-2.0
/// \file
/// How much of a stream may be on its way at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sluice/execution.hpp"

namespace sluice {

/// Chunks that are between their source and their sink at the same time.
struct InFlight {
  std::uint64_t chunk_points = 0;  ///< of each, at most
  std::uint64_t chunks = 0;
};

/// Bytes of host memory that a job may hold: `memory_bytes`, or three quarters of the machine's.
[[nodiscard]] std::uint64_t memory_limit(const Execution& execution);

/// Takes less until it fits into memory: first chunks that no thread would work on, then points of a chunk, down to
/// `whole_points`; then threads, and at last points down to `least_points`.
///
/// \param whole_points  that a source decodes together, so that less of them cost about as much; 0 where none does
/// \param bytes  that the job holds at such a time, everything counted
/// \param what   the job holds them for: "copying the points"
/// \throws OutOfMemory where not even one chunk of the fewest points fits
[[nodiscard]] InFlight fit_in_flight(InFlight wanted, std::uint64_t whole_points, std::uint64_t least_points,
                                     std::uint64_t threads, std::uint64_t limit,
                                     const std::function<std::uint64_t(const InFlight&)>& bytes,
                                     const std::string& what);

}  // namespace sluice
