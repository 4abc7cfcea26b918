// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/backends.hpp"
#include "engine/clouds.hpp"
#include "engine/fragile_backend.hpp"
#include "sluice/sluice.hpp"

namespace sluice {
namespace {

using kernels::KeepPolicy;
using test::Dice;
using test::FragileBackend;
using test::Fragility;
using test::make_world;
using test::WorldPoint;

constexpr std::uint64_t kMost = 5000;

PointCloud frame_of(std::uint64_t seed, std::uint64_t count) {
  Dice dice(seed);
  std::vector<WorldPoint> points;
  for (std::uint64_t i = 0; i < count; ++i) {
    points.push_back({dice.unit() * 20 - 10, dice.unit() * 20 - 10, dice.unit() * 4});
    if (i % 97 == 5) points.back()[1] = std::numeric_limits<double>::quiet_NaN();
  }
  return make_world(CoordinateKind::kFloat32, points);
}

Selection selection() {
  Selection out;
  RangeRing ring;
  ring.min = 2;
  ring.max = 11;
  out.regions.emplace_back(ring);
  out.where.push_back(parse_where("intensity > 100 && warmth != 3"));
  out.fraction = 0.9;
  return out;
}

/// Every kind of plan, for frames of one layout.
std::vector<std::shared_ptr<const Plan>> plans() {
  const CloudInfo layout = frame_of(1, 1).info();
  std::vector<std::shared_ptr<const Plan>> out = {Plan::select(layout, selection())};
  BinOptions bins;
  bins.order = CellOrder::kMorton;
  out.push_back(Plan::bin(layout, selection(), bins));
  for (const KeepPolicy policy :
       {KeepPolicy::kFirst, KeepPolicy::kCenter, KeepPolicy::kCentroid, KeepPolicy::kNearestCentroid,
        KeepPolicy::kLowest, KeepPolicy::kHighest, KeepPolicy::kRandom}) {
    ThinOptions options;
    options.policy = policy;
    out.push_back(Plan::thin(layout, selection(), options));
  }
  return out;
}

/// A result as values that outlive the next run.
struct Copy {
  explicit Copy(const Worker::Result& r)
      : counts{r.counts.kept, r.counts.rejected, r.counts.nonfinite, r.cells},
        indices(r.indices.begin(), r.indices.end()),
        rejected(r.rejected.begin(), r.rejected.end()),
        keys(r.cell_keys.begin(), r.cell_keys.end()),
        cell_first(r.cell_first.begin(), r.cell_first.end()) {
    for (const Record32& c : r.world_centroids) centroids.insert(centroids.end(), {c.x, c.y, c.z});
    for (std::size_t i = 0; i < r.centroid_member.size(); ++i) {
      const std::uint32_t cell = r.centroid_member[i];
      members.emplace_back(r.members.begin() + r.member_first[cell], r.members.begin() + r.member_first[cell + 1]);
    }
  }
  friend bool operator==(const Copy&, const Copy&) = default;

