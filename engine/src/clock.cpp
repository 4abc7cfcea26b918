// SPDX-License-Identifier: Apache-2.0
#include "clock.hpp"

namespace sluice::detail {

namespace {
double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }
}  // namespace

void JobClock::advance(std::uint64_t points) {
  done_ += points;
  if (!execution_.progress) return;
  // Whoever finds the watcher busy leaves: a missed report is made up for by the next one.
  const std::unique_lock lock(watcher_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_told_ < std::chrono::milliseconds(50)) return;
  last_told_ = now;
  // Read only here: a number taken before the lock may be smaller than what another thread has told since.
  execution_.progress(done_, total_points_);
}

void JobClock::finish(Report& report) {
  const auto spent = std::chrono::steady_clock::now() - start_;
  report.seconds_total = seconds(std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count());
  report.seconds_read = seconds(read_ns);
  report.seconds_compute = seconds(compute_ns);
  report.seconds_write = seconds(write_ns);
  if (execution_.progress) {
    const std::lock_guard lock(watcher_);
    execution_.progress(total_points_, total_points_);
  }
}

}  // namespace sluice::detail
