// SPDX-License-Identifier: Apache-2.0
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backend_choice.hpp"
#include "clock.hpp"
#include "cloud_stream.hpp"
#include "culling.hpp"
#include "held_points.hpp"
#include "machine.hpp"
#include "share.hpp"
#include "sluice/core/error.hpp"
#include "sluice/in_flight.hpp"
#include "sluice/operations.hpp"
#include "sluice/pipeline.hpp"

namespace sluice {

namespace {

// Large enough that a chunk's fixed costs vanish; small enough that its records stay in a core's own cache until they
// are gathered, and that one thread decides a chunk alone while others have theirs.
constexpr std::uint64_t kHostChunk = std::uint64_t{1} << 15;
constexpr std::uint64_t kSmallestChunk = std::uint64_t{1} << 12;

/// How chunks of one source are handled.
struct Route {
  std::vector<ByteRange> wanted;  ///< of a record, to decide it and for sinks that look at copied runs
  bool copies_kept = false;       ///< the sink takes runs of the source as they are
  bool copies_rejected = false;
};

/// One chunk on its way, with the memory that it uses; reused by later chunks.
struct Parcel {
  ChunkSource* source = nullptr;
  const Route* route = nullptr;
  ChunkRange range;
  std::uint64_t first_index = 0;  ///< within all inputs
  PointView view;
  std::span<const std::uint32_t> kept;
  std::span<const std::uint32_t> rejected;
  kernels::SelectCounts counts;
  detail::Runs runs;
  detail::Share kept_share;
  detail::Share rejected_share;
  std::uint64_t place = 0;   ///< of the first point, where all keep their places
  bool is_complete = false;  ///< all bytes of the view are right

  RecordBuffer decoded;
  std::vector<std::byte> gathered;
  std::unique_ptr<Worker> worker;
  std::unique_ptr<Worker> stand_in;                     ///< on the CPU, for chunks that a device failed at
  std::vector<std::uint32_t> thinned, refused, merged;  ///< of Selection::every
};

class FilterJob {
 public:
  FilterJob(std::span<ChunkSource* const> sources, const Selection& selection, ChunkSink& kept, ChunkSink* rejected,
            const Execution& execution, const FilterOptions& options, Report& report)
      : sources_(sources),
        every_(selection.every),
        kept_(kept),
        rejected_(rejected),
        keep_places_(options.keep_places),
        execution_(execution),
        report_(report),
        clock_(execution, detail::total_points(sources)),
        plan_(Plan::select(sources.front()->info(), selection)),
        culling_(sources, selection, rejected == nullptr && !options.keep_places) {}

  void run() {
    const int threads = report_.threads;
    choice_ = detail::choose_backend(execution_, *plan_, points_to_read(), threads);
    report_.backend = choice_.backend->name();
    report_.backend_reason = choice_.reason;
    report_.device = choice_.backend->device_name();
    size_chunks(threads);
    for (const ChunkSource* source : sources_) routes_.push_back(route_of(*source));
    for (ChunkSource* source : sources_) source->rewind();
    report_.points_read = report_.points_rejected = culling_.left_out();
    clock_.advance(culling_.left_out());

    parcels_.resize(tokens_);
    for (Parcel& parcel : parcels_) idle_.push_back(&parcel);
    tbb::parallel_pipeline(
        tokens_,
        tbb::make_filter<void, Parcel*>(tbb::filter_mode::serial_in_order,
                                        [this](tbb::flow_control& flow) { return next(flow); }) &
            tbb::make_filter<Parcel*, Parcel*>(tbb::filter_mode::parallel, [this](Parcel* p) { return decide(p); }) &
            tbb::make_filter<Parcel*, Parcel*>(tbb::filter_mode::serial_in_order,
                                               [this](Parcel* p) { return place(p); }) &
            tbb::make_filter<Parcel*, Parcel*>(tbb::filter_mode::parallel, [this](Parcel* p) { return write(p); }) &
            tbb::make_filter<Parcel*, void>(tbb::filter_mode::serial_in_order, [this](Parcel* p) { let_go(p); }));
    clock_.finish(report_);
  }

 private:
  [[nodiscard]] std::uint64_t points_to_read() const { return detail::total_points(sources_) - culling_.left_out(); }

