// SPDX-License-Identifier: Apache-2.0
// Frames of a sensor in memory, as a robot has them: ten times the same work with one plan, and a worker whose memory
// is reused. A point is 16 bytes: float x, y, z, intensity.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

#include "sluice/core/random.hpp"
#include "sluice/kernels/registry.hpp"
#include "sluice/sluice.hpp"

namespace {

struct Point {
  float x, y, z, intensity;
};

sluice::CloudInfo layout() {
  sluice::CloudInfo info;
  info.name = "frame";
  info.schema.record_bytes = sizeof(Point);
  std::uint32_t offset = 0;
  for (const char* name : {"x", "y", "z", "intensity"}) {
    sluice::Field field;
    field.name = name;
    field.type = sluice::FieldType::kFloat32;
    field.offset = offset;
    info.schema.fields.push_back(std::move(field));
    offset += 4;
  }
  info.frame.kind = sluice::CoordinateKind::kFloat32;
  for (std::uint32_t d = 0; d < 3; ++d) info.frame.at[d] = 4 * d;
  return info;
}

std::vector<Point> make_frame(std::uint64_t number, std::size_t points) {
  std::vector<Point> frame(points);
  for (std::size_t i = 0; i < points; ++i) {
    const auto at = [&](std::uint64_t axis, float edge) {
      const std::uint64_t bits = sluice::counter_random(number * 4 + axis, i);
      return (static_cast<float>(bits >> 40) / 16777216.0F - 0.5F) * edge;
    };
    frame[i] = Point{at(0, 100.0F), at(1, 100.0F), at(2, 4.0F), at(3, 1.0F)};
  }
  return frame;
}

}  // namespace

int main() {
  try {
    constexpr std::size_t kPoints = 100000;
    sluice::Selection selection;
    selection.regions.emplace_back(sluice::RangeRing{.min = 1.5, .max = 40.0, .center = {0.0, 0.0, 0.0}});
    sluice::ThinOptions options;
    options.grid.size = {0.5, 0.5, 0.5};
    options.policy = sluice::kernels::KeepPolicy::kNearestCentroid;

    const auto plan = sluice::Plan::thin(layout(), selection, options);
    sluice::Worker worker(plan, sluice::kernels::make_backend("cpu"), kPoints);
    for (std::uint64_t number = 0; number < 10; ++number) {
      const std::vector<Point> frame = make_frame(number, kPoints);
      const sluice::PointView view{reinterpret_cast<const std::byte*>(frame.data()), frame.size(), sizeof(Point)};
      const auto result = worker.run(view);
      std::printf("frame %llu: %zu of %zu points stay, %llu cells\n", static_cast<unsigned long long>(number),
                  result.indices.size(), frame.size(), static_cast<unsigned long long>(result.cells));
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
