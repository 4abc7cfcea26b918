// SPDX-License-Identifier: Apache-2.0
/// \file
/// All points of all sources at once, for operations that need a view of the whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "clock.hpp"
#include "sluice/core/chunk_stream.hpp"
#include "sluice/core/decimal.hpp"
#include "sluice/core/region.hpp"

namespace sluice::detail {

/// Sum of the points that the sources say they have.
std::uint64_t total_points(std::span<ChunkSource* const> sources);
/// What all sources hold beside their chunks.
[[nodiscard]] std::uint64_t held_by(std::span<ChunkSource* const> sources);

/// Holds the records of all sources, in order. A single source whose records lie in one piece (a mapped file) is viewed
/// where it is; others are copied, in parallel where they have to be decoded first.
class HeldPoints {
 public:
  /// \param total        points that the sources will hand out
  /// \param spare_bytes  of memory beside the records, for decoding
  /// \throws OutOfMemory where they are not enough for one chunk
  HeldPoints(std::span<ChunkSource* const> sources, std::uint64_t total, std::uint64_t spare_bytes, JobClock& clock);
  ~HeldPoints();
  HeldPoints(const HeldPoints&) = delete;
  HeldPoints& operator=(const HeldPoints&) = delete;

  [[nodiscard]] const PointView& view() const noexcept { return view_; }

 private:
  bool borrow(ChunkSource& source, std::uint64_t total);
  void copy(std::span<ChunkSource* const> sources, std::uint64_t total, std::uint64_t spare_bytes, JobClock& clock);

  ChunkSource* lender_ = nullptr;
  ChunkRange lent_;
  RecordBuffer lent_buffer_;
  std::unique_ptr<std::byte[]> copied_;
  PointView view_;
};

/// The smallest finite coordinate per axis, exact; zero where there is none.
/// \param drop_zero  points at exactly 0,0,0 do not count
void smallest_coordinates(const CloudInfo& info, const PointView& view, bool drop_zero, Decimal out[3]);

/// Points that are on their way to a sink at most while `write_made` or `write_gathered` runs.
[[nodiscard]] std::uint64_t written_together(int threads);

/// Writes the records view[indices[i]], of `record_bytes` bytes each, in the order of the indices, in parallel.
void write_gathered(const PointView& view, std::uint32_t record_bytes, std::span<const std::uint32_t> indices,
                    ChunkSink& sink, JobClock& clock);

/// Writes `count` records that `fill(first, count, out)` makes, a block at a time, in parallel.
void write_made(std::uint64_t count, std::uint32_t record_bytes, ChunkSink& sink, JobClock& clock,
                const std::function<void(std::uint64_t first, std::uint64_t count, std::byte* out)>& fill);

/// Keeps every n-th entry of `indices`, the first one included when `phase` entries before it have a multiple of n.
/// \return entries kept; they stay in front, in order. Those left out are appended to `refused` if it is not null.
std::uint64_t keep_every(std::span<std::uint32_t> indices, std::uint64_t n, std::uint64_t phase,
                         std::vector<std::uint32_t>* refused);

}  // namespace sluice::detail
