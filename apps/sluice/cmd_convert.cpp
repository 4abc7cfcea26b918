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
#include "sluice/io/las_convert.hpp"
#include "usage_error.hpp"

namespace sluice::app {

namespace {

struct Options {
  std::string input, output, point_format, version, scale, offset;
  bool strict = false;
  CommonOptions common;
};

io::LasTarget target_of(const Options& options) {
  io::LasTarget target;
  target.strict = options.strict;
  if (!options.point_format.empty()) {
    target.point_format = static_cast<int>(parse_whole(options.point_format, "--point-format", 0, 10));
  }
  if (!options.version.empty()) target.version_minor = parse_las_version(options.version);
  if (!options.scale.empty()) target.scale = parse_scale(options.scale);
  if (!options.offset.empty()) target.offset = parse_axes(options.offset, "--offset");
  return target;
}

/// \throws UsageError, InputError naming the options that together cannot be had
io::LasConverter converter_of(const Options& options, const io::LasTarget& target, const CloudInfo& layout) {
  std::string given;
  for (const auto& [name, value] : {std::pair{"--point-format", options.point_format},
                                    {"--las-version", options.version},
                                    {"--scale", options.scale},
                                    {"--offset", options.offset}}) {
    if (!value.empty()) given += fmt::format("{}{} {}", given.empty() ? "" : " ", name, value);
  }
  if (options.strict) given += given.empty() ? "--strict" : " --strict";
  try {
    return {layout, target};
  } catch (const InvalidArgument& error) {
    throw UsageError(fmt::format("{}: {}", given, error.what()));
  } catch (const Unsupported& error) {
    throw InputError(fmt::format("{}: {}", given, error.what()));
  }
}

int run(const Options& options) {
  JobFrame job(options.common, {options.input}, options.output);
  const io::LasTarget target = target_of(options);
  const std::vector<std::string> outputs = {options.output};
  Inputs inputs = job.open(outputs, {}, {});
  const io::LasConverter converter = converter_of(options, target, inputs.layout());
  Outputs files(options.common.write_options());
  ChunkSink& sink = files.add_points(options.output, converter.info());
  const RecordTransform transform = [&converter](const PointView& in, std::uint64_t first, std::byte* out) {
    converter.convert(in, first, out);
  };
  const auto work = [&](const Execution& execution) {
    return copy_points(*inputs.sources.front(), sink, transform, converter.info().schema.record_bytes, execution);
  };
  if (options.common.dry_run()) {
    job.rehearse(inputs, work);
    for (const std::string& warning : converter.warnings()) inputs.warnings.push_back(warning);
    print_plan(options.common, inputs, files.paths(), "convert");
    return exit_status(inputs);
  }

  Report report = job.run(inputs, work);
  report.backend_reason = "conversion runs on the CPU";
  for (const std::string& warning : converter.warnings()) report.warnings.push_back(warning);
  finish_job(options.common, {options.input}, files, std::move(report));
  return exit_status(inputs);
}

}  // namespace

DeclaredCommand declare_convert(CLI::App& program) {
  CLI::App* command = program.add_subcommand("convert", "Change LAS version, point format, scale and offset");
  auto options = std::make_shared<Options>();
  add_single(*command, "IN", options->input, "", "point file; - is standard input")->required();
  add_single(*command, "-o,--output", options->output, "OUT", "the converted file; - is standard output")->required();
  const std::string group = "Target (what is not given stays)";
  add_single(*command, "--point-format", options->point_format, "N", "point format, 0 to 10")->group(group);
  add_single(*command, "--las-version", options->version, "1.x", "version of the file, 1.0 to 1.5")->group(group);
  add_single(*command, "--scale", options->scale, "S|SX,SY,SZ", "step of the coordinates")->group(group);
  add_single(*command, "--offset", options->offset, "O|OX,OY,OZ", "offset of the coordinates")->group(group);
  command->add_flag("--strict", options->strict, "an error, not a warning, where something would be lost")
      ->group(group);
  options->common.add_to(*command, {.backend = false, .inputs = true});
  return {command, [options] { return run(*options); }};
}

}  // namespace sluice::app
