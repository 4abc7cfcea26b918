// SPDX-License-Identifier: Apache-2.0
#include "scene_stream.hpp"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "record_writer.hpp"
#include "sluice/core/error.hpp"
#include "sluice/in_flight.hpp"
#include "stopwatch.hpp"

namespace sluice::synth {

using app::Clock, app::nanoseconds_since, app::seconds_of;

namespace {

// Points of a parcel at most, where one block has fewer: enough to hide the cost of handing a parcel over, few enough
// for two parcels a thread to be small.
constexpr std::uint64_t kParcelPoints = std::uint64_t{1} << 15;

/// Some blocks in a row, with the memory that they are made in; used again and again.
struct Parcel {
  std::uint64_t first_block = 0;
  std::uint64_t count = 0;
  std::uint64_t place = 0;
  std::unique_ptr<BlockMaker> maker;
  std::vector<Sample> samples;
  std::vector<std::byte> records;
};

class SceneJob {
 public:
  SceneJob(const CloudInfo& info, const MakeMaker& make_maker, ChunkSink& sink, const Execution& execution)
      : total_(info.point_count),
        stride_(info.schema.record_bytes),
        make_maker_(make_maker),
        sink_(sink),
        execution_(execution),
        writer_(info) {}

  Report run() {
    const Clock::time_point start = Clock::now();
    const int threads = execution_.threads > 0 ? execution_.threads : tbb::info::default_concurrency();
    fit_memory(static_cast<std::size_t>(threads));
    // All at once, so that a file that cannot hold so many points is refused before any is made.
    const std::uint64_t first = sink_.reserve(total_);

    std::vector<Parcel> parcels(parcels_);
    for (Parcel& parcel : parcels) idle_.push_back(&parcel);
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    tbb::task_arena arena(threads);
    using tbb::filter_mode;
    const auto hand_out = tbb::make_filter<void, Parcel*>(filter_mode::serial_in_order,
                                                          [this](tbb::flow_control& flow) { return next(flow); });
    const auto make_points =
        tbb::make_filter<Parcel*, Parcel*>(filter_mode::parallel, [this](Parcel* p) { return make(p); });
    const auto give_places =
        tbb::make_filter<Parcel*, Parcel*>(filter_mode::serial_in_order, [this](Parcel* p) { return place(p); });
    const auto store_points =
        tbb::make_filter<Parcel*, Parcel*>(filter_mode::parallel, [this, first](Parcel* p) { return store(p, first); });
    // A sink that encodes holds what cannot be written before earlier points are; so none may fall far behind.
    const auto let_go = tbb::make_filter<Parcel*, void>(filter_mode::serial_in_order, [this](Parcel* p) { retire(p); });
    arena.execute(
        [&] { tbb::parallel_pipeline(parcels_, hand_out & make_points & give_places & store_points & let_go); });

    Report report;
    report.points_read = total_;
    report.points_written = total_;
    report.backend = "cpu";
    report.threads = threads;
    report.seconds_compute = seconds_of(compute_ns_);
    report.seconds_write = seconds_of(write_ns_);
    report.seconds_total = seconds_of(nanoseconds_since(start));
    return report;
  }

 private:
  /// Decides how many parcels there are and how many blocks each has at most.
  void fit_memory(std::size_t threads) {
    const std::unique_ptr<BlockMaker> maker = make_maker_();
    block_points_ = maker->most_points();
    const auto blocks_of = [&](std::uint64_t points) { return std::max<std::uint64_t>(1, points / block_points_); };
    const auto bytes = [&](const InFlight& now) {
      const std::uint64_t points = blocks_of(now.chunk_points) * block_points_;
      return now.chunks * (maker->held_bytes() + block_points_ * sizeof(Sample) + points * stride_) +
             sink_.held_bytes(now.chunks * points, total_,
                              static_cast<int>(std::min<std::uint64_t>(threads, now.chunks)));
    };
    const InFlight fitting = fit_in_flight({std::max(kParcelPoints, block_points_), 2 * threads}, 0, block_points_,
                                           threads, memory_limit(execution_), bytes, "making a block of the scene");
    parcels_ = fitting.chunks;
    blocks_ = blocks_of(fitting.chunk_points);
  }

  Parcel* next(tbb::flow_control& flow) {
    if (execution_.cancelled && execution_.cancelled()) throw Cancelled();
    if (placed_ == total_) {
      flow.stop();
      return nullptr;
    }
    const std::lock_guard lock(mutex_);
    Parcel* parcel = idle_.back();
    idle_.pop_back();
    parcel->first_block = next_block_;
    next_block_ += blocks_;
    return parcel;
  }

  Parcel* make(Parcel* parcel) {
    if (!parcel->maker) {
      parcel->maker = make_maker_();
      // Growing would hold more than was counted.
      parcel->samples.reserve(block_points_);
      parcel->records.reserve(blocks_ * block_points_ * stride_);
    }
    fill(*parcel, total_);
    return parcel;
  }

  /// In order. Parcels behind the end come out empty.
  Parcel* place(Parcel* parcel) {
    const std::uint64_t left = total_ - placed_;
    // Made anew, not cut: a pulse knows how many returns it has.
    if (parcel->count > left) fill(*parcel, left);
    parcel->place = placed_;
    placed_ += parcel->count;
    return parcel;
  }

  Parcel* store(Parcel* parcel, std::uint64_t first) {
    const Clock::time_point start = Clock::now();
    sink_.store(first + parcel->place, PointView{parcel->records.data(), parcel->count, stride_});
    write_ns_ += nanoseconds_since(start);
    return parcel;
  }

  void retire(Parcel* parcel) {
    const std::lock_guard lock(mutex_);
    stored_ += parcel->count;
    idle_.push_back(parcel);
    if (execution_.progress) execution_.progress(stored_, total_);
  }

  /// Makes the parcel's points, at most `most` of them.
  void fill(Parcel& parcel, std::uint64_t most) {
    const Clock::time_point start = Clock::now();
    parcel.count = 0;
    parcel.records.clear();
    const std::uint64_t end = parcel.first_block + blocks_;
    for (std::uint64_t block = parcel.first_block; block < end && parcel.count < most; ++block) {
      parcel.maker->make(block, most - parcel.count, parcel.samples);
      parcel.records.resize((parcel.count + parcel.samples.size()) * stride_);
      std::byte* record = parcel.records.data() + parcel.count * stride_;
      for (const Sample& sample : parcel.samples) {
        writer_.write(sample, record);
        record += stride_;
      }
      parcel.count += parcel.samples.size();
    }
    compute_ns_ += nanoseconds_since(start);
  }

  std::uint64_t total_;
  std::uint64_t stride_;
  const MakeMaker& make_maker_;
  ChunkSink& sink_;
  const Execution& execution_;
  RecordWriter writer_;
  std::uint64_t parcels_ = 1;
  std::uint64_t blocks_ = 1;        ///< of a parcel
  std::uint64_t block_points_ = 1;  ///< at most

  std::uint64_t next_block_ = 0;
  std::atomic<std::uint64_t> placed_{0};
  std::mutex mutex_;  ///< guards `idle_`, `stored_` and the progress
  std::vector<Parcel*> idle_;
  std::uint64_t stored_ = 0;
  std::atomic<std::int64_t> compute_ns_{0};
  std::atomic<std::int64_t> write_ns_{0};
};

}  // namespace

Report stream_scene(const CloudInfo& info, const MakeMaker& make_maker, ChunkSink& sink, const Execution& execution) {
  return SceneJob(info, make_maker, sink, execution).run();
}

}  // namespace sluice::synth
