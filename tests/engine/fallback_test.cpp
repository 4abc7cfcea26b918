// SPDX-License-Identifier: Apache-2.0
//
// What happens when a device fails, or has no room, in the middle of a job. The device is host memory behind a backend
// that fails when told to, so that this runs on every machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/clouds.hpp"
#include "engine/fragile_backend.hpp"
#include "engine/streams.hpp"
#include "sluice/sluice.hpp"

namespace sluice {
namespace {

using kernels::KeepPolicy;
using test::Dice;
using test::FragileBackend;
using test::Fragility;
using test::make_lattice;
using test::make_world;
using test::RawPoint;
using test::WorldPoint;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PointCloud cloud_of(CoordinateKind kind, int count) {
  Dice dice(21);
  std::vector<RawPoint> raw;
  std::vector<WorldPoint> world;
  for (int i = 0; i < count; ++i) {
    RawPoint p;
    for (std::int32_t& x : p) x = static_cast<std::int32_t>(dice.between(-1000, 1000));
    raw.push_back(p);
    world.push_back({p[0] * 0.01, p[1] * 0.01, p[2] * 0.01});
  }
  return kind == CoordinateKind::kLattice ? make_lattice(raw) : make_world(kind, world);
}

Selection selection() {
  Selection out;
  Sphere ball;
  ball.radius = 9;
  out.regions.emplace_back(ball);
  out.where.push_back(parse_where("intensity < 900 && return_number <= 4 && gps_time > 1001.5 && warmth != 7"));
  return out;
}

Execution on(const std::string& backend) {
  Execution out;
  out.backend = backend;
  out.threads = 2;
  out.chunk_points = 8192;
  return out;
}

/// An execution whose "cuda" is fragile; everything else is what the library has.
Execution fragile(const std::shared_ptr<Fragility>& fragility, const std::string& backend = "auto",
                  const std::string& inner = "cpu") {
  Execution out = on(backend);
  out.make_backend = [fragility, inner](const std::string& name, int device) -> std::shared_ptr<kernels::Backend> {
    if (name == "cuda") return std::make_shared<FragileBackend>(fragility, inner);
    return kernels::make_backend(name, device);
  };
  return out;
}

ThinOptions thin_options(KeepPolicy policy) {
  ThinOptions out;
  out.policy = policy;
  out.grid.size = {1.7, 1.7, 1.7};
  if (policy == KeepPolicy::kCentroid) out.attributes = {{"intensity", AttributeRule::kMean}};
  return out;
}

void expect_took_over(const Report& report) {
  EXPECT_EQ(report.backend, "cpu");
  EXPECT_THAT(report.backend_reason, HasSubstr("the GPU failed"));
  EXPECT_EQ(report.device, "");
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("the GPU failed and the CPU took over")));
}

TEST(Device, GetsPackedInputOfItsOwnAndGivesTheSameBytes) {
  for (const std::string inner : {"serial", "cpu"}) {
    for (const CoordinateKind kind : {CoordinateKind::kLattice, CoordinateKind::kFloat32, CoordinateKind::kFloat64}) {
      const PointCloud cloud = cloud_of(kind, 20000);
      const auto fragility = std::make_shared<Fragility>();
      const Execution device = fragile(fragility, "auto", inner);
      for (const std::uint64_t every : {1U, 3U}) {
        Selection some = selection();
        some.every = every;
        const CloudResult filtered = filter(cloud, some, device);
        EXPECT_EQ(filtered.cloud.records(), filter(cloud, some, on("serial")).cloud.records());
        EXPECT_EQ(filtered.report.backend, "cuda");
        EXPECT_EQ(filtered.report.backend_reason, "the program offers it");
        EXPECT_EQ(filtered.report.device, "glass");
        EXPECT_THAT(filtered.report.warnings, IsEmpty());
        for (const KeepPolicy policy : {KeepPolicy::kFirst, KeepPolicy::kCentroid, KeepPolicy::kRandom}) {
          const CloudResult thinned = thin(cloud, some, thin_options(policy), device);
          EXPECT_EQ(thinned.cloud.records(), thin(cloud, some, thin_options(policy), on("serial")).cloud.records());
          EXPECT_EQ(thinned.report.device, "glass");
        }
        BinOptions bins;
        std::vector<std::uint64_t> counts;
        bins.cells = [&](std::span<const CellRow> rows) {
          for (const CellRow& row : rows) counts.push_back(row.count);
        };
        const CloudResult binned = bin(cloud, some, bins, device);
        const std::vector<std::uint64_t> on_device = std::exchange(counts, {});
        EXPECT_EQ(binned.cloud.records(), bin(cloud, some, bins, on("serial")).cloud.records());
        EXPECT_EQ(on_device, counts);
      }
      EXPECT_GT(fragility->calls, 10U);
    }
  }
}

