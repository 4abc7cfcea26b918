// SPDX-License-Identifier: Apache-2.0
#include "job.hpp"

#include <utility>

#include "messages.hpp"
#include "outputs.hpp"
#include "usage_error.hpp"

namespace sluice::app {

JobFrame::JobFrame(const CommonOptions& common, std::vector<std::string> inputs, const std::string& output)
    : common_(common), inputs_(std::move(inputs)), execution_(common.execution()), bar_(common.progress()) {
  set_quiet(common.quiet());
  common.check_format_options();
  if (output == "-" && common.json()) {
    throw UsageError("-o -: points and the result of --json cannot both go to standard output");
  }
}

Inputs JobFrame::open(const std::vector<std::string>& points, const std::vector<std::string>& tables) const {
  check_outputs(inputs_, points, tables, common_.overwrite());
  return open_inputs(inputs_, common_.recover());
}

Report JobFrame::run(const Inputs& inputs, const std::function<Report(const Execution&)>& job) {
  execution_.progress = bar_.callback();
  Report report = job(execution_);
  bar_.clear();
  report.warnings.insert(report.warnings.begin(), inputs.warnings.begin(), inputs.warnings.end());
  return report;
}

}  // namespace sluice::app
