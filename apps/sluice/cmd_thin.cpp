// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "common_options.hpp"
#include "grid_options.hpp"
#include "inputs.hpp"
#include "job.hpp"
#include "numbers.hpp"
#include "outputs.hpp"
#include "result.hpp"
#include "selection_options.hpp"
#include "sluice/io/pcd.hpp"
#include "sluice/operations.hpp"
#include "usage_error.hpp"

namespace sluice::app {

namespace {

struct Options {
  std::vector<std::string> inputs;
  std::string output, keep = "first", max_per_cell;
  std::vector<std::string> attributes;
  GridChoice grid;
  SelectionOptions selection;
  CommonOptions common;
};

using kernels::KeepPolicy;

constexpr std::array<std::pair<std::string_view, KeepPolicy>, 7> kPolicies = {{
    {"first", KeepPolicy::kFirst},
    {"center", KeepPolicy::kCenter},
    {"centroid", KeepPolicy::kCentroid},
    {"nearest-centroid", KeepPolicy::kNearestCentroid},
    {"lowest", KeepPolicy::kLowest},
    {"highest", KeepPolicy::kHighest},
    {"random", KeepPolicy::kRandom},
}};

constexpr std::array<std::pair<std::string_view, AttributeRule>, 4> kRules = {{
    {"mean", AttributeRule::kMean},
    {"min", AttributeRule::kMin},
    {"max", AttributeRule::kMax},
    {"mode", AttributeRule::kMode},
}};

template <typename Table>
auto choice_of(const Table& table, std::string_view name, std::string_view option) {
  std::string names;
  for (const auto& [known, value] : table) {
    if (known == name) return value;
    names += (names.empty() ? "" : ", ") + std::string(known);
  }
  throw UsageError(fmt::format("{}: {} is none of {}", option, in_quotes(name), names));
}

ThinOptions thin_options(const Options& options) {
  ThinOptions thin;
  thin.grid = options.grid.build();
  thin.policy = choice_of(kPolicies, options.keep, "--keep");
  thin.seed = options.selection.seed();
  if (!options.max_per_cell.empty()) {
    thin.max_per_cell = static_cast<std::uint32_t>(
        parse_whole(options.max_per_cell, "--max-per-cell", 1, std::numeric_limits<std::uint32_t>::max()));
  }
  if (thin.policy == KeepPolicy::kCentroid && thin.max_per_cell > 1) {
    throw UsageError("--max-per-cell: --keep centroid makes one point per cell");
  }
  for (const std::string& text : options.attributes) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) {
      throw UsageError(fmt::format("--attribute: {} is not FIELD=RULE", in_quotes(text)));
    }
    thin.attributes.push_back(
        {text.substr(0, equals), choice_of(kRules, std::string_view(text).substr(equals + 1), "--attribute")});
  }
  if (!thin.attributes.empty() && thin.policy != KeepPolicy::kCentroid) {
    throw UsageError("--attribute concerns --keep centroid only; the other points keep their own attributes");
  }
  return thin;
}

void require_fields(const ThinOptions& thin, const Schema& schema) {
  for (const AttributeChoice& choice : thin.attributes) {
    if (schema.find(choice.field) != nullptr) continue;
    std::string known;
    for (const Field& field : schema.fields) known += (known.empty() ? "" : ", ") + field.name;
    throw UsageError(fmt::format("--attribute: there is no field {}; fields are {}", in_quotes(choice.field), known));
  }
}

int run(const Options& options) {
  JobFrame job(options.common, options.inputs, options.output);
  const ThinOptions thin_choice = thin_options(options);
  const Selection selection = options.selection.build();
  const std::vector<std::string> outputs = {options.output};
  Inputs inputs = job.open(outputs, {}, options.selection.files());
  options.selection.check(inputs.layout());
  require_fields(thin_choice, inputs.layout().schema);
  options.grid.check(thin_choice.grid, inputs.layout());
  Outputs files(options.common.write_options());
  ChunkSink& kept = job.add_points(files, inputs, options.output, io::without_rows(inputs.layout()));
  const auto work = [&](const Execution& execution) {
    return thin(inputs.pointers(), selection, thin_choice, kept, execution);
  };
  if (options.common.dry_run()) {
    job.rehearse(inputs, work);
    print_plan(options.common, inputs, files.paths(), "thin");
    return exit_status(inputs);
  }

  Report report = job.run(inputs, work);
  finish_job(options.common, options.inputs, files, std::move(report));
  return exit_status(inputs);
}

}  // namespace

DeclaredCommand declare_thin(CLI::App& program) {
  CLI::App* command = program.add_subcommand("thin", "Keep at most so many points of each cell of a grid");
  auto options = std::make_shared<Options>();
  add_files(*command, options->inputs, "IN", "point files, in the order of the output; - is standard input");
  add_single(*command, "-o,--output", options->output, "OUT", "the points that stay; - is standard output")->required();
  options->grid.add_to(*command);
  add_single(*command, "--keep", options->keep, "RULE",
             "first, center, centroid, nearest-centroid, lowest, highest or random (first)")
      ->group("Cells");
  add_single(*command, "--max-per-cell", options->max_per_cell, "K", "most points of a cell (1)")->group("Cells");
  add_repeated(*command, "--attribute", options->attributes, "FIELD=RULE",
               "attribute of a centroid: mean, min, max or mode of its cell")
      ->group("Cells");
  options->selection.add_to(*command);
  options->common.add_to(*command, {});
  return {command, [options] { return run(*options); }};
}

}  // namespace sluice::app
