// SPDX-License-Identifier: Apache-2.0
#include "scene.hpp"

#include <string>
#include <utility>

#include "block_scene.hpp"
#include "makers.hpp"
#include "sluice/core/error.hpp"
#include "sluice/io/las.hpp"

namespace sluice::synth {

std::unique_ptr<ChunkSource> make_scene(const SceneOptions& options) {
  if (options.point_format < 0 || options.point_format > 10) {
    throw InvalidArgument("point format " + std::to_string(options.point_format) + " does not exist; 0 to 10 do");
  }
  if (options.kind == SceneKind::kSpinning && options.beams != 64 && options.beams != 128) {
    throw InvalidArgument("a spinning sensor has 64 or 128 beams");
  }
  const int format = options.point_format;
  io::LasLayout layout;
  layout.point_format = format;
  layout.version_minor = options.version_minor.value_or(format > 5 ? 4 : format > 3 ? 3 : 2);
  if (options.scale) layout.scale = *options.scale;
  layout.system_identifier = "sluice synth";
  if (options.kind == SceneKind::kAirborne) layout.offset = {kEasting, kNorthing, 0.0};
  if (options.kind == SceneKind::kSpinning) {
    layout.extra.push_back(
        {.name = "ring", .type = FieldType::kUint8, .description = "beam, 0 is the lowest", .scale = {}, .offset = {}});
  }

  const std::uint64_t points = options.points;
  const std::uint64_t seed = options.seed;
  std::function<std::unique_ptr<BlockMaker>()> make_maker;
  std::string name;
  switch (options.kind) {
    case SceneKind::kAirborne: {
      const int most_class = format > 5 ? 255 : 31;
      make_maker = [points, seed, most_class] { return make_airborne(points, seed, most_class); };
      name = "airborne scene";
      break;
    }
    case SceneKind::kSpinning: {
      const int beams = options.beams;
      make_maker = [seed, beams] { return make_spinning(seed, beams); };
      name = "spinning scene";
      break;
    }
    case SceneKind::kUniform:
      make_maker = [seed] { return make_uniform(seed); };
      name = "uniform scene";
      break;
  }
  CloudInfo info = io::make_las_info(layout);
  info.name = name;
  return std::make_unique<BlockScene>(std::move(info), points, std::move(make_maker));
}

}  // namespace sluice::synth
