// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "engine/backends.hpp"
#include "engine/clouds.hpp"
#include "engine/streams.hpp"
#include "sluice/sluice.hpp"

namespace sluice {
namespace {

using test::CheckedSink;
using test::Dice;
using test::make_lattice;
using test::PiecewiseSource;
using test::RawPoint;
using test::Sabotage;
using testing::HasSubstr;

PointCloud random_cloud(std::uint64_t seed, int count, std::uint64_t first_id = 0) {
  Dice dice(seed);
  std::vector<RawPoint> points;
  for (int i = 0; i < count; ++i) {
    RawPoint p;
    for (std::int32_t& x : p) x = static_cast<std::int32_t>(dice.between(-1000, 1000));
    points.push_back(p);
  }
  return make_lattice(points, {}, first_id);
}

Selection half() {
  Selection out;
  Box box;
  box.min[0] = 0;
  out.regions.emplace_back(box);
  out.where.push_back(parse_where("intensity < 900"));
  return out;
}

struct Outcome {
  Report report;
  std::vector<std::byte> kept;
  std::vector<std::byte> rejected;
};

Outcome run_filter(std::vector<ChunkSource*> sources, const Selection& selection, const Execution& execution) {
  const std::uint64_t bytes = sources.front()->info().schema.record_bytes;
  CheckedSink kept(bytes);
  CheckedSink rejected(bytes);
  Outcome out;
  out.report = filter(sources, selection, kept, &rejected, execution);
  out.kept = kept.records();
  out.rejected = rejected.records();
  return out;
}

/// What a plain loop does with `kept_by_rest`, the points that everything but `every` keeps.
void expect_split(const PointCloud& cloud, const Outcome& out, std::uint64_t every) {
  const std::uint32_t bytes = cloud.info().schema.record_bytes;
  std::vector<std::byte> kept;
  std::vector<std::byte> rejected;
  std::uint64_t passed = 0;
  for (std::uint64_t i = 0; i < cloud.count(); ++i) {
    const auto id = test::get_field<std::uint32_t>(cloud, "id", i);
    const bool inside = test::get_field<std::int32_t>(cloud, "x", i) >= 0 && test::intensity_of(id) < 900;
    const bool stays = inside && passed++ % every == 0;
    std::vector<std::byte>& to = stays ? kept : rejected;
    const auto from = cloud.records().begin() + static_cast<std::ptrdiff_t>(i * bytes);
    to.insert(to.end(), from, from + bytes);
  }
  EXPECT_EQ(out.kept, kept);
  EXPECT_EQ(out.rejected, rejected);
  EXPECT_EQ(out.report.points_read, cloud.count());
  EXPECT_EQ(out.report.points_written * bytes, kept.size());
  EXPECT_EQ(out.report.points_rejected * bytes, rejected.size());
}

class Filter : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] Execution execution() const {
    Execution out;
    out.backend = GetParam();
    out.threads = 2;
    return out;
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, Filter, testing::ValuesIn(test::backend_names()), test::backend_label);

TEST_P(Filter, DoesNotDependOnChunksThreadsOrPadding) {
  const PointCloud cloud = random_cloud(1, 1500);
  for (const std::uint64_t every : {1U, 2U, 13U}) {
    Selection selection = half();
    selection.every = every;
    for (const std::uint64_t chunk : {1U, 2U, 31U, 256U, 1499U, 1500U, 1501U, 1000000U}) {
      for (const int threads : {1, 2, 8}) {
        PiecewiseSource source(cloud, chunk % 2 == 0 ? 0 : 5);
        source.most_per_chunk = chunk == 256 ? 100 : 0;
        Execution in_chunks = execution();
        in_chunks.chunk_points = chunk;
        in_chunks.threads = threads;
        const Outcome out = run_filter({&source}, selection, in_chunks);
        expect_split(cloud, out, every);
        EXPECT_LE(source.largest_asked, chunk);
        EXPECT_EQ(source.released, cloud.count());
        EXPECT_GE(out.report.threads, 1);
        EXPECT_LE(out.report.threads, threads);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(Filter, TakesSeveralSourcesInOrder) {
  std::vector<std::unique_ptr<PiecewiseSource>> sources;
  std::vector<ChunkSource*> pointers;
  std::vector<std::byte> all;
  std::uint64_t first = 0;
  for (const int count : {700, 0, 1, 1300}) {
    const PointCloud cloud = random_cloud(first + 3, count, first);
    all.insert(all.end(), cloud.records().begin(), cloud.records().end());
    first += static_cast<std::uint64_t>(count);
    sources.push_back(std::make_unique<PiecewiseSource>(cloud));
    pointers.push_back(sources.back().get());
  }
  const PointCloud joined(random_cloud(1, 1).info(), all);
  for (const std::uint64_t chunk : {17U, 700U, 100000U}) {
    Selection selection = half();
    selection.every = 3;
    Execution in_chunks = execution();
    in_chunks.chunk_points = chunk;
    expect_split(joined, run_filter(pointers, selection, in_chunks), 3);
    // Random choices go by the index in all of the input.
    selection.fraction = 0.5;
    PiecewiseSource whole(joined);
    EXPECT_EQ(run_filter(pointers, selection, in_chunks).kept, run_filter({&whole}, selection, in_chunks).kept);
  }
}

TEST_P(Filter, LeavesNonFinitePointsOutOfBothOutputs) {
  const double nan = std::nan("");
  const PointCloud cloud = test::make_world(CoordinateKind::kFloat64, {{1, 0, 0}, {nan, 0, 0}, {-1, 0, 0}, {0, 0, 0}});
  for (const bool invert : {false, true}) {
    PiecewiseSource source(cloud);
    Selection selection;
    Box box;
    box.min[0] = 0.5;
    selection.regions.emplace_back(box);
    selection.invert = invert;
    selection.drop_zero = true;
    const Outcome out = run_filter({&source}, selection, execution());
    EXPECT_EQ(out.report.points_written, 1U);
    EXPECT_EQ(out.report.points_rejected, 1U);
    EXPECT_EQ(out.report.points_nonfinite, 2U);
    EXPECT_EQ(out.kept.size(), cloud.info().schema.record_bytes);
    EXPECT_EQ(out.rejected.size(), cloud.info().schema.record_bytes);
  }
}

TEST_P(Filter, LeavesPlacesWithoutCoordinatesWherePointsKeepTheirPlaces) {
  for (const CoordinateKind kind : {CoordinateKind::kFloat32, CoordinateKind::kFloat64}) {
    std::vector<test::WorldPoint> points;
    for (int i = 0; i < 30000; ++i) points.push_back({i % 7 == 0 ? std::nan("") : i % 5 - 2.0, 1.0, -1.0 * i});
    const PointCloud cloud = test::make_world(kind, points);
    const std::uint32_t bytes = cloud.info().schema.record_bytes;
    for (const std::uint64_t every : {1, 3}) {
      PiecewiseSource source(cloud, 3);
      source.most_per_chunk = 9999;
      Selection selection;
      Box box;
      box.min[0] = 0;
      selection.regions.emplace_back(box);
      selection.every = every;
      CheckedSink kept(bytes);
      CheckedSink rejected(bytes);
      ChunkSource* const sources[] = {&source};
      const Report report = filter(sources, selection, kept, &rejected, execution(), {.keep_places = true});
      ASSERT_EQ(kept.records().size(), cloud.records().size());
      EXPECT_EQ(report.points_read, report.points_written + report.points_rejected + report.points_nonfinite);
      EXPECT_EQ(rejected.records().size(), report.points_rejected * bytes);
      // The same records, without the coordinates of those that were not kept.
      std::vector<std::byte> wanted = cloud.records();
      std::uint64_t passed = 0;
      std::uint64_t written = 0;
      for (std::size_t i = 0; i < points.size(); ++i) {
        if (points[i][0] >= 0 && passed++ % every == 0) {
          ++written;
          continue;
        }
        for (const std::uint32_t at : cloud.info().frame.at) {
          std::byte* value = wanted.data() + i * bytes + at;
          if (kind == CoordinateKind::kFloat32) {
            store_unaligned(value, std::numeric_limits<float>::quiet_NaN());
          } else {
            store_unaligned(value, std::numeric_limits<double>::quiet_NaN());
          }
        }
      }
      EXPECT_EQ(report.points_written, written);
      EXPECT_TRUE(kept.records() == wanted);
    }
  }
  const PointCloud lattice = random_cloud(1, 10);
  PiecewiseSource one(lattice);
  PiecewiseSource two(lattice);
  CheckedSink sink(lattice.info().schema.record_bytes);
  ChunkSource* const integers[] = {&one};
  ChunkSource* const several[] = {&one, &two};
  EXPECT_THROW((void)filter(integers, {}, sink, nullptr, execution(), {.keep_places = true}), InvalidArgument);
  EXPECT_THROW((void)filter(several, {}, sink, nullptr, execution(), {.keep_places = true}), InvalidArgument);
}

TEST_P(Filter, WorksWithinATightMemoryLimitAndRefusesLess) {
  const PointCloud cloud = random_cloud(4, 30000);
  Execution tight = execution();
  tight.threads = 8;
  tight.memory_bytes = 1000;
  PiecewiseSource source(cloud);
  std::uint64_t needed = 0;
  try {
    (void)run_filter({&source}, half(), tight);
    FAIL() << "nothing was refused";
  } catch (const OutOfMemory& error) {
    needed = error.bytes();
    EXPECT_EQ(error.limit(), 1000U);
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(needed) + " bytes"));
    EXPECT_THAT(error.what(), HasSubstr("the limit is 1000 bytes"));
  }
  EXPECT_EQ(source.loads, 0U);
  tight.memory_bytes = needed;
  expect_split(cloud, run_filter({&source}, half(), tight), 1);
  EXPECT_LE(source.largest_asked, 4096U);
  tight.memory_bytes = needed - 1;
  EXPECT_THROW((void)run_filter({&source}, half(), tight), OutOfMemory);
}

TEST_P(Filter, StopsWhenAskedTo) {
  const PointCloud cloud = random_cloud(5, 20000);
  for (const int asked : {1, 5, 50}) {
    PiecewiseSource source(cloud);
    Execution watched = execution();
    watched.chunk_points = 100;
    std::atomic<int> questions{0};
    watched.cancelled = [&] { return ++questions >= asked; };
    EXPECT_THROW((void)run_filter({&source}, half(), watched), Cancelled);
    EXPECT_LT(source.loads, 100U);
    CheckedSink sink(cloud.info().schema.record_bytes);
    ChunkSource* const sources[] = {&source};
    questions = asked;
    EXPECT_THROW((void)thin(sources, {}, ThinOptions{}, sink, watched), Cancelled);
    EXPECT_THROW((void)bin(sources, {}, BinOptions{}, sink, watched), Cancelled);
  }
}

TEST_P(Filter, TellsProgressThatGrowsAndEndsWithAll) {
  const PointCloud cloud = random_cloud(6, 20000);
  Execution watched = execution();
  watched.threads = 8;
  watched.chunk_points = 50;
  std::vector<std::uint64_t> told;
  std::atomic<int> at_once{0};
  watched.progress = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_EQ(++at_once, 1);
    EXPECT_EQ(total, 20000U);
    told.push_back(done);
    --at_once;
  };
  PiecewiseSource source(cloud);
  (void)run_filter({&source}, half(), watched);
  const auto expect_complete = [&] {
    ASSERT_FALSE(told.empty());
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_EQ(told.back(), 20000U);
    told.clear();
  };
  expect_complete();
  Selection some;
  some.every = 3;
  (void)thin(cloud, some, ThinOptions{}, watched);
  expect_complete();
  (void)bin(cloud, {}, BinOptions{}, watched);
  expect_complete();
}

TEST_P(Filter, RefusesSourcesThatDifferByName) {
  const PointCloud cloud = random_cloud(7, 10);
  const auto refusal = [&](auto change) -> std::string {
    PiecewiseSource first(cloud);
    first.mutable_info().name = "first.las";
    PiecewiseSource same(cloud);
    same.mutable_info().name = "same.las";
    PiecewiseSource other(cloud);
    other.mutable_info().name = "other.las";
    change(other.mutable_info());
    CheckedSink sink(cloud.info().schema.record_bytes);
    ChunkSource* const sources[] = {&first, &same, &other};
    std::string message;
    try {
      (void)filter(sources, {}, sink, nullptr, execution());
    } catch (const InvalidArgument& error) {
      message = error.what();
    }
    EXPECT_THROW((void)thin(sources, {}, ThinOptions{}, sink, execution()), InvalidArgument);
    EXPECT_THROW((void)bin(sources, {}, BinOptions{}, sink, execution()), InvalidArgument);
    return message;
  };
  EXPECT_THAT(refusal([](CloudInfo& info) { info.frame.scale[1] = 0.5; }),
              HasSubstr("other.las differs from first.las"));
  EXPECT_THAT(refusal([](CloudInfo& info) { info.frame.scale[1] = 0.5; }), HasSubstr("the scale of y"));
  EXPECT_THAT(refusal([](CloudInfo& info) { info.frame.offset[2] = 0.5; }), HasSubstr("the offset of z"));
  EXPECT_THAT(refusal([](CloudInfo& info) { info.frame.kind = CoordinateKind::kFloat32; }), HasSubstr("the type of"));
  EXPECT_THAT(refusal([](CloudInfo& info) { info.schema.record_bytes += 1; }), HasSubstr("the length of"));
  EXPECT_THAT(refusal([](CloudInfo& info) { info.schema.fields.pop_back(); }), HasSubstr("the number of fields"));
  EXPECT_THAT(refusal([](CloudInfo& info) { info.schema.fields[5].bit_count = 4; }), HasSubstr("'return_number'"));
  CheckedSink sink(cloud.info().schema.record_bytes);
  EXPECT_THROW((void)filter({}, {}, sink, nullptr, execution()), InvalidArgument);
}

TEST_P(Filter, EndsWithTheErrorOfASource) {
  const PointCloud cloud = random_cloud(8, 5000);
  for (const std::uint64_t at : {1U, 2U, 17U, 50U}) {
    PiecewiseSource source(cloud);
    source.fail_at_load = at;
    source.most_per_chunk = 100;
    Execution many = execution();
    many.threads = 8;
    EXPECT_THROW((void)run_filter({&source}, half(), many), Sabotage) << at;
    source.loads = 0;
    CheckedSink sink(cloud.info().schema.record_bytes);
    ChunkSource* const sources[] = {&source};
    EXPECT_THROW((void)thin(sources, {}, ThinOptions{}, sink, many), Sabotage) << at;
    source.loads = 0;
    EXPECT_THROW((void)bin(sources, {}, BinOptions{}, sink, many), Sabotage) << at;
  }
}

TEST_P(Filter, EndsWithTheErrorOfASink) {
  const PointCloud cloud = random_cloud(9, 50000);
  for (const std::uint64_t at : {1U, 2U, 5U}) {
    PiecewiseSource source(cloud);
    ChunkSource* const sources[] = {&source};
    Execution many = execution();
    many.threads = 8;
    many.chunk_points = 100;
    for (const bool into_rejected : {false, true}) {
      CheckedSink kept(cloud.info().schema.record_bytes);
      CheckedSink rejected(cloud.info().schema.record_bytes);
      (into_rejected ? rejected : kept).fail_at_store = at;
      EXPECT_THROW((void)filter(sources, half(), kept, &rejected, many), Sabotage) << at;
    }
    CheckedSink thinned(cloud.info().schema.record_bytes);
    thinned.fail_at_store = at;
    ThinOptions fine;
    fine.grid.size = {0.01, 0.01, 0.01};
    EXPECT_THROW((void)thin(sources, {}, fine, thinned, many), Sabotage) << at;
    CheckedSink binned(cloud.info().schema.record_bytes);
    binned.fail_at_store = at;
    EXPECT_THROW((void)bin(sources, {}, BinOptions{}, binned, many), Sabotage) << at;
  }
}

TEST_P(Filter, RefusesOptionsThatMakeNoSenseBeforeItReads) {
  PiecewiseSource source(random_cloud(10, 10));
  Selection none = half();
  none.every = 0;
  EXPECT_THROW((void)run_filter({&source}, none, execution()), InvalidArgument);
  Selection unknown;
  unknown.where.push_back(parse_where("colour == 1"));
  EXPECT_THROW((void)run_filter({&source}, unknown, execution()), InvalidArgument);
  Execution wrong = execution();
  wrong.threads = -1;
  EXPECT_THROW((void)run_filter({&source}, half(), wrong), InvalidArgument);
  EXPECT_EQ(source.loads, 0U);
}

// ---- what holds all points

TEST_P(Filter, ThinAndBinTakeSourcesOfAnyShape) {
  const PointCloud cloud = random_cloud(11, 3000);
  const std::uint32_t bytes = cloud.info().schema.record_bytes;
  std::vector<std::byte> first(cloud.records().begin(), cloud.records().begin() + 1000 * bytes);
  std::vector<std::byte> second(cloud.records().begin() + 1000 * bytes, cloud.records().end());
  ThinOptions centroid;
  centroid.policy = kernels::KeepPolicy::kCentroid;
  for (const std::uint64_t every : {1U, 3U}) {
    Selection selection = half();
    selection.every = every;
    const CloudResult thinned = thin(cloud, selection, ThinOptions{}, execution());
    const CloudResult averaged = thin(cloud, selection, centroid, execution());
    const CloudResult binned = bin(cloud, selection, BinOptions{}, execution());
    for (const std::uint64_t padding : {0U, 3U}) {
      for (const bool split : {false, true}) {
        for (const std::uint64_t piece : {0U, 7U}) {
          PiecewiseSource whole(cloud, padding);
          PiecewiseSource a(PointCloud(cloud.info(), first), padding);
          PiecewiseSource b(PointCloud(cloud.info(), second), padding);
          whole.most_per_chunk = a.most_per_chunk = b.most_per_chunk = piece;
          std::vector<ChunkSource*> sources;
          if (split) {
            sources = {&a, &b};
          } else {
            sources = {&whole};
          }
          CheckedSink one(bytes);
          const Report report = thin(sources, selection, ThinOptions{}, one, execution());
          EXPECT_EQ(one.records(), thinned.cloud.records());
          EXPECT_EQ(report.points_merged, thinned.report.points_merged);
          CheckedSink two(bytes);
          (void)thin(sources, selection, centroid, two, execution());
          EXPECT_EQ(two.records(), averaged.cloud.records());
          CheckedSink three(bytes);
          (void)bin(sources, selection, BinOptions{}, three, execution());
          EXPECT_EQ(three.records(), binned.cloud.records());
        }
      }
    }
  }
}

TEST_P(Filter, ThinAndBinSayHowMuchMemoryTheyNeed) {
  const PointCloud cloud = random_cloud(12, 20000);
  Execution tight = execution();
  tight.memory_bytes = 5000;
  for (const bool thins : {true, false}) {
    PiecewiseSource source(cloud);
    ChunkSource* const sources[] = {&source};
    CheckedSink sink(cloud.info().schema.record_bytes);
    try {
      if (thins) {
        (void)thin(sources, {}, ThinOptions{}, sink, tight);
      } else {
        (void)bin(sources, {}, BinOptions{}, sink, tight);
      }
      FAIL() << "nothing was refused";
    } catch (const OutOfMemory& error) {
      EXPECT_GE(error.bytes(), cloud.records().size());
      EXPECT_EQ(error.limit(), 5000U);
      EXPECT_THAT(error.what(), HasSubstr("20000 points"));
    }
    EXPECT_EQ(source.loads, 0U);
    // What it asks for is enough; another backend may ask for more than the one that stands by.
    Execution enough = tight;
    bool done = false;
    for (int attempt = 0; attempt < 3 && !done; ++attempt) {
      CheckedSink whole(cloud.info().schema.record_bytes);
      try {
        const Report report =
            thins ? thin(sources, {}, ThinOptions{}, whole, enough) : bin(sources, {}, BinOptions{}, whole, enough);
        EXPECT_EQ(report.points_read, 20000U);
        EXPECT_EQ(whole.records().size(), report.points_written * cloud.info().schema.record_bytes);
        EXPECT_GT(attempt, 0);
        done = true;
      } catch (const OutOfMemory& error) {
        EXPECT_GT(error.bytes(), enough.memory_bytes);
        enough.memory_bytes = error.bytes();
      }
    }
    EXPECT_TRUE(done);
  }
}

}  // namespace
}  // namespace sluice
