// SPDX-License-Identifier: Apache-2.0
/// \file
/// Several ways to do one piece of work: their outputs compared, then their times taken in turn.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gpu.hpp"
#include "report.hpp"

namespace sluice::bench {

/// A run of device memory.
struct Piece {
  void* at;
  std::uint64_t bytes;
};

struct Contender {
  std::string by;
  Role role = Role::kOurs;
  std::function<void()> run = {};  ///< what is timed
  /// Where the last run left its output, in pieces whose sizes tell its counts. Not timed; may launch and wait.
  std::function<std::vector<Piece>()> output = {};
  std::function<void()> prepare = {};  ///< before each run, not timed; may be empty
  std::function<void()> set_up = {};   ///< once, not timed; may be empty
};

class Race {
 public:
  /// \param outputs  memory that outputs lie in, overwritten before each is compared
  Race(Gpu& gpu, Report& report, Case what, std::vector<Piece> outputs);

  void add(Contender contender) { contenders_.push_back(std::move(contender)); }

  /// Lets everybody run once and compares all with the first who does. Those who fail are reported and leave.
  void compare();
  /// Times one call of each in every round; medians go to the report.
  /// \param bytes  fewest that the work reads and writes
  void time(unsigned rounds, std::uint64_t bytes, Caches caches);

 private:
  struct Entry {
    Contender contender;
    bool equal;
  };
  [[nodiscard]] bool run_once(const Contender& contender, std::vector<Piece>& output);

  Gpu& gpu_;
  Report& report_;
  Case what_;
  std::vector<Piece> outputs_;
  std::vector<Contender> contenders_;
  std::vector<Entry> entries_;
};

}  // namespace sluice::bench
