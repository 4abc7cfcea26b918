// SPDX-License-Identifier: Apache-2.0
/// \file
/// A scene as blocks (a scan line, a few columns of a turn) of as many points as nature gives each, in order.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sluice/core/chunk_stream.hpp"

namespace sluice::synth {

/// One point before it is written as a record.
struct Sample {
  double x = 0, y = 0, z = 0;  ///< world units
  double gps_time = 0;
  double scan_angle = 0;  ///< degrees
  std::uint16_t intensity = 0;
  std::uint16_t source_id = 0;
  std::array<std::uint16_t, 4> color{};  ///< red, green, blue, near infrared
  std::uint8_t return_number = 1;
  std::uint8_t returns = 1;
  std::uint8_t classification = 1;
  std::uint8_t ring = 0;
  bool scan_direction = false;
  bool edge = false;
};

/// Makes the points of any block. Belongs to one thread; the same block always gives the same points.
class BlockMaker {
 public:
  virtual ~BlockMaker() = default;
  /// Replaces `out` by the points of a block, at most `limit` of them: the last pulse of a scene has fewer returns
  /// where no more are wanted.
  virtual void make(std::uint64_t block, std::uint64_t limit, std::vector<Sample>& out) = 0;
  /// How many points the block has without a limit. A maker that knows without making them says so here.
  virtual std::uint64_t count(std::uint64_t block, std::vector<Sample>& scratch) {
    make(block, ~std::uint64_t{0}, scratch);
    return scratch.size();
  }
};

/// Counts the points of enough blocks for a scene, in parallel, and turns them into records.
class BlockScene final : public ChunkSource {
 public:
  /// \param points      of the whole scene; the last block is cut
  /// \param make_maker  makes a maker for each thread
  BlockScene(CloudInfo info, std::uint64_t points, const std::function<std::unique_ptr<BlockMaker>()>& make_maker);
  ~BlockScene() override;

  [[nodiscard]] const CloudInfo& info() const override { return info_; }
  bool next(std::uint64_t max_points, ChunkRange& range) override;
  PointView load(const ChunkRange& range, RecordBuffer& buffer) override;
  void release(const ChunkRange& range) override;
  [[nodiscard]] std::uint64_t chunk_bytes(std::uint64_t points) const override;
  void rewind() override { next_ = 0; }

 private:
  struct Makers;
  class Writer;

  CloudInfo info_;
  std::vector<std::uint64_t> first_;  ///< number of the first point of each block, and of the end
  std::unique_ptr<Makers> makers_;
  std::unique_ptr<Writer> writer_;
  std::uint64_t next_ = 0;
};

}  // namespace sluice::synth
