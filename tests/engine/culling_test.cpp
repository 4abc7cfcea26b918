// SPDX-License-Identifier: Apache-2.0
/// \file
/// Jobs over sources that know where their points are do what they do over sources that do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
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
using test::RawPoint;

constexpr std::uint64_t kBlock = 40;  ///< points whose bounds a source knows together

/// Points in clusters of kBlock, each within a cube of 1 m; the clusters anywhere in one of 20 m.
PointCloud clustered_cloud(std::uint64_t seed, std::uint64_t first_id = 0) {
  Dice dice(seed);
  std::vector<RawPoint> points;
  for (int cluster = 0; cluster < 50; ++cluster) {
    RawPoint corner;
    for (std::int32_t& x : corner) x = static_cast<std::int32_t>(dice.between(-1000, 900));
    for (std::uint64_t i = 0; i < kBlock; ++i) {
      RawPoint p = corner;
      for (std::int32_t& x : p) x += static_cast<std::int32_t>(dice.between(0, 100));
      points.push_back(p);
    }
  }
  return test::make_lattice(points, {}, first_id);
}

/// A source that leaves out blocks.
class BoundedSource final : public ChunkSource {
 public:
  explicit BoundedSource(PointCloud cloud) : cloud_(std::move(cloud)) {}

  [[nodiscard]] const CloudInfo& info() const override { return cloud_.info(); }
  bool next(std::uint64_t max_points, ChunkRange& range) override {
    while (at_ < cloud_.count() && at_ % kBlock == 0 && skips(at_ / kBlock)) at_ += kBlock;
    if (at_ >= cloud_.count()) return false;
    range = {at_, std::min(max_points, kBlock - at_ % kBlock), 0};
    at_ += range.count;
    handed_out += range.count;
    return true;
  }
  PointView load(const ChunkRange& range, RecordBuffer& /*buffer*/) override {
    const std::uint64_t bytes = info().schema.record_bytes;
    return {cloud_.records().data() + range.first * bytes, range.count, bytes};
  }
  std::uint64_t skip_unwanted(const std::function<bool(const Box&)>& wanted) override {
    pending_.clear();
    std::uint64_t left_out = 0;
    for (std::uint64_t block = 0; wanted && block * kBlock < cloud_.count(); ++block) {
      pending_.push_back(!wanted(bounds_of(block)));
      if (pending_.back()) left_out += kBlock;
    }
    return left_out;
  }
  void release(const ChunkRange& /*range*/) override {}
  [[nodiscard]] std::uint64_t chunk_bytes(std::uint64_t points) const override { return points; }
  void rewind() override {
    at_ = 0;
    skipped_ = pending_;
  }
  [[nodiscard]] bool is_restricted() {
    rewind();
    return !skipped_.empty();
  }

  std::uint64_t handed_out = 0;

 private:
  [[nodiscard]] bool skips(std::uint64_t block) const { return !skipped_.empty() && skipped_[block]; }
  [[nodiscard]] Box bounds_of(std::uint64_t block) const {
    Box box;
    std::fill_n(box.min, 3, kInfinity);
    std::fill_n(box.max, 3, -kInfinity);
    for (std::uint64_t i = block * kBlock; i < (block + 1) * kBlock; ++i) {
      Position p = load_position(cloud_.positions(), i);
      complete_world(cloud_.positions(), p);
      for (int d = 0; d < 3; ++d) {
        box.min[d] = std::min(box.min[d], p.world[d]);
        box.max[d] = std::max(box.max[d], p.world[d]);
      }
    }
    return box;
  }

  PointCloud cloud_;
  std::uint64_t at_ = 0;
  std::vector<bool> pending_, skipped_;
};

/// A job over sources, its output and its report.
struct Outcome {
  std::vector<std::byte> kept;
  Report report;
};
using Job = std::function<Report(std::span<ChunkSource* const>, ChunkSink&)>;

