// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "common_options.hpp"
#include "copy_points.hpp"
#include "inputs.hpp"
#include "job.hpp"
#include "numbers.hpp"
#include "outputs.hpp"
#include "result.hpp"
#include "selection_options.hpp"
#include "sluice/io/convert.hpp"
#include "sluice/operations.hpp"
#include "usage_error.hpp"

namespace sluice::app {

namespace {

struct Options {
  std::string input, output, point_format, version, scale, offset, data;
  bool strict = false;
  CommonOptions common;
};

io::ConvertTarget target_of(const Options& options) {
  io::ConvertTarget target;
  target.path = options.output;
  target.data = options.data;
  target.strict = options.strict;
  if (!options.point_format.empty()) {
    target.las.point_format = static_cast<int>(parse_whole(options.point_format, "--point-format", 0, 10));
  }
  if (!options.version.empty()) target.las.version_minor = parse_las_version(options.version);
  if (!options.scale.empty()) target.las.scale = parse_scale(options.scale);
  if (!options.offset.empty()) target.las.offset = parse_axes(options.offset, "--offset");
  return target;
}

/// \throws UsageError, InputError naming the options that together cannot be had
std::shared_ptr<const io::RecordConverter> converter_of(const Options& options, const io::ConvertTarget& target,
                                                        const Inputs& inputs, const Execution& execution) {
  std::string given;
  for (const auto& [name, value] : {std::pair{"--point-format", options.point_format},
                                    {"--las-version", options.version},
                                    {"--scale", options.scale},
                                    {"--offset", options.offset},
                                    {"--data", options.data}}) {
    if (!value.empty()) given += fmt::format("{}{} {}", given.empty() ? "" : " ", name, value);
  }
  if (options.strict) given += given.empty() ? "--strict" : " --strict";
  if (given.empty()) given = "convert";
  const std::vector<ChunkSource*> sources = inputs.pointers();
  try {
    return io::make_converter(inputs.layout(), target, [&] { return io::summarize(sources, execution.threads); });
  } catch (const InvalidArgument& error) {
    throw UsageError(fmt::format("{}: {}", given, error.what()));
  } catch (const Unsupported& error) {
    throw InputError(fmt::format("{}: {}", given, error.what()));
  }
}

int run(const Options& options) {
  JobFrame job(options.common, {options.input}, options.output);
  const io::ConvertTarget target = target_of(options);
  const std::vector<std::string> outputs = {options.output};
  Inputs inputs = job.open(outputs, {}, {});
  const std::shared_ptr<const io::RecordConverter> converter = converter_of(options, target, inputs, job.execution());
  Outputs files(options.common.write_options());
  ChunkSink& sink = files.add_points(options.output, converter);
  const bool drops_nonfinite = converter->info().frame.kind == CoordinateKind::kLattice &&
                               inputs.layout().frame.kind != CoordinateKind::kLattice;
  const auto work = [&](const Execution& execution) {
    if (!drops_nonfinite) return copy_points(*inputs.sources.front(), sink, execution);
    Execution on_cpu = execution;
    on_cpu.backend = "cpu";
    return filter(inputs.pointers(), Selection{}, sink, nullptr, on_cpu);
  };
  if (options.common.dry_run()) {
    job.rehearse(inputs, work);
    for (const std::string& warning : converter->warnings()) inputs.warnings.push_back(warning);
    print_plan(options.common, inputs, files.paths(), "convert");
    return exit_status(inputs);
  }

  Report report = job.run(inputs, work);
  report.backend_reason = "conversion runs on the CPU";
  finish_job(options.common, {options.input}, files, std::move(report));
  return exit_status(inputs);
}

}  // namespace

DeclaredCommand declare_convert(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("convert", "Change the format, and of LAS the version, point format, scale and offset");
  auto options = std::make_shared<Options>();
  add_single(*command, "IN", options->input, "", "point file; - is standard input")->required();
  add_single(*command, "-o,--output", options->output, "OUT", "the converted file; - is standard output")->required();
  const std::string group = "Target (what is not given stays)";
  add_single(*command, "--point-format", options->point_format, "N", "point format, 0 to 10")->group(group);
  add_single(*command, "--las-version", options->version, "1.x", "version of the file, 1.0 to 1.5")->group(group);
  add_single(*command, "--scale", options->scale, "S|SX,SY,SZ", "step of the coordinates")->group(group);
  add_single(*command, "--offset", options->offset, "O|OX,OY,OZ", "offset of the coordinates")->group(group);
  add_single(*command, "--data", options->data, "KIND",
             "PCD: ascii, binary, binary_compressed; PLY: ascii, binary_little_endian, binary_big_endian")
      ->group(group);
  command->add_flag("--strict", options->strict, "an error, not a warning, where something would be lost")
      ->group(group);
  options->common.add_to(*command, {.backend = false, .inputs = true});
  return {command, [options] { return run(*options); }};
}

}  // namespace sluice::app
