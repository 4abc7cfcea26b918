// SPDX-License-Identifier: Apache-2.0
/// \file
/// The emulated device as tests see it: settings, reports, expectations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "kernels/simt/emulated/checker.hpp"
#include "kernels/simt/emulated/heap.hpp"
#include "kernels/simt/emulated/machine.hpp"
#include "kernels/simt/emulated/report.hpp"
#include "kernels/simt/emulated/settings.hpp"

namespace sluice::simt::emulated {

/// The one device. Launches run when they are made, one at a time.
class Device {
 public:
  static Device& get();

  /// Starts from the first launch again. \throws InvalidArgument for numbers out of range
  void configure(const Settings& settings);
  [[nodiscard]] const Settings& settings() const { return settings_; }

  /// Runs a launch. \throws DeviceError with the text of the first report, where there is any and nobody collects them
  void run(const Job& job);

  /// From now on reports are collected. \see take_reports
  void collect_reports() { collects_ = true; }
  /// What was collected; launches throw again.
  std::vector<Report> take_reports();

  /// The next launch must leave these values; a difference is a hazard.
  template <typename T>
  void expect(const T* at, const std::vector<T>& values) {
    Expectation out{reinterpret_cast<const std::byte*>(at), sizeof(T),
                    std::vector<std::byte>(values.size() * sizeof(T))};
    std::memcpy(out.values.data(), values.data(), out.values.size());
    expectations_.push_back(std::move(out));
  }

  /// Names of all kernels that have run in this program, with their template arguments.
  [[nodiscard]] const std::set<std::string>& kernels_run() const { return kernels_run_; }

  /// Called for every access of instrumented code.
  void touched(std::uintptr_t at, std::size_t bytes, bool write, const void* pc);

  [[nodiscard]] Machine& machine() { return machine_; }
  [[nodiscard]] Heap& heap() { return heap_; }
  [[nodiscard]] Shadow& global() { return global_; }
  [[nodiscard]] const Shadow& shared() const { return shared_; }
  [[nodiscard]] std::recursive_mutex& mutex() { return mutex_; }

 private:
  Device();

  std::recursive_mutex mutex_;
  Settings settings_;
  Shadow global_;
  Shadow shared_;
  Heap heap_;
  Checker checker_;
  Machine machine_;
  std::uint64_t launches_ = 0;
  bool collects_ = false;
  std::vector<Expectation> expectations_;
  std::set<std::string> kernels_run_;
};

}  // namespace sluice::simt::emulated
