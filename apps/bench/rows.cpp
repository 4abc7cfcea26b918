// SPDX-License-Identifier: Apache-2.0
#include "rows.hpp"

#include <fmt/format.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "sluice/core/pool.hpp"
#include "sluice/io/convert.hpp"
#include "sluice/io/read.hpp"

namespace sluice::bench {

namespace {

constexpr std::uint64_t kChunkPoints = std::uint64_t{1} << 15;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// All records of a file, one behind the other, and how they were read.
struct Rows {
  std::unique_ptr<ChunkSource> source;
  std::unique_ptr<std::byte[]> records;

  [[nodiscard]] const CloudInfo& info() const { return source->info(); }
};

Rows read_rows(const RowsOptions& options) {
  Rows rows;
  rows.source = io::open_source(options.input, {.threads = options.threads});
  ChunkSource& source = *rows.source;
  const std::uint64_t bytes = source.info().schema.record_bytes;
  rows.records = std::make_unique_for_overwrite<std::byte[]>(source.info().point_count * bytes);
  Pool<RecordBuffer> buffers;
  const auto next = [&](tbb::flow_control& flow) {
    ChunkRange range;
    if (!source.next(std::max(kChunkPoints, source.decoded_together()), range)) flow.stop();
    return range;
  };
  const auto load = [&](const ChunkRange& range) {
    RecordBuffer buffer = buffers.take();
    copy_records(source.load(range, buffer), bytes, rows.records.get() + range.first * bytes);
    source.release(range);
    buffers.give(std::move(buffer));
  };
  tbb::parallel_pipeline(2 * static_cast<std::size_t>(options.threads),
                         tbb::make_filter<void, ChunkRange>(tbb::filter_mode::serial_in_order, next) &
                             tbb::make_filter<ChunkRange, void>(tbb::filter_mode::parallel, load));
  return rows;
}

void write_rows(const Rows& rows, const RowsOptions& options) {
  const CloudInfo& info = rows.info();
  const std::uint64_t bytes = info.schema.record_bytes;
  const std::uint64_t points = info.point_count;
  ChunkSource* const sources[] = {rows.source.get()};
  const auto converter = io::make_converter(info, {.path = options.output, .data = options.data},
                                            [&] { return io::summarize(sources, options.threads); });
  const auto sink = io::create_converting_sink(options.output, converter, {.overwrite = true});
  std::uint64_t at = sink->reserve(points);
  const auto next = [&](tbb::flow_control& flow) {
    const std::uint64_t first = at;
    if (first == points) flow.stop();
    at += std::min(kChunkPoints, points - first);
    return first;
  };
  const auto store = [&](std::uint64_t first) {
    sink->store(first, {rows.records.get() + first * bytes, std::min(kChunkPoints, points - first), bytes});
    return first;
  };
  const auto let_go = [](std::uint64_t /*first*/) {};
  tbb::parallel_pipeline(2 * static_cast<std::size_t>(options.threads),
                         tbb::make_filter<void, std::uint64_t>(tbb::filter_mode::serial_in_order, next) &
                             tbb::make_filter<std::uint64_t, std::uint64_t>(tbb::filter_mode::parallel, store) &
                             tbb::make_filter<std::uint64_t, void>(tbb::filter_mode::serial_in_order, let_go));
  sink->seal();
  sink->finish();
}

double sum_of_x(const Rows& rows) {
  const std::uint64_t bytes = rows.info().schema.record_bytes;
  const Positions positions = rows.info().frame.positions(rows.records.get(), bytes);
  double sum = 0.0;
  for (std::uint64_t i = 0; i < rows.info().point_count; ++i) {
    Position p = load_position(positions, i);
    complete_world(positions, p);
    sum += p.world[0];
  }
  return sum;
}

}  // namespace

int bench_rows(const RowsOptions& options) {
  nlohmann::ordered_json out;
  tbb::task_arena arena(options.threads);
  arena.execute([&] {
    auto start = std::chrono::steady_clock::now();
    const Rows rows = read_rows(options);
    out["read_s"] = seconds_since(start);
    start = std::chrono::steady_clock::now();
    write_rows(rows, options);
    out["write_s"] = seconds_since(start);
    out["points"] = rows.info().point_count;
    out["sum_of_x"] = sum_of_x(rows);
  });
  fmt::print("{}\n", out.dump());
  return 0;
}

}  // namespace sluice::bench
