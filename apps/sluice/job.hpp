// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the jobs over point files have in common.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common_options.hpp"
#include "inputs.hpp"
#include "outputs.hpp"
#include "progress.hpp"
#include "sluice/execution.hpp"
#include "sluice/report.hpp"

namespace sluice::app {

class JobFrame {
 public:
  /// Checks the common options.
  /// \throws UsageError
  JobFrame(const CommonOptions& common, std::vector<std::string> inputs, const std::string& output);

  /// Checks the outputs and opens the inputs.
  /// \param read_by_options  files that options read, which no output may replace either
  [[nodiscard]] Inputs open(const std::vector<std::string>& points, const std::vector<std::string>& tables,
                            const std::vector<std::string>& read_by_options) const;
  /// Starts an output of points like those of the inputs, in the format that its name asks for.
  /// \param like  layout of the points, which may have lost what the whole cloud had
  [[nodiscard]] ChunkSink& add_points(Outputs& files, const Inputs& inputs, const std::string& path,
                                      const CloudInfo& like) const;
  /// For `--dry-run`: runs a job until it would read the first point, so that it is refused where it would be refused.
  /// The inputs give no points afterwards.
  void rehearse(Inputs& inputs, const std::function<Report(const Execution&)>& job) const;
  /// Runs a job with progress; the report gets the inputs' warnings as well.
  [[nodiscard]] Report run(const Inputs& inputs, const std::function<Report(const Execution&)>& job);
  [[nodiscard]] const Execution& execution() const { return execution_; }

 private:
  void require_free_standard_output(const std::vector<std::string>& outputs) const;

  const CommonOptions& common_;
  std::vector<std::string> inputs_;
  Execution execution_;
  ProgressBar bar_;
};

}  // namespace sluice::app
