// SPDX-License-Identifier: Apache-2.0
/// \file
/// Time that jobs spend, summed over threads as whole nanoseconds so that atomics can hold it.
#pragma once

#include <chrono>
#include <cstdint>

namespace sluice::app {

using Clock = std::chrono::steady_clock;

inline std::int64_t nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

inline double seconds_of(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

}  // namespace sluice::app
