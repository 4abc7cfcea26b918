// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "common_options.hpp"
#include "inputs.hpp"
#include "job.hpp"
#include "outputs.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "selection_options.hpp"
#include "sluice/io/pcd.hpp"
#include "sluice/operations.hpp"
#include "usage_error.hpp"

namespace sluice::app {

namespace {

struct Options {
  std::vector<std::string> inputs;
  std::string output, rejected;
  SelectionOptions selection;
  bool keep_organized = false;
  CommonOptions common;
};

void check_organized(const Options& options, const CloudInfo& layout) {
  if (options.inputs.size() != 1) throw UsageError("--keep-organized: only one input can keep its rows");
  if (!io::is_organized(layout)) {
    throw UsageError(fmt::format("--keep-organized: {} is no organized cloud", options.inputs.front()));
  }
}

int run(const Options& options) {
  JobFrame job(options.common, options.inputs, options.output);
  const Selection selection = options.selection.build();
  std::vector<std::string> outputs = {options.output};
  if (!options.rejected.empty()) outputs.push_back(options.rejected);
  Inputs inputs = job.open(outputs, {}, options.selection.files());
  options.selection.check(inputs.layout());
  if (options.keep_organized) check_organized(options, inputs.layout());
  Outputs files(options.common.write_options());
  // Several clouds have no rows in common.
  const CloudInfo like = options.inputs.size() == 1 ? inputs.layout() : io::without_rows(inputs.layout());
  ChunkSink& kept = job.add_points(files, inputs, options.output, like);
  ChunkSink* rejected =
      options.rejected.empty() ? nullptr : &job.add_points(files, inputs, options.rejected, io::without_rows(like));
  const auto work = [&](const Execution& execution) {
    return filter(inputs.pointers(), selection, kept, rejected, execution, {.keep_places = options.keep_organized});
  };
  if (options.common.dry_run()) {
    job.rehearse(inputs, work);
    print_plan(options.common, inputs, files.paths(), "filter");
    return exit_status(inputs);
  }

  Report report = job.run(inputs, work);
  finish_job(options.common, options.inputs, files, std::move(report));
  return exit_status(inputs);
}

}  // namespace

DeclaredCommand declare_filter(CLI::App& program) {
  CLI::App* command = program.add_subcommand("filter", "Keep the points in regions and with attributes");
  auto options = std::make_shared<Options>();
  add_files(*command, options->inputs, "IN", "point files, in the order of the output; - is standard input");
  add_single(*command, "-o,--output", options->output, "OUT", "the points that are kept; - is standard output")
      ->required();
  add_single(*command, "--rejected", options->rejected, "OUT2", "the points that are refused");
  command->add_flag("--keep-organized", options->keep_organized,
                    "an organized cloud keeps its rows; rejected points become NaN");
  options->selection.add_to(*command);
  options->common.add_to(*command, {});
  return {command, [options] { return run(*options); }};
}

}  // namespace sluice::app
