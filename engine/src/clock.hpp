// SPDX-License-Identifier: Apache-2.0
/// \file
/// Busy time, progress and cancellation of a job.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "sluice/execution.hpp"
#include "sluice/report.hpp"

namespace sluice::detail {

/// Adds the time of its own life to a total that several threads share.
class BusyTimer {
 public:
  explicit BusyTimer(std::atomic<std::int64_t>& total) : total_(total), start_(std::chrono::steady_clock::now()) {}
  BusyTimer(const BusyTimer&) = delete;
  BusyTimer& operator=(const BusyTimer&) = delete;
  ~BusyTimer() {
    const auto spent = std::chrono::steady_clock::now() - start_;
    total_ += std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count();
  }

 private:
  std::atomic<std::int64_t>& total_;
  std::chrono::steady_clock::time_point start_;
};

/// The running account of one job; shared by its threads.
class JobClock {
 public:
  JobClock(const Execution& execution, std::uint64_t total_points)
      : execution_(execution), total_points_(total_points), start_(std::chrono::steady_clock::now()) {}

  std::atomic<std::int64_t> read_ns{0};
  std::atomic<std::int64_t> compute_ns{0};
  std::atomic<std::int64_t> write_ns{0};

  /// \throws Cancelled
  void check_cancelled() const {
    if (execution_.cancelled && execution_.cancelled()) throw Cancelled();
  }
  /// Counts points that left the job and tells the watcher, at most every twentieth of a second.
  void advance(std::uint64_t points);
  /// Writes times into a report; tells the watcher that all is done.
  void finish(Report& report);

 private:
  const Execution& execution_;
  std::uint64_t total_points_;
  std::chrono::steady_clock::time_point start_;
  std::atomic<std::uint64_t> done_{0};
  std::mutex watcher_;
  std::chrono::steady_clock::time_point last_told_{};
};

}  // namespace sluice::detail
