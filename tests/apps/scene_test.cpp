// SPDX-License-Identifier: Apache-2.0
#include "synth/scene.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sluice/core/error.hpp"
#include "sluice/core/random.hpp"
#include "sluice/io/write.hpp"
#include "synth/makers.hpp"
#include "synth/scene_math.hpp"

namespace sluice::synth {
namespace {

constexpr SceneKind kKinds[] = {SceneKind::kAirborne, SceneKind::kSpinning, SceneKind::kUniform};

/// Holds the records; every place must be stored once.
class Records final : public ChunkSink {
 public:
  explicit Records(const Scene& scene) : stride_(scene.info().schema.record_bytes) {}

  std::uint64_t reserve(std::uint64_t count) override {
    const std::uint64_t first = stored_.size();
    stored_.resize(first + count, false);
    bytes.resize(stored_.size() * stride_);
    return first;
  }
  void store(std::uint64_t first, const PointView& view) override {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(view.stride, stride_);
    ASSERT_LE(first + view.count, stored_.size());
    for (std::uint64_t i = 0; i < view.count; ++i) {
      EXPECT_FALSE(stored_[first + i]);
      stored_[first + i] = true;
    }
    std::copy_n(view.records, view.count * stride_, bytes.data() + first * stride_);
  }
  void seal() override { EXPECT_EQ(std::count(stored_.begin(), stored_.end(), false), 0); }
  void finish() override {}
  [[nodiscard]] std::uint64_t count() const override { return stored_.size(); }
  [[nodiscard]] std::vector<std::string> warnings() const override { return {}; }

  std::vector<std::byte> bytes;

