// SPDX-License-Identifier: Apache-2.0
#include "whole.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <utility>

#include "gather.hpp"
#include "machine.hpp"
#include "sluice/core/error.hpp"
#include "sluice/in_flight.hpp"

namespace sluice::detail {

WholeJob::WholeJob(std::span<ChunkSource* const> sources, const Selection& selection, const ChunkSink& sink,
                   const Execution& execution, const char* verb, bool sees_rejected)
    : sources_(sources),
      selection_(selection),
      sink_(sink),
      execution_(execution),
      verb_(verb),
      // A random choice goes by a point's number in the whole input, which is its place among the points held.
      culling_(sources, selection, !sees_rejected && selection.fraction >= 1.0),
      total_(total_points(sources) - culling_.left_out()),
      clock_(execution, total_points(sources)) {
  if (selection.every == 0) throw InvalidArgument("'every' must be at least 1");
  if (total_ > kernels::kMaxPoints) {
    throw Unsupported(verb_ + " takes at most " + std::to_string(kernels::kMaxPoints) +
                      " points at once, the input has " + std::to_string(total_));
  }
}

void WholeJob::require_memory(const Plan& plan, const kernels::Backend& backend, std::uint64_t backend_bytes) const {
  const std::uint64_t records = total_ * layout().schema.record_bytes * (selection_.every > 1 ? 2 : 1);
  const int threads = thread_count(execution_);
  const std::uint64_t needed = records + held_by(sources_) + plan.staging_bytes(backend, total_) +
                               (backend.is_device() ? 0 : backend_bytes) +
                               sink_.held_bytes(std::min(total_, written_together(threads)), total_, threads);
  const std::uint64_t limit = memory_limit(execution_);
  if (needed > limit) {
    throw OutOfMemory(needed, limit, verb_ + ", which holds all " + std::to_string(total_) + " points at once,");
  }
}

Worker::Result WholeJob::run(
    const GridOptions& grid,
    const std::function<std::shared_ptr<const Plan>(const CloudInfo&, const Selection&, const GridOptions&)>& make_plan,
    Report& report) {
  // Whatever can be refused is refused before anything is read.
  GridOptions fixed = grid;
  Selection remaining = selection_;
  std::shared_ptr<const Plan> plan = make_plan(layout(), remaining, fixed);
  choice_ = choose_backend(execution_, *plan, total_, report.threads);
  const std::shared_ptr<kernels::Backend> least = choice_.automatic ? cpu_backend(execution_) : choice_.backend;
  require_memory(*plan, *least, plan->backend_bytes(*least, total_));
  if (!choice_.automatic && choice_.backend->is_device() && selection_.every == 1) {
    // Nothing takes over from a device that was asked for by name, so its memory is tried now.
    const MemoryBlock trial(choice_.backend->memory(), plan->backend_bytes(*choice_.backend, total_), verb_.c_str());
  }

  const std::uint64_t taken = total_ * layout().schema.record_bytes + held_by(sources_);
  const std::uint64_t limit = memory_limit(execution_);
  held_.emplace(sources_, total_, limit > taken ? limit - taken : 0, clock_);
  view_ = held_->view();
  report.points_read = view_.count + culling_.left_out();
  report.points_rejected = culling_.left_out();
  clock_.advance(culling_.left_out());
  if (grid.origin_at_minimum) {
    const BusyTimer timer(clock_.compute_ns);
    Decimal origin[3];
    smallest_coordinates(layout(), view_, selection_.drop_zero, origin);
    for (std::size_t d = 0; d < 3; ++d) fixed.origin[d] = origin[d];
    fixed.origin_at_minimum = false;
  }
  if (selection_.every > 1) {
    preselect(selection_, report);
    remaining = Selection{};
    remaining.drop_zero = selection_.drop_zero;
  }
  plan = make_plan(layout(), remaining, fixed);
  report.has_cells = true;
  for (std::size_t d = 0; d < 3; ++d) report.origin[d] = fixed.origin[d];
  if (!fixed.use_z) report.origin[2] = Decimal{};

  Worker::Result result = run_plan(plan, report);
  report.points_rejected += result.counts.rejected;
  report.points_nonfinite += result.counts.nonfinite;
  report.cells = result.cells;
  clock_.advance(view_.count);
  return result;
}

void WholeJob::preselect(const Selection& selection, Report& report) {
  const std::shared_ptr<const Plan> plan = Plan::select(layout(), selection);
  const std::shared_ptr<kernels::Backend> backend = cpu_backend(execution_);
  const BusyTimer timer(clock_.compute_ns);
  Worker worker(plan, backend, view_.count);
  const Worker::Result chosen = worker.run(view_);
  std::vector<std::uint32_t> indices(chosen.indices.begin(), chosen.indices.end());
  const std::uint64_t left = keep_every(indices, selection.every, 0, nullptr);
  report.points_nonfinite += chosen.counts.nonfinite;
  report.points_rejected += chosen.counts.rejected + (indices.size() - left);
  const std::uint64_t bytes = layout().schema.record_bytes;
  preselected_.resize(left * bytes);
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, left, 16384), [&](const auto& range) {
    gather_records(view_, bytes, std::span<const std::uint32_t>(indices).subspan(range.begin(), range.size()),
                   preselected_.data() + range.begin() * bytes);
  });
  view_ = PointView{preselected_.data(), left, bytes};
}

Worker::Result WholeJob::run_plan(const std::shared_ptr<const Plan>& plan, Report& report) {
  Choice choice = choice_;
  const BusyTimer timer(clock_.compute_ns);
  std::string failure;
  const auto attempt = [&] {
    require_memory(*plan, *choice.backend, plan->backend_bytes(*choice.backend, view_.count));
    worker_ = std::make_unique<Worker>(plan, choice.backend, view_.count);
    report.backend = choice.backend->name();
    report.backend_reason = choice.reason;
    report.device = choice.backend->device_name();
    return worker_->run(view_);
  };
  if (!choice.automatic || !choice.backend->is_device()) return attempt();
  try {
    return attempt();
  } catch (const DeviceError& error) {
    failure = error.what();
  } catch (const OutOfMemory& error) {
    failure = error.what();
  }
  worker_.reset();
  report.warnings.push_back("the GPU failed and the CPU took over: " + failure);
  choice.backend = cpu_backend(execution_);
  choice.reason = "the GPU failed: " + failure;
  return attempt();
}

}  // namespace sluice::detail
