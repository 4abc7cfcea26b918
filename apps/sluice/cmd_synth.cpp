// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "common_options.hpp"
#include "inputs.hpp"
#include "job.hpp"
#include "json_text.hpp"
#include "numbers.hpp"
#include "outputs.hpp"
#include "result.hpp"
#include "selection_options.hpp"
#include "sluice/io/convert.hpp"
#include "synth/scene.hpp"
#include "usage_error.hpp"

namespace sluice::app {

namespace {

struct Options {
  std::string kind, points, seed, output, point_format, version, scale, beams;
  CommonOptions common;
};

synth::SceneOptions scene_of(const Options& options) {
  synth::SceneOptions scene;
  if (options.kind == "airborne") {
    scene.kind = synth::SceneKind::kAirborne;
  } else if (options.kind == "spinning") {
    scene.kind = synth::SceneKind::kSpinning;
  } else if (options.kind == "uniform") {
    scene.kind = synth::SceneKind::kUniform;
  } else {
    throw UsageError(fmt::format("{} is none of airborne, spinning, uniform", in_quotes(options.kind)));
  }
  // Keeps sums of bytes within 64 bits.
  constexpr std::uint64_t kMostPoints = std::uint64_t{1} << 48;
  scene.points = parse_whole(options.points, "--points", 0, kMostPoints);
  if (!options.seed.empty()) {
    scene.seed = parse_whole(options.seed, "--seed", 0, std::numeric_limits<std::uint64_t>::max());
  }
  if (!options.point_format.empty()) {
    scene.point_format = static_cast<int>(parse_whole(options.point_format, "--point-format", 0, 10));
  }
  if (!options.version.empty()) scene.version_minor = parse_las_version(options.version);
  if (!options.scale.empty()) scene.scale = parse_scale(options.scale);
  if (!options.beams.empty()) {
    if (scene.kind != synth::SceneKind::kSpinning) throw UsageError("--beams concerns spinning scenes only");
    if (options.beams != "64" && options.beams != "128") {
      throw UsageError(fmt::format("--beams: {} is neither 64 nor 128", in_quotes(options.beams)));
    }
    scene.beams = options.beams == "64" ? 64 : 128;
  }
  return scene;
}

void print_scene_plan(const CommonOptions& common, const synth::Scene& scene, const std::string& output) {
  const std::uint64_t points = scene.info().point_count;
  if (common.json()) {
    Json out;
    out["dry_run"] = true;
    out["points"] = points;
    out["bytes"] = scene.las_bytes();
    out["backend"] = "cpu";
    out["inputs"] = Json::array();
    out["outputs"] = {output};
    out["warnings"] = Json::array();
    print_result(json_text(out));
  } else if (!common.quiet()) {
    print_result(fmt::format("synth: {} of {} points to {}, {} bytes as LAS; backend cpu; nothing was written\n",
                             scene.info().name, points, output, scene.las_bytes()));
  }
}

/// Refuses what writing the scene would refuse before its first point.
void check_scene(const synth::Scene& scene, ChunkSink& sink, Execution execution) {
  execution.cancelled = [] { return true; };
  try {
    (void)scene.write(sink, execution);
  } catch (const Cancelled&) {
    // As asked.
  }
}

int run(const Options& options) {
  JobFrame job(options.common, {}, options.output);
  const synth::Scene scene(scene_of(options));
  options.common.check_format_options({options.output}, scene.info());
  check_outputs({}, {options.output}, {}, options.common.overwrite());
  Outputs files(options.common.write_options());
  ChunkSink& sink =
      io::keeps_format(scene.info(), options.output)
          ? files.add_points(options.output, scene.info())
          : files.add_points(options.output, io::make_converter(scene.info(), {.path = options.output}, {}));
  if (options.common.dry_run()) {
    check_scene(scene, sink, job.execution());
    print_scene_plan(options.common, scene, options.output);
    return 0;
  }

  const Inputs none;
  Report report = job.run(none, [&](const Execution& execution) { return scene.write(sink, execution); });
  report.backend_reason = "scenes are made on the CPU";
  finish_job(options.common, {}, files, std::move(report));
  return 0;
}

}  // namespace

DeclaredCommand declare_synth(CLI::App& program) {
  CLI::App* command = program.add_subcommand("synth", "Make a scene from a seed");
  auto options = std::make_shared<Options>();
  add_single(*command, "kind", options->kind, "KIND", "airborne, spinning or uniform")->required();
  add_single(*command, "-o,--output", options->output, "OUT", "the scene; - is standard output")->required();
  const std::string group = "Scene";
  add_single(*command, "--points", options->points, "N", "points, exactly")->required()->group(group);
  add_single(*command, "--seed", options->seed, "N", "another seed is another scene (0)")->group(group);
  add_single(*command, "--point-format", options->point_format, "N", "LAS point format, 0 to 10 (6)")->group(group);
  add_single(*command, "--las-version", options->version, "1.x", "LAS version (the oldest that suits the format)")
      ->group(group);
  add_single(*command, "--scale", options->scale, "S|SX,SY,SZ", "step of the coordinates (0.001)")->group(group);
  add_single(*command, "--beams", options->beams, "64|128", "beams of the spinning sensor (64)")->group(group);
  options->common.add_to(*command, {.backend = false, .inputs = false});
  return {command, [options] { return run(*options); }};
}

}  // namespace sluice::app