  /// Fits chunks and their number in flight into the memory limit.
  void size_chunks(int threads) {
    const bool device = choice_.backend->is_device();
    chunk_ = execution_.chunk_points;
    if (chunk_ == 0) {
      chunk_ = device ? detail::kDeviceChunk : kHostChunk;
      for (const ChunkSource* source : sources_) together_ = std::max(together_, source->decoded_together());
      chunk_ = std::max(chunk_, together_);
    }
    const std::uint64_t total = std::max<std::uint64_t>(points_to_read(), 1);
    chunk_ = std::min({chunk_, kernels::kMaxPoints, total});
    tokens_ = device ? detail::kDeviceParcels : 2 * static_cast<std::size_t>(threads);
    const std::uint64_t record_bytes = sources_.front()->info().schema.record_bytes;
    const auto parcel_bytes = [&](std::uint64_t points) {
      std::uint64_t bytes = detail::kGatheredRecords * record_bytes + plan_->staging_bytes(*choice_.backend, points);
      if (!device) bytes += plan_->backend_bytes(*choice_.backend, points);
      std::uint64_t largest = 0;
      for (const ChunkSource* source : sources_) largest = std::max(largest, source->chunk_bytes(points));
      return bytes + largest;
    };
    const auto all_bytes = [&](const InFlight& now) {
      const std::uint64_t points = now.chunks * now.chunk_points;
      const int busy = std::min(threads, static_cast<int>(now.chunks));
      std::uint64_t held = kept_.held_bytes(points, total, busy);
      if (rejected_ != nullptr) held += rejected_->held_bytes(points, total, busy);
      return now.chunks * parcel_bytes(now.chunk_points) + held + detail::held_by(sources_);
    };
    const InFlight fitting =
        fit_in_flight({chunk_, tokens_}, together_, kSmallestChunk, static_cast<std::uint64_t>(threads),
                      memory_limit(execution_), all_bytes, "filtering the smallest chunk");
    chunk_ = fitting.chunk_points;
    tokens_ = fitting.chunks;
    if (device) fit_device();
  }

  [[nodiscard]] Route route_of(const ChunkSource& source) const {
    Route route;
    const std::string coding = source.coding();
    route.copies_kept = !keep_places_ && !coding.empty() && kept_.coding() == coding;
    route.copies_rejected = !coding.empty() && rejected_ != nullptr && rejected_->coding() == coding;
    const CloudInfo& info = source.info();
    const bool all_are_stored = rejected_ != nullptr || keep_places_ || (plan_->predicate().keeps_all() && every_ == 1);
    if (all_are_stored && !route.copies_kept && !route.copies_rejected) {
      // Decoding all at once is cheaper than in two steps.
      route.wanted.push_back({0, info.schema.record_bytes});
      return route;
    }
    const std::uint32_t axis = info.frame.kind == CoordinateKind::kFloat64 ? sizeof(double) : sizeof(float);
    for (const std::uint32_t at : info.frame.at) route.wanted.push_back({at, axis});
    for (const Field& field : plan_->columns()) route.wanted.push_back({field.offset, field_bytes(field.type)});
    const auto add_fields_of = [&](const ChunkSink& sink) {
      const std::span<const ByteRange> fields = sink.fields_of_encoded();
      route.wanted.insert(route.wanted.end(), fields.begin(), fields.end());
    };
    if (route.copies_kept) add_fields_of(kept_);
    if (route.copies_rejected) add_fields_of(*rejected_);
    return route;
  }

  /// Makes the workers of a device before the first chunk, with smaller chunks where its memory is short.
  void fit_device() {
    for (;;) {
      try {
        std::vector<std::unique_ptr<Worker>> workers;
        for (std::size_t i = 0; i < tokens_; ++i) {
          workers.push_back(std::make_unique<Worker>(plan_, choice_.backend, chunk_));
        }
        device_workers_ = std::move(workers);
        return;
      } catch (const OutOfMemory& error) {
        if (!choice_.automatic) throw;
        if (chunk_ / 2 >= std::max(together_, kSmallestChunk)) {
          chunk_ /= 2;
          continue;
        }
        give_up_device(error.what());
      } catch (const DeviceError& error) {
        if (!choice_.automatic) throw;
        give_up_device(error.what());
      }
      return;
    }
  }

  void give_up_device(const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (device_failed_) return;
    device_failed_ = true;
    report_.warnings.push_back("the GPU failed and the CPU took over: " + why);
    report_.backend = "cpu";
    report_.backend_reason = "the GPU failed: " + why;
    report_.device.clear();
  }

  Parcel* next(tbb::flow_control& flow) {
    clock_.check_cancelled();
    ChunkRange range;
    while (source_at_ < sources_.size() && !sources_[source_at_]->next(chunk_, range)) {
      points_before_ += sources_[source_at_]->info().point_count;
      ++source_at_;
    }
    if (source_at_ == sources_.size()) {
      flow.stop();
      return nullptr;
    }
    Parcel* parcel = nullptr;
    {
      const std::lock_guard lock(mutex_);
      parcel = idle_.back();
      idle_.pop_back();
    }
    parcel->source = sources_[source_at_];
    parcel->route = &routes_[source_at_];
    parcel->range = range;
    parcel->first_index = points_before_ + range.first;
    return parcel;
  }

