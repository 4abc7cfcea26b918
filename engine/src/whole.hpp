// SPDX-License-Identifier: Apache-2.0
/// \file
/// What thin and bin share: holding all points, choosing a backend for all of them at once, running it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend_choice.hpp"
#include "clock.hpp"
#include "culling.hpp"
#include "held_points.hpp"
#include "sluice/operations.hpp"
#include "sluice/pipeline.hpp"

namespace sluice::detail {

/// One run of a plan over all points of all sources.
class WholeJob {
 public:
  /// \param sink           what will be written to, whose memory counts too
  /// \param verb           "thin" or "bin", for messages
  /// \param sees_rejected  the result depends on points that the selection rejects, or on their number
  WholeJob(std::span<ChunkSource* const> sources, const Selection& selection, const ChunkSink& sink,
           const Execution& execution, const char* verb, bool sees_rejected);

  /// Reads all points, finds the origin, makes the plan by `make_plan(layout, selection, origin)`, runs it and counts
  /// into `report`.
  /// \return the result, valid as long as this job
  Worker::Result run(const GridOptions& grid,
                     const std::function<std::shared_ptr<const Plan>(const CloudInfo&, const Selection&,
                                                                     const GridOptions&)>& make_plan,
                     Report& report);

  [[nodiscard]] const PointView& view() const noexcept { return view_; }
  [[nodiscard]] const CloudInfo& layout() const noexcept { return sources_.front()->info(); }
  [[nodiscard]] JobClock& clock() noexcept { return clock_; }

 private:
  void require_memory(const Plan& plan, const kernels::Backend& backend, std::uint64_t backend_bytes) const;
  Worker::Result run_plan(const std::shared_ptr<const Plan>& plan, Report& report);
  /// Applies the selection and its `every` ahead of the cells: what stays is copied.
  void preselect(const Selection& selection, Report& report);

  std::span<ChunkSource* const> sources_;
  const Selection& selection_;
  const ChunkSink& sink_;
  const Execution& execution_;
  std::string verb_;
  Culling culling_;
  std::uint64_t total_;  ///< points to be held
  JobClock clock_;
  Choice choice_;
  std::optional<HeldPoints> held_;
  std::vector<std::byte> preselected_;
  PointView view_;
  std::unique_ptr<Worker> worker_;
};

}  // namespace sluice::detail
