// SPDX-License-Identifier: Apache-2.0
#include "scene.hpp"

#include <string>

#include "makers.hpp"
#include "record_writer.hpp"
#include "scene_stream.hpp"
#include "sluice/core/error.hpp"
#include "sluice/io/las.hpp"

namespace sluice::synth {

Scene::Scene(const SceneOptions& options) {
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
  std::string name;
  switch (options.kind) {
    case SceneKind::kAirborne: {
      const int most_class = format > 5 ? 255 : 31;
      make_maker_ = [points, seed, most_class] { return make_airborne(points, seed, most_class); };
      name = "airborne scene";
      break;
    }
    case SceneKind::kSpinning: {
      const int beams = options.beams;
      make_maker_ = [points, seed, beams] { return make_spinning(points, seed, beams); };
      name = "spinning scene";
      break;
    }
    case SceneKind::kUniform:
      make_maker_ = [seed] { return make_uniform(seed); };
      name = "uniform scene";
      break;
  }
  info_ = io::make_las_info(layout);
  info_.name = name;
  info_.point_count = points;
  require_room(info_.frame, make_maker_()->extent());
}

std::uint64_t Scene::las_bytes() const {
  const auto& las = dynamic_cast<const io::LasMetadata&>(*info_.metadata);
  return las.header.offset_to_points + info_.point_count * info_.schema.record_bytes;
}

Report Scene::write(ChunkSink& sink, const Execution& execution) const {
  return stream_scene(info_, make_maker_, sink, execution);
}

}  // namespace sluice::synth