class Culling : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    execution_.backend = GetParam();
    execution_.threads = 2;
    execution_.chunk_points = 30;
  }

  /// Runs a job over two clouds that know their bounds, and compares with the same clouds without.
  void expect_same(const Job& job, bool leaves_out) {
    const PointCloud first = clustered_cloud(1);
    const PointCloud second = clustered_cloud(2, first.count());
    BoundedSource a(first);
    BoundedSource b(second);
    test::PiecewiseSource c(first);
    test::PiecewiseSource d(second);
    const Outcome fewer = run(job, {&a, &b});
    const Outcome all = run(job, {&c, &d});
    EXPECT_EQ(fewer.kept, all.kept);
    EXPECT_GT(fewer.kept.size(), 0U);
    EXPECT_EQ(fewer.report.points_read, all.report.points_read);
    EXPECT_EQ(fewer.report.points_written, all.report.points_written);
    EXPECT_EQ(fewer.report.points_rejected, all.report.points_rejected);
    EXPECT_EQ(fewer.report.points_nonfinite, all.report.points_nonfinite);
    EXPECT_EQ(fewer.report.points_merged, all.report.points_merged);
    EXPECT_EQ(fewer.report.cells, all.report.cells);
    EXPECT_EQ(fewer.report.key_bits, all.report.key_bits);
    const std::uint64_t total = first.count() + second.count();
    if (leaves_out) {
      EXPECT_LT(2 * (a.handed_out + b.handed_out), total);
    } else {
      EXPECT_EQ(a.handed_out + b.handed_out, total);
    }
    EXPECT_FALSE(a.is_restricted());
    EXPECT_FALSE(b.is_restricted());
  }
  static Outcome run(const Job& job, const std::vector<ChunkSource*>& sources) {
    CheckedSink sink(sources.front()->info().schema.record_bytes);
    Outcome out;
    out.report = job(sources, sink);
    out.kept = sink.records();
    return out;
  }

  [[nodiscard]] Job filtering(const Selection& selection) {
    return [=, this](auto sources, ChunkSink& sink) { return filter(sources, selection, sink, nullptr, execution_); };
  }
  [[nodiscard]] Job thinning(const Selection& selection, const ThinOptions& options) {
    return [=, this](auto sources, ChunkSink& sink) { return thin(sources, selection, options, sink, execution_); };
  }
  [[nodiscard]] Job binning(const Selection& selection, const BinOptions& options) {
    return [=, this](auto sources, ChunkSink& sink) { return bin(sources, selection, options, sink, execution_); };
  }

  Execution execution_;
};

INSTANTIATE_TEST_SUITE_P(Backends, Culling, testing::ValuesIn(test::backend_names()), test::backend_label);

/// A corner of the clouds.
Selection corner() {
  Selection out;
  out.regions.emplace_back(Box{{-10.0, -10.0, -10.0}, {0.0, 2.0, kInfinity}});
  out.regions.emplace_back(Sphere{{8.0, 8.0, 8.0}, 3.0});
  out.where.push_back(parse_where("intensity < 900"));
  return out;
}

TEST_P(Culling, Filter) {
  expect_same(filtering(corner()), true);
  Selection selection = corner();
  selection.every = 3;
  expect_same(filtering(selection), true);
  // By the number of a point in the whole input.
  selection.fraction = 0.5;
  selection.seed = 5;
  expect_same(filtering(selection), true);
}

TEST_P(Culling, FilterThatHasToSeeAll) {
  Selection selection = corner();
  selection.invert = true;
  expect_same(filtering(selection), false);
  selection = corner();
  selection.drop_zero = true;
  expect_same(filtering(selection), false);
  selection = corner();
  selection.regions.clear();
  expect_same(filtering(selection), false);
  const auto with_rejected = [&](auto sources, ChunkSink& sink) {
    CheckedSink kept(sources.front()->info().schema.record_bytes);
    return filter(sources, corner(), kept, &sink, execution_);
  };
  expect_same(with_rejected, false);
}

