// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>
#include <span>
#include <string>
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
  std::string output, order = "row-major", cells;
  GridChoice grid;
  SelectionOptions selection;
  CommonOptions common;
};

CellOrder parse_order(const std::string& name) {
  if (name == "row-major") return CellOrder::kRowMajor;
  if (name == "morton") return CellOrder::kMorton;
  if (name == "hilbert") return CellOrder::kHilbert;
  throw UsageError(fmt::format("--order: {} is none of row-major, morton, hilbert", in_quotes(name)));
}

int run(const Options& options) {
  JobFrame job(options.common, options.inputs, options.output);
  BinOptions bin_choice;
  bin_choice.grid = options.grid.build();
  bin_choice.order = parse_order(options.order);
  const Selection selection = options.selection.build();
  const std::vector<std::string> outputs = {options.output};
  std::vector<std::string> tables;
  if (!options.cells.empty()) tables.push_back(options.cells);
  Inputs inputs = job.open(outputs, tables, options.selection.files());
  options.selection.check(inputs.layout());
  options.grid.check(bin_choice.grid, inputs.layout());
  Outputs files(options.common.write_options());
  ChunkSink& kept = job.add_points(files, inputs, options.output, io::without_rows(inputs.layout()));
  if (!options.cells.empty()) {
    CellTable& table = files.add_table(options.cells);
    bin_choice.cells = [&table](std::span<const CellRow> rows) { table.add(rows); };
  }
  const auto work = [&](const Execution& execution) {
    return bin(inputs.pointers(), selection, bin_choice, kept, execution);
  };
  if (options.common.dry_run()) {
    job.rehearse(inputs, work);
    print_plan(options.common, inputs, files.paths(), "bin");
    return exit_status(inputs);
  }

  Report report = job.run(inputs, work);
  finish_job(options.common, options.inputs, files, std::move(report), true);
  return exit_status(inputs);
}

}  // namespace

DeclaredCommand declare_bin(CLI::App& program) {
  CLI::App* command = program.add_subcommand("bin", "Order the points by the cells of a grid");
  auto options = std::make_shared<Options>();
  add_files(*command, options->inputs, "IN", "point files, in the order of the output; - is standard input");
  add_single(*command, "-o,--output", options->output, "OUT", "the points cell by cell; - is standard output")
      ->required();
  options->grid.add_to(*command);
  add_single(*command, "--order", options->order, "ORDER", "row-major, morton or hilbert (row-major)")->group("Cells");
  add_single(*command, "--cells", options->cells, "TABLE.csv", "a row ix,iy,iz,first,count for each occupied cell")
      ->group("Cells");
  options->selection.add_to(*command);
  options->common.add_to(*command, {});
  return {command, [options] { return run(*options); }};
}

}  // namespace sluice::app
