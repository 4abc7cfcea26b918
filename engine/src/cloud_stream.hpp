// SPDX-License-Identifier: Apache-2.0
/// \file
/// Clouds in memory as a source and a sink of chunks.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sluice/core/chunk_stream.hpp"
#include "sluice/core/point_cloud.hpp"

namespace sluice::detail {

/// Views a cloud that must outlive it.
class CloudSource final : public ChunkSource {
 public:
  explicit CloudSource(const PointCloud& cloud) : cloud_(cloud) {}
  [[nodiscard]] const CloudInfo& info() const override { return cloud_.info(); }
  bool next(std::uint64_t max_points, ChunkRange& range) override;
  PointView load(const ChunkRange& range, RecordBuffer& buffer) override;
  void release(const ChunkRange& /*range*/) override {}
  [[nodiscard]] std::uint64_t chunk_bytes(std::uint64_t /*points*/) const override { return 0; }
  void rewind() override { next_ = 0; }

 private:
  const PointCloud& cloud_;
  std::uint64_t next_ = 0;
};

/// Collects records into a new cloud.
class CloudSink final : public ChunkSink {
 public:
  /// \param capacity  most points that will be stored. Only what is stored takes memory, but none of it ever moves, so
  ///                  that places can be reserved while others are being filled.
  CloudSink(CloudInfo like, std::uint64_t capacity);
  std::uint64_t reserve(std::uint64_t count) override;
  void store(std::uint64_t first, const PointView& view) override;
  void seal() override {}
  void finish() override {}
  [[nodiscard]] std::uint64_t count() const override { return count_; }
  [[nodiscard]] std::vector<std::string> warnings() const override { return {}; }

  /// The cloud, once everything is stored; the sink is then empty.
  PointCloud take();

 private:
  CloudInfo info_;
  std::vector<std::byte> records_;
  std::byte* base_;
  std::uint64_t capacity_;
  std::uint64_t count_ = 0;
};

}  // namespace sluice::detail
