// SPDX-License-Identifier: Apache-2.0
#include <tbb/task_arena.h>

#include <cstring>
#include <utility>
#include <vector>

#include "attributes.hpp"
#include "cloud_stream.hpp"
#include "machine.hpp"
#include "sluice/core/error.hpp"
#include "sluice/operations.hpp"
#include "whole.hpp"

namespace sluice {

namespace {

/// Puts the coordinates of centroid `i` into a record. \return false where one point is its own centroid
bool put_centroid(const CoordinateFrame& frame, const Worker::Result& result, std::uint64_t i, std::byte* record) {
  if (frame.kind == CoordinateKind::kLattice) {
    const Record16& c = result.lattice_centroids[i];
    if (c.w == 1) return false;
    store_unaligned(record + frame.at[0], c.x);
    store_unaligned(record + frame.at[1], c.y);
    store_unaligned(record + frame.at[2], c.z);
    return true;
  }
  const Record32& c = result.world_centroids[i];
  if (c.w == 1) return false;
  const double world[3] = {c.x, c.y, c.z};
  for (int d = 0; d < 3; ++d) {
    if (frame.kind == CoordinateKind::kFloat32) {
      store_unaligned(record + frame.at[d], static_cast<float>(world[d]));
    } else {
      store_unaligned(record + frame.at[d], world[d]);
    }
  }
  return true;
}

void write_centroids(detail::WholeJob& job, const Worker::Result& result,
                     const std::vector<detail::BoundAttribute>& attributes, ChunkSink& kept) {
  const PointView& view = job.view();
  const CoordinateFrame& frame = job.layout().frame;
  const std::uint32_t bytes = job.layout().schema.record_bytes;
  detail::write_made(
      result.indices.size(), bytes, kept, job.clock(), [&](std::uint64_t first, std::uint64_t count, std::byte* out) {
        constexpr std::uint64_t kAhead = 16;  // records lie anywhere: several must be under way at once
        std::vector<Value> scratch;
        for (std::uint64_t i = first; i < first + count; ++i, out += bytes) {
          if (i + kAhead < first + count) __builtin_prefetch(view.records + result.indices[i + kAhead] * view.stride);
          std::memcpy(out, view.records + result.indices[i] * view.stride, bytes);
          if (!put_centroid(frame, result, i, out) || attributes.empty()) continue;
          const std::uint32_t cell = result.centroid_member[i];
          const std::uint32_t begin = result.member_first[cell];
          const std::uint32_t end = result.member_first[cell + 1];
          for (const detail::BoundAttribute& attribute : attributes) {
            detail::reduce_attribute(attribute, view, result.members.subspan(begin, end - begin), out, scratch);
          }
        }
      });
}

}  // namespace

Report thin(std::span<ChunkSource* const> sources, const Selection& selection, const ThinOptions& options,
            ChunkSink& kept, const Execution& execution) {
  require_same_layout(sources);
  const bool centroids = options.policy == kernels::KeepPolicy::kCentroid;
  if (!centroids && !options.attributes.empty()) {
    throw InvalidArgument("a rule for an attribute needs centroids; other policies keep records as they are");
  }
  const std::vector<detail::BoundAttribute> attributes =
      detail::bind_attributes(options.attributes, sources.front()->info().schema);
  Report report;
  report.threads = detail::thread_count(execution);
  tbb::task_arena arena(report.threads);
  arena.execute([&] {
    const bool by_number = options.policy == kernels::KeepPolicy::kRandom;
    detail::WholeJob job(sources, selection, kept, execution, "thin", options.grid.origin_at_minimum || by_number);
    const Worker::Result result = job.run(
        options.grid,
        [&](const CloudInfo& layout, const Selection& rest, const GridOptions& grid) {
          ThinOptions fixed = options;
          fixed.grid = grid;
          return Plan::thin(layout, rest, fixed);
        },
        report);
    report.points_written = result.indices.size();
    report.points_merged = result.counts.kept - report.points_written;
    if (centroids) {
      write_centroids(job, result, attributes, kept);
    } else {
      detail::write_gathered(job.view(), job.layout().schema.record_bytes, result.indices, kept, job.clock());
    }
    job.clock().finish(report);
  });
  return report;
}

CloudResult thin(const PointCloud& cloud, const Selection& selection, const ThinOptions& options,
                 const Execution& execution) {
  detail::CloudSource source(cloud);
  detail::CloudSink sink(cloud.info(), cloud.count());
  ChunkSource* const sources[] = {&source};
  Report report = thin(sources, selection, options, sink, execution);
  return {sink.take(), std::move(report)};
}

}  // namespace sluice
