// SPDX-License-Identifier: Apache-2.0
/// \file
/// A bar on standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "common_options.hpp"

namespace sluice::app {

/// Shows how far a job is, its speed, and the time left. Draws at most ten times a second; on destruction the line is
/// ended or, on a terminal, cleared.
class ProgressBar {
 public:
  explicit ProgressBar(ProgressMode mode);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// For `Execution::progress`; empty where nothing is to be shown.
  [[nodiscard]] std::function<void(std::uint64_t, std::uint64_t)> callback();
  /// Clears the bar before other text is printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  void update(std::uint64_t done, std::uint64_t total);

  bool shown_ = false;
  bool terminal_ = false;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_;
};

}  // namespace sluice::app
