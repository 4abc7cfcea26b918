// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sources and sinks of chunks for tests: they fail when told to, and check how they are used.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sluice/core/chunk_stream.hpp"
#include "sluice/core/point_cloud.hpp"

namespace sluice::test {

/// What a stream throws when told to fail; no error of the library.
class Sabotage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Serves a cloud in pieces, decoded into the caller's buffer, where each record is followed by padding but the last.
class PiecewiseSource final : public ChunkSource {
 public:
  explicit PiecewiseSource(PointCloud cloud, std::uint64_t padding = 0)
      : cloud_(std::move(cloud)), padding_(padding), info_(cloud_.info()) {}

  [[nodiscard]] const CloudInfo& info() const override { return info_; }
  [[nodiscard]] CloudInfo& mutable_info() { return info_; }

  bool next(std::uint64_t max_points, ChunkRange& range) override {
    if (next_ == cloud_.count()) return false;
    largest_asked = std::max(largest_asked, max_points);
    const std::uint64_t most = most_per_chunk == 0 ? max_points : std::min(max_points, most_per_chunk);
    range.first = next_;
    range.count = std::min(most, cloud_.count() - next_);
    range.token = next_ + 17;
    next_ += range.count;
    return true;
  }

  PointView load(const ChunkRange& range, RecordBuffer& buffer) override {
    if (range.token != range.first + 17) throw std::logic_error("a range came back changed");
    if (++loads == fail_at_load) throw Sabotage("load");
    const std::uint64_t bytes = info_.schema.record_bytes;
    const std::uint64_t stride = bytes + padding_;
    // Not a byte more than the records need, so that a sanitizer sees who reads on.
    buffer = RecordBuffer(range.count * stride - (range.count == 0 ? 0 : padding_));
    for (std::uint64_t i = 0; i < range.count; ++i) {
      std::memcpy(buffer.data() + i * stride, cloud_.records().data() + (range.first + i) * bytes, bytes);
    }
    return PointView{buffer.data(), range.count, stride};
  }

  void release(const ChunkRange& range) override { released += range.count; }
  [[nodiscard]] std::uint64_t chunk_bytes(std::uint64_t points) const override {
    return points * (info_.schema.record_bytes + padding_);
  }
  void rewind() override { next_ = 0; }

  std::uint64_t most_per_chunk = 0;  ///< 0: as many as are asked for
  std::uint64_t fail_at_load = 0;    ///< 0: never
  std::uint64_t largest_asked = 0;
  std::atomic<std::uint64_t> loads{0};
  std::atomic<std::uint64_t> released{0};

 private:
  PointCloud cloud_;
  std::uint64_t padding_;
  CloudInfo info_;
  std::uint64_t next_ = 0;
};

/// Collects records, each place of which must be stored exactly once.
class CheckedSink final : public ChunkSink {
 public:
  explicit CheckedSink(std::uint64_t record_bytes) : bytes_(record_bytes) {}

  std::uint64_t reserve(std::uint64_t count) override {
    const std::lock_guard lock(mutex_);
    const std::uint64_t first = stored_.size();
    stored_.resize(first + count, false);
    records_.resize((first + count) * bytes_);
    return first;
  }
  void store(std::uint64_t first, const PointView& view) override {
    if (++stores == fail_at_store) throw Sabotage("store");
    const std::lock_guard lock(mutex_);
    for (std::uint64_t i = 0; i < view.count; ++i) {
      if (first + i >= stored_.size()) throw std::logic_error("a place was stored that nobody reserved");
      if (stored_[first + i]) throw std::logic_error("a place was stored twice");
      stored_[first + i] = true;
      std::memcpy(records_.data() + (first + i) * bytes_, view.records + i * view.stride, bytes_);
    }
  }
  void seal() override {}
  void finish() override {}
  [[nodiscard]] std::uint64_t count() const override { return stored_.size(); }
  [[nodiscard]] std::vector<std::string> warnings() const override { return {}; }

  /// The records. \throws std::logic_error where a reserved place was not stored
  [[nodiscard]] const std::vector<std::byte>& records() const {
    for (const bool stored : stored_) {
      if (!stored) throw std::logic_error("a reserved place was not stored");
    }
    return records_;
  }

  std::uint64_t fail_at_store = 0;  ///< 0: never
  std::atomic<std::uint64_t> stores{0};

 private:
  std::uint64_t bytes_;
  std::mutex mutex_;
  std::vector<std::byte> records_;
  std::vector<bool> stored_;
};

}  // namespace sluice::test
