// SPDX-License-Identifier: Apache-2.0
/// \file
/// Options of every command that reads points and writes points.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "sluice/execution.hpp"
#include "sluice/io/write.hpp"

namespace sluice::app {

enum class ProgressMode : std::uint8_t { kAuto, kAlways, kNever };

class CommonOptions {
 public:
  /// Which of the options a command has.
  struct Parts {
    bool backend = true;  ///< --backend, --device
    bool inputs = true;   ///< --recover, --fields
  };
  void add_to(CLI::App& command, Parts parts);
  /// \throws UsageError
  [[nodiscard]] Execution execution() const;
  /// \throws UsageError
  [[nodiscard]] ProgressMode progress() const;
  /// Refuses options that concern formats which none of the outputs has.
  /// \param layout  of the points, which tells what standard output will be
  /// \throws UsageError
  void check_format_options(const std::vector<std::string>& outputs, const CloudInfo& layout) const;
  /// \throws UsageError
  [[nodiscard]] io::WriteOptions write_options() const;

  [[nodiscard]] bool json() const { return json_; }
  [[nodiscard]] bool quiet() const { return quiet_; }
  [[nodiscard]] bool overwrite() const { return overwrite_; }
  [[nodiscard]] bool dry_run() const { return dry_run_; }
  [[nodiscard]] bool recover() const { return recover_; }
  /// Names of the columns of the inputs; empty where nothing was said.
  [[nodiscard]] std::vector<std::string> fields() const;
  /// The backend as asked for; "auto" where nothing was said, "cpu" where the command has no other.
  [[nodiscard]] std::string backend() const;

 private:
  std::string backend_, threads_, memory_, device_, progress_ = "auto", chunk_size_, fields_;
  bool has_backend_ = false;
  bool json_ = false, quiet_ = false, overwrite_ = false, dry_run_ = false, recover_ = false;
};

/// The parts of `--fields`.
/// \throws UsageError where one is empty
[[nodiscard]] std::vector<std::string> parse_fields(const std::string& text);

/// Threads that `--threads` means; all that the process may run on where nothing was said.
/// \throws UsageError
[[nodiscard]] int parse_threads(const std::string& text);

}  // namespace sluice::app