TEST(Device, FailingInTheMiddleOfAFilterLeavesTheResultRight) {
  const PointCloud cloud = cloud_of(CoordinateKind::kLattice, 60000);
  Selection some = selection();
  some.every = 2;
  const CloudResult wanted = filter(cloud, some, on("serial"));
  for (const bool memory : {false, true}) {
    for (const std::uint64_t at : {1U, 2U, 4U, 8U}) {
      const auto fragility = std::make_shared<Fragility>();
      fragility->fail_at_call = at;
      fragility->fail_with_memory = memory;
      const CloudResult result = filter(cloud, some, fragile(fragility));
      EXPECT_EQ(result.cloud.records(), wanted.cloud.records()) << at;
      EXPECT_EQ(result.report.points_rejected, wanted.report.points_rejected);
      expect_took_over(result.report);
    }
    const auto never = std::make_shared<Fragility>();
    never->fail_at_call = 9;  // there are eight chunks
    EXPECT_EQ(filter(cloud, some, fragile(never)).report.backend, "cuda");
  }
}

TEST(Device, FailingInThinOrBinLeavesTheResultRight) {
  const PointCloud cloud = cloud_of(CoordinateKind::kFloat64, 20000);
  for (const bool memory : {false, true}) {
    const auto fragility = std::make_shared<Fragility>();
    fragility->fail_at_call = 1;
    fragility->fail_with_memory = memory;
    const ThinOptions options = thin_options(KeepPolicy::kCentroid);
    const CloudResult thinned = thin(cloud, selection(), options, fragile(fragility));
    EXPECT_EQ(thinned.cloud.records(), thin(cloud, selection(), options, on("serial")).cloud.records());
    expect_took_over(thinned.report);
    fragility->calls = 0;
    const CloudResult binned = bin(cloud, selection(), BinOptions{}, fragile(fragility));
    EXPECT_EQ(binned.cloud.records(), bin(cloud, selection(), BinOptions{}, on("serial")).cloud.records());
    expect_took_over(binned.report);
  }
}

TEST(Device, ThatCannotBeMadeIsLeftAside) {
  const PointCloud cloud = cloud_of(CoordinateKind::kLattice, 1000);
  const auto fragility = std::make_shared<Fragility>();
  fragility->fail_at_making = true;
  const CloudResult result = filter(cloud, selection(), fragile(fragility));
  EXPECT_EQ(result.cloud.records(), filter(cloud, selection(), on("serial")).cloud.records());
  EXPECT_EQ(result.report.backend, "cpu");
  EXPECT_THAT(result.report.backend_reason, HasSubstr("the GPU failed"));
  // A program that hands on what the library says.
  Execution handed = on("auto");
  handed.make_backend = [](const std::string& name, int device) -> std::shared_ptr<kernels::Backend> {
    if (name == "cuda") throw Unsupported("no GPU here");
    return kernels::make_backend(name, device);
  };
  EXPECT_THAT(filter(cloud, selection(), handed).report.backend_reason, HasSubstr("no GPU here"));
}

TEST(Device, WithoutMemoryForAnythingIsLeftAside) {
  const PointCloud cloud = cloud_of(CoordinateKind::kLattice, 30000);
  const auto fragility = std::make_shared<Fragility>();
  fragility->memory_limit = 1000;
  const CloudResult filtered = filter(cloud, selection(), fragile(fragility));
  EXPECT_EQ(filtered.cloud.records(), filter(cloud, selection(), on("serial")).cloud.records());
  expect_took_over(filtered.report);
  const CloudResult thinned = thin(cloud, selection(), thin_options(KeepPolicy::kFirst), fragile(fragility));
  EXPECT_EQ(thinned.cloud.records(),
            thin(cloud, selection(), thin_options(KeepPolicy::kFirst), on("serial")).cloud.records());
  expect_took_over(thinned.report);
  EXPECT_EQ(fragility->calls, 0U);
}

TEST(Device, ShortOfMemoryGetsSmallerChunks) {
  const PointCloud cloud = cloud_of(CoordinateKind::kLattice, 100000);
  const auto fragility = std::make_shared<Fragility>();
  Execution device = fragile(fragility);
  device.chunk_points = 65536;
  (void)filter(cloud, selection(), device);
  EXPECT_EQ(fragility->largest, 65536U);
  fragility->largest = 0;
  // Room for four workers of about 16,384 points.
  const auto plan = Plan::select(cloud.info(), selection());
  FragileBackend sample(fragility, "cpu");
  fragility->memory_limit = 5 * plan->backend_bytes(sample, 16384);
  const CloudResult result = filter(cloud, selection(), device);
  EXPECT_EQ(result.cloud.records(), filter(cloud, selection(), on("serial")).cloud.records());
  EXPECT_EQ(result.report.backend, "cuda");
  EXPECT_LE(fragility->largest, 16384U);
  EXPECT_GE(fragility->largest, 4096U);
}

