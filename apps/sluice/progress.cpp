// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace sluice::app {

namespace {

constexpr std::uint64_t kBarWidth = 30;

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

ProgressBar::ProgressBar(ProgressMode mode) {
  terminal_ = ::isatty(STDERR_FILENO) == 1;
  shown_ = mode == ProgressMode::kAlways || (mode == ProgressMode::kAuto && terminal_);
}

ProgressBar::~ProgressBar() { clear(); }

std::function<void(std::uint64_t, std::uint64_t)> ProgressBar::callback() {
  if (!shown_) return {};
  return [this](std::uint64_t done, std::uint64_t total) { update(done, total); };
}

void ProgressBar::update(std::uint64_t done, std::uint64_t total) {
  const Clock::time_point now = Clock::now();
  if (total == 0 || (drawn_ && done < total && now - last_ < std::chrono::milliseconds(100))) return;
  last_ = now;
  drawn_ = true;
  done = std::min(done, total);
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double speed = seconds > 0.0 ? static_cast<double>(done) / seconds : 0.0;
  const double share = static_cast<double>(done) / static_cast<double>(total);
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(kBarWidth));
  const std::string left = speed > 0.0 ? duration_text(static_cast<double>(total - done) / speed) : "-:--";
  const std::string line = fmt::format("[{}{}] {:3.0f} %  {:.1f} M points/s  {} left", std::string(filled, '#'),
                                       std::string(kBarWidth - filled, '.'), 100.0 * share, speed / 1e6, left);
  // On a terminal the line is drawn over; in a file each state has a line of its own.
  std::fputs(terminal_ ? ("\r" + line + "\033[K").c_str() : (line + "\n").c_str(), stderr);
  std::fflush(stderr);
}

void ProgressBar::clear() {
  if (drawn_ && terminal_) {
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  }
  drawn_ = false;
}

}  // namespace sluice::app
