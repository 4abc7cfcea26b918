// SPDX-License-Identifier: Apache-2.0
#include <tbb/task_arena.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cloud_stream.hpp"
#include "machine.hpp"
#include "sluice/operations.hpp"
#include "whole.hpp"

namespace sluice {

namespace {

/// Hands out the occupied cells a block at a time.
void tell_cells(const Worker::Result& result, const std::function<void(std::span<const CellRow>)>& receiver) {
  constexpr std::uint64_t kBlock = 4096;
  std::vector<CellRow> rows;
  for (std::uint64_t first = 0; first < result.cells; first += kBlock) {
    const std::uint64_t last = std::min(first + kBlock, result.cells);
    rows.clear();
    for (std::uint64_t c = first; c < last; ++c) {
      CellRow row{};
      cell_of_key(result.key_layout, result.cell_keys[c], row.cell);
      row.first = result.cell_first[c];
      const std::uint64_t end = c + 1 < result.cells ? result.cell_first[c + 1] : result.counts.kept;
      row.count = end - row.first;
      rows.push_back(row);
    }
    receiver(rows);
  }
}

}  // namespace

Report bin(std::span<ChunkSource* const> sources, const Selection& selection, const BinOptions& options,
           ChunkSink& kept, const Execution& execution) {
  require_same_layout(sources);
  Report report;
  report.threads = detail::thread_count(execution);
  tbb::task_arena arena(report.threads);
  arena.execute([&] {
    detail::WholeJob job(sources, selection, kept, execution, "bin", options.grid.origin_at_minimum);
    const Worker::Result result = job.run(
        options.grid,
        [&](const CloudInfo& layout, const Selection& rest, const GridOptions& grid) {
          BinOptions fixed = options;
          fixed.grid = grid;
          return Plan::bin(layout, rest, fixed);
        },
        report);
    report.key_bits = result.key_layout.key_bits;
    report.points_written = result.counts.kept;
    detail::write_gathered(job.view(), job.layout().schema.record_bytes, result.indices, kept, job.clock());
    if (options.cells) tell_cells(result, options.cells);
    job.clock().finish(report);
  });
  return report;
}

CloudResult bin(const PointCloud& cloud, const Selection& selection, const BinOptions& options,
                const Execution& execution) {
  detail::CloudSource source(cloud);
  detail::CloudSink sink(cloud.info(), cloud.count());
  ChunkSource* const sources[] = {&source};
  Report report = bin(sources, selection, options, sink, execution);
  return {sink.take(), std::move(report)};
}

}  // namespace sluice