  std::vector<std::uint64_t> counts;
  std::vector<std::uint32_t> indices;
  std::vector<std::uint32_t> rejected;
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> cell_first;
  std::vector<double> centroids;
  std::vector<std::vector<std::uint32_t>> members;
};

constexpr std::uint64_t kSizes[] = {kMost, 1, 0, 333, 4999, 2, 1000, kMost};

class WorkerTest : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Backends, WorkerTest, testing::ValuesIn(test::backend_names()), test::backend_label);

TEST_P(WorkerTest, ReusedGivesWhatAFreshOneGives) {
  const std::shared_ptr<kernels::Backend> backend = kernels::make_backend(GetParam());
  const std::shared_ptr<kernels::Backend> serial = kernels::make_backend("serial");
  for (const std::shared_ptr<const Plan>& plan : plans()) {
    Worker reused(plan, backend, kMost);
    std::uint64_t first_index = 0;
    for (const std::uint64_t size : kSizes) {
      const PointCloud frame = frame_of(size + 9, size);
      const bool want_rejected = size % 2 == 1;
      const Copy result(reused.run(frame.view(), first_index, want_rejected));
      Worker fresh(plan, serial, size);
      EXPECT_TRUE(result == Copy(fresh.run(frame.view(), first_index, want_rejected))) << size;
      EXPECT_EQ(result.counts[0] + result.counts[1] + result.counts[2], size);
      const bool selects = plan->kind() == Plan::Kind::kSelect;
      EXPECT_EQ(result.rejected.size(), selects && want_rejected ? result.counts[1] : 0);
      first_index += size;
    }
  }
}

TEST_P(WorkerTest, RefusesACloudThatIsTooLargeAndGoesOn) {
  const std::shared_ptr<kernels::Backend> backend = kernels::make_backend(GetParam());
  const PointCloud frame = frame_of(2, 101);
  for (const std::shared_ptr<const Plan>& plan : plans()) {
    Worker worker(plan, backend, 100);
    EXPECT_THROW((void)worker.run(frame.view()), InvalidArgument);
    PointView part = frame.view();
    part.count = 100;
    const Copy result(worker.run(part));
    EXPECT_TRUE(result == Copy(worker.run(part)));
  }
}

TEST_P(WorkerTest, SurvivesARefusedCloud) {
  const std::shared_ptr<kernels::Backend> backend = kernels::make_backend(GetParam());
  BinOptions options;
  const PointCloud good = frame_of(3, 500);
  const PointCloud far = make_world(CoordinateKind::kFloat32, {{1e30, 0, 0}, {0, 0, 0}});
  Worker worker(Plan::bin(good.info(), {}, options), backend, 500);
  const Copy before(worker.run(good.view()));
  for (int i = 0; i < 20; ++i) EXPECT_THROW((void)worker.run(far.view()), Unsupported);
  EXPECT_TRUE(before == Copy(worker.run(good.view())));
}

TEST_P(WorkerTest, TwoOnTwoThreadsMayShareAPlan) {
  for (const std::shared_ptr<const Plan>& plan : plans()) {
    std::vector<Copy> results[2];
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&, t] {
        Worker worker(plan, kernels::make_backend(GetParam()), kMost);
        for (std::uint64_t i = 0; i < 10; ++i) {
          const PointCloud frame = frame_of(i, 500 * i);
          results[t].emplace_back(worker.run(frame.view()));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(results[0] == results[1]);
  }
}

TEST(WorkerMemory, IsTakenOnceAndKnownBefore) {
  for (const std::string inner : {"serial", "cpu"}) {
    const auto backend = std::make_shared<FragileBackend>(std::make_shared<Fragility>(), inner);
    for (const std::shared_ptr<const Plan>& plan : plans()) {
      const std::uint64_t before = backend->device_memory().in_use();
      const std::uint64_t staged = backend->pinned_memory().in_use();
      Worker worker(plan, backend, kMost);
      EXPECT_EQ(backend->device_memory().in_use() - before, plan->backend_bytes(*backend, kMost));
      EXPECT_EQ(backend->pinned_memory().in_use() - staged, plan->staging_bytes(*backend, kMost));
      const std::uint64_t allocations = backend->device_memory().allocations();
      const std::uint64_t stagings = backend->pinned_memory().allocations();
      for (const std::uint64_t size : kSizes) {
        const PointCloud frame = frame_of(size, size);
        (void)worker.run(frame.view(), 0, true);
      }
      EXPECT_EQ(backend->device_memory().allocations(), allocations);
      EXPECT_EQ(backend->pinned_memory().allocations(), stagings);
    }
    EXPECT_EQ(backend->device_memory().in_use(), 0U);
    EXPECT_EQ(backend->pinned_memory().in_use(), 0U);
  }
}

TEST(WorkerMemory, ThatIsNotThereIsAnErrorAtConstruction) {
  const auto fragility = std::make_shared<Fragility>();
  FragileBackend sample(fragility, "cpu");
  for (const std::shared_ptr<const Plan>& plan : plans()) {
    fragility->memory_limit = plan->backend_bytes(sample, kMost);
    EXPECT_NO_THROW(Worker(plan, std::make_shared<FragileBackend>(fragility, "cpu"), kMost));
    fragility->memory_limit -= 1;
    EXPECT_THROW(Worker(plan, std::make_shared<FragileBackend>(fragility, "cpu"), kMost), OutOfMemory);
  }
}

TEST(WorkerMemory, OnTheHostNeedsNoStaging) {
  const auto cpu = kernels::make_backend("cpu");
  for (const std::shared_ptr<const Plan>& plan : plans()) EXPECT_EQ(plan->staging_bytes(*cpu, kMost), 0U);
}

}  // namespace
}  // namespace sluice
