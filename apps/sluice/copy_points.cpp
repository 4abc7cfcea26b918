// SPDX-License-Identifier: Apache-2.0
#include "copy_points.hpp"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "sluice/core/error.hpp"
#include "sluice/core/pool.hpp"
#include "sluice/in_flight.hpp"
#include "stopwatch.hpp"

namespace sluice::app {

namespace {

// Large enough that a chunk's cost hides that of handing it over, small enough for a dozen to be in flight.
constexpr std::uint64_t kChunkPoints = 1 << 16;
constexpr std::uint64_t kLeastChunkPoints = 256;

struct Task {
  ChunkRange range;
  std::uint64_t place = 0;
};

}  // namespace

Report copy_points(ChunkSource& source, ChunkSink& sink, const Execution& execution) {
  const Clock::time_point start = Clock::now();
  const int threads = execution.threads > 0 ? execution.threads : tbb::info::default_concurrency();
  const auto bytes = [&](const InFlight& now) {
    const std::uint64_t points = now.chunks * now.chunk_points;
    return now.chunks * source.chunk_bytes(now.chunk_points) + source.held_bytes() +
           sink.held_bytes(points, source.info().point_count, std::min(threads, static_cast<int>(now.chunks)));
  };
  const auto workers = static_cast<std::uint64_t>(threads);
  const InFlight fitting =
      fit_in_flight({std::max(kChunkPoints, source.decoded_together()), 2 * workers}, source.decoded_together(),
                    kLeastChunkPoints, workers, memory_limit(execution), bytes, "copying the points");

  std::atomic<std::int64_t> read_ns{0};
  std::atomic<std::int64_t> write_ns{0};
  std::uint64_t done = 0;
  std::mutex progress_mutex;
  Pool<RecordBuffer> buffers;  // as many as chunks in flight, not as threads
  const std::uint64_t total = source.info().point_count;

  const auto next = [&](tbb::flow_control& control) {
    Task task;
    if ((execution.cancelled && execution.cancelled()) || !source.next(fitting.chunk_points, task.range)) {
      control.stop();
      return task;
    }
    task.place = sink.reserve(task.range.count);
    return task;
  };
  const auto move = [&](const Task& task) {
    RecordBuffer mine = buffers.take();
    Clock::time_point at = Clock::now();
    const PointView view = source.load(task.range, mine);
    read_ns += nanoseconds_since(at);
    at = Clock::now();
    sink.store(task.place, view);
    write_ns += nanoseconds_since(at);
    source.release(task.range);
    buffers.give(std::move(mine));
    if (execution.progress) {
      const std::lock_guard lock(progress_mutex);
      done += task.range.count;
      execution.progress(done, total);
    }
    return task;
  };
  // A sink that encodes holds what cannot be written before earlier points are; so none may fall far behind.
  const auto let_go = [](const Task& /*task*/) {};

  const tbb::global_control control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_pipeline(fitting.chunks, tbb::make_filter<void, Task>(tbb::filter_mode::serial_in_order, next) &
                                               tbb::make_filter<Task, Task>(tbb::filter_mode::parallel, move) &
                                               tbb::make_filter<Task, void>(tbb::filter_mode::serial_in_order, let_go));
  });
  if (execution.cancelled && execution.cancelled()) throw Cancelled();

  Report report;
  report.points_read = sink.count();
  report.points_written = sink.count();
  report.backend = "cpu";
  report.threads = threads;
  report.seconds_read = seconds_of(read_ns);
  report.seconds_write = seconds_of(write_ns);
  report.seconds_total = seconds_of(nanoseconds_since(start));
  return report;
}

}  // namespace sluice::app