  Parcel* decide(Parcel* parcel) {
    {
      const detail::BusyTimer timer(clock_.read_ns);
      load(*parcel);
      std::vector<EncodedRun>& runs = parcel->runs.runs;
      parcel->source->encoded_runs(parcel->range, runs);
      if (runs.empty()) runs.push_back({parcel->range.count, {}});
      parcel->runs.as_records.assign(runs.size(), 0);
    }
    const detail::BusyTimer timer(clock_.compute_ns);
    const bool want_rejected = rejected_ != nullptr;
    const Worker::Result result = run_worker(*parcel, want_rejected);
    parcel->counts = result.counts;
    parcel->kept = result.indices;
    parcel->rejected = result.rejected;
    return parcel;
  }

  /// Loads what decides about the points, or at once all of them where it is likely that all will be wanted: that takes
  /// less time than two steps.
  void load(Parcel& parcel) {
    parcel.is_complete = false;
    if (share_completed_ > kLikely) {
      try {
        parcel.view = parcel.source->load(parcel.range, parcel.decoded);
        parcel.is_complete = true;
        return;
      } catch (const FormatError&) {
        // Damage counts only where somebody wants what is damaged; and that must not depend on a guess.
      }
    }
    parcel.view = parcel.source->load_fields(parcel.range, parcel.route->wanted, parcel.decoded);
  }

  /// Makes complete what is to be stored as records.
  void complete(Parcel& parcel) {
    const std::vector<std::uint8_t>& as_records = parcel.runs.as_records;
    const bool any = std::find(as_records.begin(), as_records.end(), 1) != as_records.end();
    // A running mean of few parcels; lost updates do no harm.
    const int share = share_completed_;
    share_completed_ = share + ((any ? kAlways : 0) - share) / 8;
    if (parcel.is_complete) return;
    const detail::BusyTimer timer(clock_.read_ns);
    detail::complete_records(*parcel.source, parcel.range, parcel.runs, parcel.decoded);
  }

  Worker::Result run_worker(Parcel& parcel, bool want_rejected) {
    if (choice_.backend->is_device() && !device_failed_) {
      try {
        if (parcel.worker == nullptr) {
          const std::lock_guard lock(mutex_);
          parcel.worker = std::move(device_workers_.back());
          device_workers_.pop_back();
        }
        return parcel.worker->run(parcel.view, parcel.first_index, want_rejected);
      } catch (const DeviceError& error) {
        if (!choice_.automatic) throw;
        give_up_device(error.what());
      } catch (const OutOfMemory& error) {
        if (!choice_.automatic) throw;
        give_up_device(error.what());
      }
    }
    std::unique_ptr<Worker>& worker = choice_.backend->is_device() ? parcel.stand_in : parcel.worker;
    if (worker == nullptr) {
      worker = std::make_unique<Worker>(
          plan_, choice_.backend->is_device() ? detail::cpu_backend(execution_) : choice_.backend, chunk_);
    }
    return worker->run(parcel.view, parcel.first_index, want_rejected);
  }

  /// In input order: takes the places in the outputs, and drops all but every n-th point.
  Parcel* place(Parcel* parcel) {
    if (every_ > 1) {
      const std::uint64_t passed = parcel->kept.size();
      parcel->thinned.assign(parcel->kept.begin(), parcel->kept.end());
      parcel->refused.clear();
      const std::uint64_t left =
          detail::keep_every(parcel->thinned, every_, passed_, rejected_ != nullptr ? &parcel->refused : nullptr);
      passed_ += passed;
      parcel->counts.kept = left;
      parcel->counts.rejected += passed - left;
      parcel->kept = {parcel->thinned.data(), static_cast<std::size_t>(left)};
      if (rejected_ != nullptr) {
        parcel->merged.clear();
        std::merge(parcel->rejected.begin(), parcel->rejected.end(), parcel->refused.begin(), parcel->refused.end(),
                   std::back_inserter(parcel->merged));
        parcel->rejected = parcel->merged;
      }
    }
    if (keep_places_) {
      parcel->place = kept_.reserve(parcel->view.count);
      std::fill(parcel->runs.as_records.begin(), parcel->runs.as_records.end(), std::uint8_t{1});
    } else {
      parcel->kept_share.place(kept_, parcel->kept, parcel->runs, parcel->route->copies_kept);
    }
    if (rejected_ != nullptr) {
      parcel->rejected_share.place(*rejected_, parcel->rejected, parcel->runs, parcel->route->copies_rejected);
    }
    report_.points_read += parcel->view.count;
    report_.points_written += parcel->counts.kept;
    report_.points_rejected += parcel->counts.rejected;
    report_.points_nonfinite += parcel->counts.nonfinite;
    return parcel;
  }

