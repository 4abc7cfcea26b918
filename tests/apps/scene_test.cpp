// SPDX-License-Identifier: Apache-2.0
#include "synth/scene.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "sluice/core/error.hpp"
#include "synth/scene_math.hpp"

namespace sluice::synth {
namespace {

/// All records of a scene, read in chunks of one size.
std::vector<std::byte> records_of(ChunkSource& scene, std::uint64_t chunk) {
  std::vector<std::byte> out;
  RecordBuffer buffer;
  ChunkRange range;
  scene.rewind();
  while (scene.next(chunk, range)) {
    EXPECT_LE(range.count, chunk);
    const PointView view = scene.load(range, buffer);
    out.insert(out.end(), view.records, view.records + view.count * view.stride);
    scene.release(range);
  }
  return out;
}

class Scenes : public testing::TestWithParam<SceneKind> {};

TEST_P(Scenes, DoNotDependOnChunks) {
  for (const std::uint64_t points : {0, 1, 2, 777, 20000}) {
    SceneOptions options{.kind = GetParam(), .points = points, .seed = 5, .version_minor = {}, .scale = {}};
    const auto scene = make_scene(options);
    EXPECT_EQ(scene->info().point_count, points);
    const std::vector<std::byte> whole = records_of(*scene, 1 << 20);
    ASSERT_EQ(whole.size(), points * scene->info().schema.record_bytes);
    for (const std::uint64_t chunk : {1, 97, 4096}) {
      if (chunk == 1 && points > 1000) continue;
      EXPECT_EQ(records_of(*scene, chunk), whole) << chunk;
    }
    EXPECT_EQ(records_of(*make_scene(options), 1000), whole);
  }
}

TEST_P(Scenes, ChunksMayBeLoadedInAnyOrder) {
  const auto scene = make_scene({.kind = GetParam(), .points = 5000, .seed = 1, .version_minor = {}, .scale = {}});
  const std::vector<std::byte> whole = records_of(*scene, 5000);
  const std::uint64_t stride = scene->info().schema.record_bytes;
  RecordBuffer buffer;
  for (const std::uint64_t first : {4000, 10, 2500, 0}) {
    const PointView view = scene->load({first, 1000, 0}, buffer);
    EXPECT_TRUE(std::equal(view.records, view.records + 1000 * stride, whole.data() + first * stride));
  }
}

TEST_P(Scenes, SeedsDiffer) {
  const auto one = make_scene({.kind = GetParam(), .points = 1000, .seed = 1, .version_minor = {}, .scale = {}});
  const auto two = make_scene({.kind = GetParam(), .points = 1000, .seed = 2, .version_minor = {}, .scale = {}});
  EXPECT_NE(records_of(*one, 1000), records_of(*two, 1000));
}

TEST_P(Scenes, EveryPointFormatHoldsThem) {
  for (int format = 0; format <= 10; ++format) {
    const auto scene = make_scene(
        {.kind = GetParam(), .points = 500, .seed = 3, .point_format = format, .version_minor = {}, .scale = {}});
    const std::vector<std::byte> records = records_of(*scene, 500);
    const Schema& schema = scene->info().schema;
    const Column returns = schema.find("number_of_returns")->column(records.data(), schema.record_bytes);
    const Column number = schema.find("return_number")->column(records.data(), schema.record_bytes);
    for (std::uint64_t row = 0; row < 500; ++row) {
      EXPECT_GE(number.at(row).u, 1U);
      EXPECT_LE(number.at(row).u, returns.at(row).u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Scenes, testing::Values(SceneKind::kAirborne, SceneKind::kSpinning, SceneKind::kUniform),
                         [](const testing::TestParamInfo<SceneKind>& kind) -> std::string {
                           return kind.param == SceneKind::kAirborne   ? "Airborne"
                                  : kind.param == SceneKind::kSpinning ? "Spinning"
                                                                       : "Uniform";
                         });

TEST(AirborneScene, PulsesAreWholeAndTimeNeverFalls) {
  const auto scene =
      make_scene({.kind = SceneKind::kAirborne, .points = 30000, .seed = 7, .version_minor = {}, .scale = {}});
  const std::vector<std::byte> records = records_of(*scene, 30000);
  const Schema& schema = scene->info().schema;
  const auto column = [&](const char* name) { return schema.find(name)->column(records.data(), schema.record_bytes); };
  const Column returns = column("number_of_returns");
  const Column number = column("return_number");
  const Column time = column("gps_time");
  const Column z = column("z");
  std::uint64_t most = 0;
  for (std::uint64_t row = 0; row < 30000;) {
    const std::uint64_t count = returns.at(row).u;
    ASSERT_LE(row + count, 30000U) << "the last pulse is cut, its number of returns is not";
    for (std::uint64_t i = 0; i < count; ++i) {
      EXPECT_EQ(number.at(row + i).u, i + 1);
      EXPECT_EQ(returns.at(row + i).u, count);
      EXPECT_EQ(time.at(row + i).r, time.at(row).r);
      if (i > 0) {
        EXPECT_LE(z.at(row + i).i, z.at(row + i - 1).i) << "later returns come from below";
      }
    }
    row += count;
    most = std::max(most, count);
    if (row < 30000) {
      EXPECT_GT(time.at(row).r, time.at(row - 1).r);
    }
  }
  EXPECT_GE(most, 3U);
}

TEST(SpinningScene, HasTheBeamsThatWereAskedFor) {
  for (const int beams : {64, 128}) {
    const auto scene = make_scene(
        {.kind = SceneKind::kSpinning, .points = 60000, .seed = 7, .version_minor = {}, .scale = {}, .beams = beams});
    const std::vector<std::byte> records = records_of(*scene, 60000);
    const Schema& schema = scene->info().schema;
    ASSERT_NE(schema.find("ring"), nullptr);
    const Column ring = schema.find("ring")->column(records.data(), schema.record_bytes);
    std::vector<std::uint64_t> count(256, 0);
    for (std::uint64_t row = 0; row < 60000; ++row) ++count[ring.at(row).u];
    for (std::size_t beam = static_cast<std::size_t>(beams); beam < 256; ++beam) EXPECT_EQ(count[beam], 0U);
    EXPECT_GT(count[0], 0U);
    EXPECT_GT(count[static_cast<std::size_t>(beams - 1)], 0U);
  }
}

TEST(SceneMath, AgreesWithTheLibrary) {
  for (double degrees = -720.0; degrees <= 720.0; degrees += 0.37) {
    const SinCos made = sin_cos_degrees(degrees);
    EXPECT_NEAR(made.sin, std::sin(degrees / kDegrees), 2e-14) << degrees;
    EXPECT_NEAR(made.cos, std::cos(degrees / kDegrees), 2e-14) << degrees;
  }
  for (double slope = -0.69; slope < 0.7; slope += 0.01) {
    EXPECT_NEAR(arc_tangent_degrees(slope), std::atan(slope) * kDegrees, 1e-4) << slope;
  }
}

TEST(SceneOptions, NonsenseIsRefused) {
  EXPECT_THROW(
      (void)make_scene({.kind = SceneKind::kSpinning, .points = 1, .version_minor = {}, .scale = {}, .beams = 32}),
      InvalidArgument);
  EXPECT_THROW((void)make_scene({.points = 1, .point_format = 11, .version_minor = {}, .scale = {}}), InvalidArgument);
  const auto fine =
      make_scene({.points = 100, .version_minor = {}, .scale = std::array<double, 3>{1e-12, 1e-12, 1e-12}});
  RecordBuffer buffer;
  EXPECT_THROW((void)fine->load({0, 100, 0}, buffer), Unsupported);
}

}  // namespace
}  // namespace sluice::synth