 private:
  std::uint64_t stride_;
  std::mutex mutex_;
  std::vector<bool> stored_;
};

std::vector<std::byte> records_of(const Scene& scene, int threads = 1, std::uint64_t memory = 0) {
  Records sink(scene);
  Execution execution;
  execution.threads = threads;
  execution.memory_bytes = memory;
  const Report report = scene.write(sink, execution);
  sink.seal();
  EXPECT_EQ(report.points_written, scene.info().point_count);
  EXPECT_EQ(sink.count(), scene.info().point_count);
  return std::move(sink.bytes);
}

/// Memory that one thread needs at least.
std::uint64_t least_memory(const Scene& scene) {
  Records sink(scene);
  Execution execution;
  execution.memory_bytes = 1;
  try {
    (void)scene.write(sink, execution);
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(sink.count(), 0U);
    return error.bytes();
  }
  ADD_FAILURE() << "one byte was enough";
  return 0;
}

/// Returns of a pulse follow each other, are numbered and know how many they are, also where the scene ends.
void expect_whole_pulses(const Scene& scene, const std::vector<std::byte>& records) {
  const Schema& schema = scene.info().schema;
  const auto column = [&](const char* name) { return schema.find(name)->column(records.data(), schema.record_bytes); };
  const Column returns = column("number_of_returns");
  const Column number = column("return_number");
  const Column time = column("gps_time");
  const Column z = column("z");
  const std::uint64_t points = scene.info().point_count;
  for (std::uint64_t row = 0; row < points;) {
    const std::uint64_t count = returns.at(row).u;
    ASSERT_GE(count, 1U);
    ASSERT_LE(row + count, points) << "the last pulse is cut, its number of returns is not";
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_EQ(number.at(row + i).u, i + 1);
      ASSERT_EQ(returns.at(row + i).u, count);
      ASSERT_EQ(time.at(row + i).r, time.at(row).r);
      if (i > 0) {
        ASSERT_LE(z.at(row + i).i, z.at(row + i - 1).i) << "later returns come from below";
      }
    }
    row += count;
    if (row < points) {
      // Beams of a spinning sensor fire at once.
      ASSERT_GE(time.at(row).r, time.at(row - 1).r);
    }
  }
}

class Scenes : public testing::TestWithParam<SceneKind> {
 protected:
  static Scene scene(std::uint64_t points, std::uint64_t seed = 5) {
    return Scene({.kind = GetParam(), .points = points, .seed = seed, .version_minor = {}, .scale = {}});
  }
};

TEST_P(Scenes, DoNotDependOnThreadsOrMemory) {
  for (const std::uint64_t points : {0, 1, 2, 777, 20000, 100000}) {
    const std::vector<std::byte> whole = records_of(scene(points));
    const std::uint64_t least = least_memory(scene(points));
    EXPECT_EQ(records_of(scene(points), 2), whole);
    EXPECT_EQ(records_of(scene(points), 8), whole);
    EXPECT_EQ(records_of(scene(points), 1, least), whole);
    EXPECT_EQ(records_of(scene(points), 3, least), whole);
    EXPECT_EQ(records_of(scene(points), 2, 5 * least), whole);
  }
}

TEST_P(Scenes, HaveAsManyPointsAsAskedFor) {
  std::vector<std::uint64_t> counts;
  for (std::uint64_t points = 0; points < 150; ++points) counts.push_back(points);
  // Blocks and parcels of uniform scenes.
  for (const std::uint64_t edge : {4096, 8192, 32768, 65536}) counts.insert(counts.end(), {edge - 1, edge, edge + 1});
  for (const std::uint64_t points : counts) {
    const Scene made = scene(points);
    const std::vector<std::byte> records = records_of(made, 2);
    ASSERT_EQ(records.size(), points * made.info().schema.record_bytes);
    ASSERT_NO_FATAL_FAILURE(expect_whole_pulses(made, records)) << points;
  }
}

TEST_P(Scenes, AreMadeWhileTheyAreWritten) {
  /// Counts what is stored.
  class Counter final : public ChunkSink {
   public:
    std::uint64_t reserve(std::uint64_t count) override {
      reserved += count;
      return 0;
    }
    void store(std::uint64_t /*first*/, const PointView& view) override { stored += view.count; }
    void seal() override {}
    void finish() override {}
    [[nodiscard]] std::uint64_t count() const override { return stored; }
    [[nodiscard]] std::vector<std::string> warnings() const override { return {}; }
    std::uint64_t reserved = 0;
    std::atomic<std::uint64_t> stored{0};
  };
  constexpr std::uint64_t kMany = 10'000'000'000'000;
  Counter sink;
  Execution execution;
  execution.threads = 2;
  execution.cancelled = [&sink] { return sink.stored > 100000; };
  EXPECT_THROW((void)scene(kMany).write(sink, execution), Cancelled);
  EXPECT_EQ(sink.reserved, kMany);
  EXPECT_LT(sink.stored, 1000000U) << "more than the parcels in flight were made after the end";
}

TEST_P(Scenes, SeedsDiffer) { EXPECT_NE(records_of(scene(1000, 1)), records_of(scene(1000, 2))); }

TEST_P(Scenes, EveryPointFormatHoldsThem) {
  for (int format = 0; format <= 10; ++format) {
    const Scene made(
        {.kind = GetParam(), .points = 500, .seed = 3, .point_format = format, .version_minor = {}, .scale = {}});
    const std::vector<std::byte> records = records_of(made);
    const Schema& schema = made.info().schema;
    const Column returns = schema.find("number_of_returns")->column(records.data(), schema.record_bytes);
    const Column number = schema.find("return_number")->column(records.data(), schema.record_bytes);
    for (std::uint64_t row = 0; row < 500; ++row) {
      EXPECT_GE(number.at(row).u, 1U);
      EXPECT_LE(number.at(row).u, returns.at(row).u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Scenes, testing::ValuesIn(kKinds),
                         [](const testing::TestParamInfo<SceneKind>& kind) -> std::string {
                           return kind.param == SceneKind::kAirborne   ? "Airborne"
                                  : kind.param == SceneKind::kSpinning ? "Spinning"
                                                                       : "Uniform";
                         });

// Not so airborne ones, whose extent depends on their number of points.
TEST(SpinningAndUniformScenes, StartWhereLargerOnesStart) {
  for (const SceneKind kind : {SceneKind::kSpinning, SceneKind::kUniform}) {
    const auto records = [kind](std::uint64_t points) {
      return records_of(Scene({.kind = kind, .points = points, .seed = 5, .version_minor = {}, .scale = {}}));
    };
    const std::vector<std::byte> whole = records(40000);
    for (const std::uint64_t points : {1, 63, 64, 65, 2399, 4095, 4096, 4097, 39999}) {
      const std::vector<std::byte> part = records(points);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin())) << points;
    }
  }
}

TEST(AirborneScene, HasPulsesOfSeveralReturnsOneAfterTheOther) {
  const Scene scene({.kind = SceneKind::kAirborne, .points = 30000, .seed = 7, .version_minor = {}, .scale = {}});
  const std::vector<std::byte> records = records_of(scene);
  const Schema& schema = scene.info().schema;
  const Column returns = schema.find("number_of_returns")->column(records.data(), schema.record_bytes);
  const Column number = schema.find("return_number")->column(records.data(), schema.record_bytes);
  const Column time = schema.find("gps_time")->column(records.data(), schema.record_bytes);
  std::uint64_t most = 0;
  for (std::uint64_t row = 0; row < 30000; ++row) {
    most = std::max(most, returns.at(row).u);
    if (row > 0 && number.at(row).u == 1) {
      EXPECT_GT(time.at(row).r, time.at(row - 1).r);
    }
  }
  EXPECT_GE(most, 3U);
  EXPECT_LE(most, 5U);
}

/// No point of these blocks leaves the extent, no block is larger than it may be.
void expect_bounds(BlockMaker& maker, const std::vector<std::uint64_t>& blocks) {
  const Extent extent = maker.extent();
  std::vector<Sample> samples;
  for (const std::uint64_t block : blocks) {
    maker.make(block, ~std::uint64_t{0}, samples);
    ASSERT_FALSE(samples.empty());
    ASSERT_LE(samples.size(), maker.most_points());
    for (const Sample& sample : samples) {
      const double at[3] = {sample.x, sample.y, sample.z};
      for (int d = 0; d < 3; ++d) {
        ASSERT_GE(at[d], extent.min[d]) << "axis " << d << ", block " << block;
        ASSERT_LE(at[d], extent.max[d]) << "axis " << d << ", block " << block;
      }
    }
  }
}

TEST(SceneBlocks, StayWithinTheExtent) {
  for (const std::uint64_t points : {1ULL, 100ULL, 1000000ULL, 10000000000000ULL}) {
    // Also blocks far behind the end: lines are flown again, the car turns back.
    std::vector<std::uint64_t> blocks;
    for (std::uint64_t i = 0; i < 200; ++i) blocks.push_back(i < 50 ? i : counter_random(1, i) % (4 * points));
    for (const std::uint64_t seed : {1, 2, 3}) {
      ASSERT_NO_FATAL_FAILURE(expect_bounds(*make_airborne(points, seed, 255), blocks)) << points;
      ASSERT_NO_FATAL_FAILURE(expect_bounds(*make_uniform(seed), blocks)) << points;
    }
  }
}

TEST(SceneBlocks, OfASpinningSensorStayWithinTheExtent) {
  for (const int beams : {64, 128}) {
    for (const std::uint64_t seed : {1, 2}) {
      constexpr std::uint64_t kPoints = 500000;
      const auto maker = make_spinning(kPoints, seed, beams);
      std::vector<std::uint64_t> blocks;
      std::uint64_t made = 0;
      for (std::vector<Sample> samples; made < kPoints; made += samples.size()) {
        maker->make(blocks.size(), ~std::uint64_t{0}, samples);
        blocks.push_back(blocks.size());
      }
      ASSERT_NO_FATAL_FAILURE(expect_bounds(*maker, blocks));
      // The whole street, and back.
      std::vector<std::uint64_t> far;
      for (std::uint64_t i = 0; i < 100; ++i) far.push_back(i * 1000003);
      ASSERT_NO_FATAL_FAILURE(expect_bounds(*make_spinning(10000000000000, seed, beams), far));
    }
  }
}

TEST(SpinningScene, HasTheBeamsThatWereAskedFor) {
  for (const int beams : {64, 128}) {
    const Scene scene(
        {.kind = SceneKind::kSpinning, .points = 60000, .seed = 7, .version_minor = {}, .scale = {}, .beams = beams});
    const std::vector<std::byte> records = records_of(scene);
    const Schema& schema = scene.info().schema;
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
  EXPECT_THROW(Scene({.kind = SceneKind::kSpinning, .points = 1, .version_minor = {}, .scale = {}, .beams = 32}),
               InvalidArgument);
  EXPECT_THROW(Scene({.points = 1, .point_format = 11, .version_minor = {}, .scale = {}}), InvalidArgument);
}

TEST(SceneOptions, AScaleMustReachTheWholeScene) {
  for (const SceneKind kind : kKinds) {
    const auto fits = [kind](std::uint64_t points, double scale) {
      try {
        (void)Scene({.kind = kind, .points = points, .version_minor = {}, .scale = std::array{scale, scale, scale}});
        return true;
      } catch (const Unsupported&) {
        return false;
      }
    };
    EXPECT_FALSE(fits(100, 1e-12));
    EXPECT_TRUE(fits(100, 1e-6));
    EXPECT_TRUE(fits(10'000'000'000'000, 0.001));
    EXPECT_EQ(fits(std::uint64_t{1} << 48, 0.001), kind != SceneKind::kAirborne);
  }
}

TEST(SceneOptions, AFileThatCannotHoldSoManyPointsIsRefusedAtOnce) {
  const Scene scene({.points = std::uint64_t{1} << 33, .point_format = 0, .version_minor = {}, .scale = {}});
  const auto sink = io::create_sink("-", scene.info(), {});
  EXPECT_THROW((void)scene.write(*sink, {}), Unsupported);
  EXPECT_EQ(sink->count(), 0U);
}

}  // namespace
}  // namespace sluice::synth