  Parcel* write(Parcel* parcel) {
    complete(*parcel);
    {
      const detail::BusyTimer timer(clock_.write_ns);
      const std::uint64_t bytes = parcel->source->info().schema.record_bytes;
      if (keep_places_) {
        store_all(*parcel, bytes);
      } else {
        parcel->kept_share.store(kept_, parcel->view, bytes, parcel->gathered);
      }
      if (rejected_ != nullptr) parcel->rejected_share.store(*rejected_, parcel->view, bytes, parcel->gathered);
      parcel->source->release(parcel->range);
    }
    clock_.advance(parcel->range.count);
    return parcel;
  }

  /// Stores all points of a chunk, those that are not kept without coordinates.
  void store_all(Parcel& parcel, std::uint64_t bytes) {
    const CoordinateFrame& frame = parcel.source->info().frame;
    const std::uint64_t total = parcel.view.count;
    parcel.gathered.resize(std::min(detail::kGatheredRecords, total) * bytes);
    std::size_t kept = 0;
    for (std::uint64_t first = 0; first < total; first += detail::kGatheredRecords) {
      const std::uint64_t count = std::min(detail::kGatheredRecords, total - first);
      std::byte* const out = parcel.gathered.data();
      copy_records({parcel.view.records + first * parcel.view.stride, count, parcel.view.stride}, bytes, out);
      for (std::uint64_t i = 0; i < count; ++i) {
        if (kept < parcel.kept.size() && parcel.kept[kept] == first + i) {
          ++kept;
        } else {
          blank(frame, out + i * bytes);
        }
      }
      kept_.store(parcel.place + first, PointView{out, count, bytes});
    }
  }

  static void blank(const CoordinateFrame& frame, std::byte* record) {
    for (const std::uint32_t at : frame.at) {
      if (frame.kind == CoordinateKind::kFloat32) {
        store_unaligned(record + at, std::numeric_limits<float>::quiet_NaN());
      } else {
        store_unaligned(record + at, std::numeric_limits<double>::quiet_NaN());
      }
    }
  }

  /// In input order: a sink that encodes holds what cannot be written before earlier points are, so no chunk may get
  /// far ahead.
  void let_go(Parcel* parcel) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(parcel);
  }

  std::span<ChunkSource* const> sources_;
  std::uint64_t every_;
  ChunkSink& kept_;
  ChunkSink* rejected_;
  bool keep_places_;
  const Execution& execution_;
  Report& report_;
  detail::JobClock clock_;
  std::shared_ptr<const Plan> plan_;
  detail::Culling culling_;
  detail::Choice choice_;
  std::uint64_t chunk_ = 0;
  std::uint64_t together_ = 0;  ///< points that a source decodes together, if any does
  std::size_t tokens_ = 0;
  std::vector<Route> routes_;  ///< one per source
  std::vector<Parcel> parcels_;

  std::mutex mutex_;  ///< guards idle_, device_workers_ and what give_up_device writes
  std::vector<Parcel*> idle_;
  std::vector<std::unique_ptr<Worker>> device_workers_;
  std::atomic<bool> device_failed_{false};

  // Of the last parcels, those that had to be completed.
  static constexpr int kAlways = 1024;
  static constexpr int kLikely = kAlways * 3 / 4;
  std::atomic<int> share_completed_{0};

  // Of the serial stages.
  std::size_t source_at_ = 0;
  std::uint64_t points_before_ = 0;  ///< of the sources before this one
  std::uint64_t passed_ = 0;
};

}  // namespace

Report filter(std::span<ChunkSource* const> sources, const Selection& selection, ChunkSink& kept, ChunkSink* rejected,
              const Execution& execution, const FilterOptions& options) {
  require_same_layout(sources);
  if (options.keep_places) {
    if (sources.size() != 1) throw InvalidArgument("points of several clouds cannot all keep their places");
    if (sources.front()->info().frame.kind == CoordinateKind::kLattice) {
      throw InvalidArgument("coordinates that are integers cannot become NaN");
    }
  }
  if (selection.every == 0) throw InvalidArgument("'every' must be at least 1");
  Report report;
  report.threads = detail::thread_count(execution);
  FilterJob job(sources, selection, kept, rejected, execution, options, report);
  tbb::task_arena arena(report.threads);
  arena.execute([&] { job.run(); });
  return report;
}

CloudResult filter(const PointCloud& cloud, const Selection& selection, const Execution& execution) {
  detail::CloudSource source(cloud);
  detail::CloudSink sink(cloud.info(), cloud.count());
  ChunkSource* const sources[] = {&source};
  Report report = filter(sources, selection, sink, nullptr, execution);
  return {sink.take(), std::move(report)};
}

}  // namespace sluice