TEST_P(Culling, Thin) {
  using kernels::KeepPolicy;
  for (const KeepPolicy policy : {KeepPolicy::kFirst, KeepPolicy::kCenter, KeepPolicy::kCentroid,
                                  KeepPolicy::kNearestCentroid, KeepPolicy::kLowest, KeepPolicy::kRandom}) {
    ThinOptions options;
    options.policy = policy;
    options.seed = 3;
    // Random choices go by the number of a point.
    expect_same(thinning(corner(), options), policy != KeepPolicy::kRandom);
    if (policy != KeepPolicy::kCentroid) continue;
    options.attributes.push_back({"intensity", AttributeRule::kMean});
    expect_same(thinning(corner(), options), true);
  }
  ThinOptions options;
  options.grid.origin_at_minimum = true;
  expect_same(thinning(corner(), options), false);
  Selection selection = corner();
  selection.every = 3;
  expect_same(thinning(selection, {}), true);
  selection.fraction = 0.5;
  expect_same(thinning(selection, {}), false);
}

TEST_P(Culling, Bin) {
  for (const CellOrder order : {CellOrder::kRowMajor, CellOrder::kMorton, CellOrder::kHilbert}) {
    BinOptions options;
    options.order = order;
    expect_same(binning(corner(), options), true);
    Selection selection = corner();
    selection.fraction = 0.5;
    expect_same(binning(selection, options), false);
    options.grid.origin_at_minimum = true;
    expect_same(binning(corner(), options), false);
  }
}

TEST_P(Culling, NothingMayBeLeft) {
  Selection nowhere;
  nowhere.regions.emplace_back(Box{{100.0, 0.0, 0.0}, {101.0, 1.0, 1.0}});
  const PointCloud cloud = clustered_cloud(3);
  for (const Job& job : {filtering(nowhere), thinning(nowhere, {}), binning(nowhere, {})}) {
    BoundedSource source(cloud);
    const Outcome out = run(job, {&source});
    EXPECT_EQ(source.handed_out, 0U);
    EXPECT_EQ(out.kept.size(), 0U);
    EXPECT_EQ(out.report.points_read, cloud.count());
    EXPECT_EQ(out.report.points_rejected, cloud.count());
  }
}

TEST_P(Culling, ProgressReachesItsEnd) {
  const PointCloud cloud = clustered_cloud(4);
  std::vector<std::uint64_t> told;
  execution_.progress = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_EQ(total, cloud.count());
    told.push_back(done);
  };
  for (const Job& job : {filtering(corner()), thinning(corner(), {}), binning(corner(), {})}) {
    BoundedSource source(cloud);
    (void)run(job, {&source});
    ASSERT_FALSE(told.empty());
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_EQ(told.back(), cloud.count());
    told.clear();
  }
}

TEST_P(Culling, OnlyWhatIsReadNeedsMemory) {
  const PointCloud cloud = clustered_cloud(5);
  execution_.memory_bytes = cloud.records().size() * 3 / 4;
  Selection box;
  box.regions.emplace_back(Box{{-10.0, -10.0, -10.0}, {-5.0, 0.0, 0.0}});
  BoundedSource source(cloud);
  test::PiecewiseSource other(cloud);
  for (const Job& job : {thinning(box, {}), binning(box, {})}) {
    EXPECT_NO_THROW((void)run(job, {&source}));
    EXPECT_THROW((void)run(job, {&other}), OutOfMemory);
  }
}

TEST_P(Culling, AJobThatFailsLeavesTheSourceAsItWas) {
  BoundedSource source(clustered_cloud(6));
  ChunkSource* const sources[] = {&source};
  CheckedSink sink(source.info().schema.record_bytes);
  sink.fail_at_store = 1;
  EXPECT_THROW((void)filter(sources, corner(), sink, nullptr, execution_), test::Sabotage);
  EXPECT_FALSE(source.is_restricted());
}

}  // namespace
}  // namespace sluice
