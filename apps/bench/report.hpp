// SPDX-License-Identifier: Apache-2.0
/// \file
/// Measurements, as tables for people and as JSON for whoever compares runs.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace sluice::bench {

/// A fraction as text, e.g. 50 %.
[[nodiscard]] std::string percent(double fraction);

/// One piece of work on one set of data.
struct Case {
  std::string work;          ///< what is computed
  std::string distribution;  ///< of the data
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;      ///< fewest that the work has to read and write
  double kept_fraction = 0.0;   ///< asked of the region; 0 where there is none, too
  std::string caches = "cold";  ///< "cold": full of something else before each call; "warm": the same call went before
};

/// Who did a piece of work.
enum class Role : std::uint8_t {
  kOurs,    ///< the backend that all are compared with
  kSecond,  ///< this project's other backend
  kUsual,   ///< CUB and Thrust as people call them
  kExpert,  ///< CUB by somebody who knows its insides
};

struct Time {
  std::string by;
  Role role = Role::kOurs;
  double median_ms = 0.0;
  double least_ms = 0.0;
  bool equal = true;  ///< gave the output that the first of the case gave
};

struct Machine {
  std::string device;
  std::string date;  ///< UTC
  int driver = 0;
  int runtime = 0;
  double copy_gb_per_s = 0.0;  ///< of a plain copy on the device, bytes read and written
};

/// Prints each case as soon as it is measured and keeps a file of all so far.
class Report {
 public:
  /// \param json_path  empty: no file
  Report(Machine machine, std::string json_path);

  void add(const Case& what, const std::vector<Time>& times);
  /// Says what was asked for and not measured.
  /// \param by      empty: the whole case
  /// \param failed  whether that is a fault rather than a limit
  void leave_out(const Case& what, const std::string& by, const std::string& reason, bool failed);
  /// Says once something that readers of the figures must know.
  void note(const std::string& text);

  /// Whether all outputs were the same and nothing failed.
  [[nodiscard]] bool good() const { return good_; }

 private:
  struct Measured {
    Case what;
    std::vector<Time> times;
  };
  struct LeftOut {
    Case what;
    std::string by;
    std::string reason;
  };

  void print(const Measured& measured) const;
  void write() const;

  Machine machine_;
  std::string json_path_;
  std::vector<Measured> measured_;
  std::vector<LeftOut> left_out_;
  std::set<std::string> notes_;
  bool good_ = true;
};

}  // namespace sluice::bench
