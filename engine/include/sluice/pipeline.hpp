// SPDX-License-Identifier: Apache-2.0
/// \file
/// Plans and workers, for programs that run one operation on many clouds of one layout: the plan is made once and
/// shared, each thread or stream has a worker whose memory is sized once and reused.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sluice/core/cell_grid.hpp"
#include "sluice/core/point_cloud.hpp"
#include "sluice/core/predicate_program.hpp"
#include "sluice/core/region.hpp"
#include "sluice/kernels/backend.hpp"
#include "sluice/operations.hpp"

namespace sluice {

/// What to do with clouds of one layout. Immutable; may be shared between threads.
class Plan {
 public:
  enum class Kind : std::uint8_t { kSelect, kThin, kBin };

  /// \throws InvalidArgument, Unsupported where the selection or grid does not fit the layout
  [[nodiscard]] static std::shared_ptr<const Plan> select(const CloudInfo& layout, const Selection& selection);
  [[nodiscard]] static std::shared_ptr<const Plan> thin(const CloudInfo& layout, const Selection& selection,
                                                        const ThinOptions& options);
  [[nodiscard]] static std::shared_ptr<const Plan> bin(const CloudInfo& layout, const Selection& selection,
                                                       const BinOptions& options);

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] const CloudInfo& layout() const noexcept { return layout_; }
  [[nodiscard]] const PredicateProgram& predicate() const noexcept { return predicate_; }
  [[nodiscard]] const kernels::BinSpec& bin_spec() const noexcept { return bin_; }
  [[nodiscard]] const kernels::ReduceSpec& reduce_spec() const noexcept { return reduce_; }
  /// Thin by centroid with rules for attributes, which need all points of every cell.
  [[nodiscard]] bool wants_members() const noexcept { return wants_members_; }
  /// Fields that the predicate reads, one per slot.
  [[nodiscard]] const std::vector<Field>& columns() const noexcept { return columns_; }

  /// Bytes of backend memory that a worker for clouds of up to `max_points` points holds in all.
  [[nodiscard]] std::uint64_t backend_bytes(kernels::Backend& backend, std::uint64_t max_points) const;
  /// Bytes of host memory that it holds beside the backend's; 0 on the CPU.
  [[nodiscard]] std::uint64_t staging_bytes(const kernels::Backend& backend, std::uint64_t max_points) const;

 private:
  friend class Worker;
  Plan() = default;
  static std::shared_ptr<Plan> base(const CloudInfo& layout, const Selection& selection);

  Kind kind_ = Kind::kSelect;
  CloudInfo layout_;
  PredicateProgram predicate_;
  std::vector<Field> columns_;
  kernels::BinSpec bin_;
  kernels::ReduceSpec reduce_;
  bool wants_members_ = false;
};

/// Runs a plan. Belongs to one thread at a time; after construction it allocates nothing.
class Worker {
 public:
  /// \param max_points  most points of one cloud
  /// \throws OutOfMemory
  Worker(std::shared_ptr<const Plan> plan, std::shared_ptr<kernels::Backend> backend, std::uint64_t max_points);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Results of `run`, in host memory, valid until the next one.
  struct Result {
    kernels::SelectCounts counts;
    /// select and thin: indices of the points that stay, ascending (thin by centroid: of the point nearest to each
    /// centroid, in the order of the first point of the cell). bin: indices by cell.
    std::span<const std::uint32_t> indices;
    std::span<const std::uint32_t> rejected;         ///< select, on demand
    std::uint64_t cells = 0;                         ///< thin and bin: occupied
    KeyLayout key_layout;                            ///< bin
    std::span<const std::uint64_t> cell_keys;        ///< bin: ascending
    std::span<const std::uint32_t> cell_first;       ///< bin: where each cell starts in `indices`
    std::span<const Record16> lattice_centroids;     ///< thin by centroid, on a lattice
    std::span<const Record32> world_centroids;       ///< thin by centroid, float clouds
    std::span<const std::uint32_t> members;          ///< where the plan wants members: indices by cell,
    std::span<const std::uint32_t> member_first;     ///< where each cell starts in them (and their number at the end),
    std::span<const std::uint32_t> centroid_member;  ///< and which of these cells each centroid is of
  };

  /// Runs the plan on `points` records of the plan's layout in host memory, and waits.
  /// \param first_index    number of the first point within the whole input, for random choices
  /// \param want_rejected  fill Result::rejected (select)
  [[nodiscard]] Result run(const PointView& points, std::uint64_t first_index = 0, bool want_rejected = false);

  [[nodiscard]] kernels::Backend& backend() const noexcept { return *backend_; }

 private:
  struct Memory;
  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<kernels::Backend> backend_;
  std::uint64_t max_points_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace sluice