TEST(Device, AskedForByNameFailsInsteadOfBeingReplaced) {
  const PointCloud cloud = cloud_of(CoordinateKind::kLattice, 30000);
  for (const std::string how : {"name", "environment"}) {
    const auto failing = std::make_shared<Fragility>();
    failing->fail_at_call = 2;
    const Execution device = fragile(failing, how == "name" ? "cuda" : "");
    if (how == "environment") setenv("SLUICE_BACKEND", "cuda", 1);
    EXPECT_THROW((void)filter(cloud, selection(), device), DeviceError);
    failing->calls = 1;
    EXPECT_THROW((void)thin(cloud, selection(), thin_options(KeepPolicy::kFirst), device), DeviceError);
    failing->calls = 1;
    EXPECT_THROW((void)bin(cloud, selection(), BinOptions{}, device), DeviceError);
    const auto small = std::make_shared<Fragility>();
    small->memory_limit = 1000;
    const Execution narrow = fragile(small, how == "name" ? "cuda" : "");
    EXPECT_THROW((void)filter(cloud, selection(), narrow), OutOfMemory);
    EXPECT_THROW((void)thin(cloud, selection(), thin_options(KeepPolicy::kFirst), narrow), OutOfMemory);
    EXPECT_THROW((void)bin(cloud, selection(), BinOptions{}, narrow), OutOfMemory);
    unsetenv("SLUICE_BACKEND");
  }
}

/// A source that must not be read.
class Closed final : public ChunkSource {
 public:
  explicit Closed(CloudInfo info) : info_(std::move(info)) {}
  [[nodiscard]] const CloudInfo& info() const override { return info_; }
  bool next(std::uint64_t /*max_points*/, ChunkRange& /*range*/) override { throw std::logic_error("read"); }
  PointView load(const ChunkRange& /*range*/, RecordBuffer& /*buffer*/) override { throw std::logic_error("read"); }
  void release(const ChunkRange& /*range*/) override {}
  [[nodiscard]] std::uint64_t chunk_bytes(std::uint64_t points) const override { return points; }
  void rewind() override {}

 private:
  CloudInfo info_;
};

TEST(Device, AskedForByNameIsRefusedBeforeAnythingIsRead) {
  const PointCloud cloud = cloud_of(CoordinateKind::kLattice, 30000);
  CloudInfo info = cloud.info();
  info.point_count = cloud.count();
  Closed source(info);
  ChunkSource* const sources[] = {&source};
  test::CheckedSink sink(info.schema.record_bytes);
  const ThinOptions thinning = thin_options(KeepPolicy::kFirst);
  const auto refused = [&]<typename ErrorT>(const Execution& execution) {
    EXPECT_THROW((void)filter(sources, selection(), sink, nullptr, execution), ErrorT);
    EXPECT_THROW((void)thin(sources, selection(), thinning, sink, execution), ErrorT);
    EXPECT_THROW((void)bin(sources, selection(), BinOptions{}, sink, execution), ErrorT);
  };
  const auto fragility = std::make_shared<Fragility>();
  fragility->memory_limit = 1000;
  refused.operator()<OutOfMemory>(fragile(fragility, "cuda"));
  refused.operator()<InvalidArgument>(on("abacus"));
  Execution narrow = on("serial");
  narrow.memory_bytes = 1000;
  refused.operator()<OutOfMemory>(narrow);
  refused.operator()<std::logic_error>(on("serial"));
}

TEST(Device, ErrorsOfTheCallerAreNoReasonToFallBack) {
  const auto fragility = std::make_shared<Fragility>();
  BinOptions fine;
  fine.grid.size = {1e-9, 1e-9, 1e-9};
  EXPECT_THROW((void)bin(cloud_of(CoordinateKind::kFloat64, 1000), {}, fine, fragile(fragility)), Unsupported);
  EXPECT_EQ(fragility->calls, 1U);
}

TEST(Device, MayBeAllThatAProgramBrings) {
  const PointCloud cloud = cloud_of(CoordinateKind::kLattice, 30000);
  const auto fragility = std::make_shared<Fragility>();
  Execution only = on("auto");
  only.make_backend = [fragility](const std::string& name, int /*device*/) -> std::shared_ptr<kernels::Backend> {
    if (name != "cuda") return nullptr;
    return std::make_shared<FragileBackend>(fragility, "cpu");
  };
  Selection some = selection();
  some.every = 2;
  const ThinOptions options = thin_options(KeepPolicy::kFirst);
  EXPECT_EQ(thin(cloud, some, options, only).cloud.records(), thin(cloud, some, options, on("serial")).cloud.records());
  fragility->calls = 0;
  fragility->fail_at_call = 2;
  const CloudResult result = filter(cloud, some, only);
  EXPECT_EQ(result.cloud.records(), filter(cloud, some, on("serial")).cloud.records());
  expect_took_over(result.report);
  // Or nothing at all.
  only.make_backend = [](const std::string&, int) { return std::shared_ptr<kernels::Backend>(); };
  EXPECT_EQ(filter(cloud, some, only).cloud.records(), result.cloud.records());
  only.backend = "cuda";
  EXPECT_THROW((void)filter(cloud, some, only), Unsupported);
}

}  // namespace
}  // namespace sluice
