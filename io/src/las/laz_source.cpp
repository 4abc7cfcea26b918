// SPDX-License-Identifier: Apache-2.0
#include "laz_source.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "sluice/core/error.hpp"

namespace sluice::io::las {
namespace {

// Larger chunks are worth splitting: a chunk that claims to be huge must not make every reader's buffers so.
constexpr std::uint64_t kLargestPiece = std::uint64_t{1} << 20;

/// Marks ranges that were decoded when they were handed out.
constexpr std::uint64_t kAhead = std::numeric_limits<std::uint64_t>::max();

/// A range is a run of whole chunks without a gap, decoded by whoever loads it. A chunk with more points than the
/// caller wants at a time is decoded as it is handed out: a layered one at once and shared by its ranges, a stream part
/// by part.
class LazSource final : public SourceBase {
 public:
  LazSource(std::shared_ptr<const InputBytes> bytes, CloudInfo info, LazPoints points, bool recovered)
      : bytes_(std::move(bytes)), info_(std::move(info)), points_(std::move(points)) {
    recovered_ = recovered;
    for (const laz::Chunk& chunk : points_.chunks) {
      largest_points_ = std::max(largest_points_, chunk.points);
      largest_bytes_ = std::max(largest_bytes_, chunk.bytes);
    }
  }

  [[nodiscard]] const CloudInfo& info() const override { return info_; }

  bool next(std::uint64_t max_points, ChunkRange& range) override {
    if (max_points == 0) throw InvalidArgument("a chunk has at least one point");
    if (in_chunk_ == 0) pass_over_skipped();
    if (chunk_ == points_.chunks.size()) return false;
    const laz::Chunk& first = points_.chunks[chunk_];
    if (is_split(first, max_points)) {
      decode_ahead(first, max_points, range);
      return true;
    }
    range = {first.first, 0, chunk_};
    std::uint64_t end = first.offset;
    for (; chunk_ < points_.chunks.size() && !is_skipped(chunk_); ++chunk_) {
      const laz::Chunk& chunk = points_.chunks[chunk_];
      if (chunk.points > max_points - range.count) break;
      range.count += chunk.points;
      end = chunk.offset + chunk.bytes;
    }
    // The caller loads this range at once; what comes after it can be on its way meanwhile.
    pass_over_skipped();
    if (chunk_ < points_.chunks.size()) bytes_->prefetch(points_.chunks[chunk_].offset, end - first.offset);
    return true;
  }

  PointView load(const ChunkRange& range, RecordBuffer& buffer) override {
    const std::uint64_t record_bytes = points_.layout.record_bytes;
    bytes_->check_length();
    if (range.token == kAhead) {
      const std::lock_guard lock(mutex_);
      const auto part = parts_.find(range.first);
      if (part == parts_.end()) throw_not_handed_out(range);
      return PointView{part->second.records.get() + part->second.at * record_bytes, range.count, record_bytes};
    }
    if (range.token >= points_.chunks.size() || points_.chunks[range.token].first != range.first ||
        range.count > info_.point_count - range.first) {
      throw_not_handed_out(range);
    }
    if (buffer.size() < range.count * record_bytes) {
      // Given up first, or the old bytes would be held and copied for nothing.
      RecordBuffer().swap(buffer);
      buffer.resize(range.count * record_bytes);
    }
    std::unique_ptr<LazWorkspace> workspace = borrow();
    std::uint64_t done = 0;
    for (std::size_t i = range.token; done < range.count; ++i) {
      const laz::Chunk& chunk = points_.chunks[i];
      if (chunk.points > range.count - done) throw_not_handed_out(range);
      const LazResult result = decode_chunk(points_, chunk, *workspace, buffer.data() + done * record_bytes);
      if (result.status != laz::Status::kOk) fail(chunk, result);
      bytes_->release(bytes_->data() + chunk.offset, chunk.bytes);
      done += chunk.points;
    }
    give_back(std::move(workspace));
    return PointView{buffer.data(), range.count, record_bytes};
  }

  void release(const ChunkRange& range) override {
    if (range.token != kAhead) return;
    const std::lock_guard lock(mutex_);
    parts_.erase(range.first);
  }

  [[nodiscard]] std::uint64_t chunk_bytes(std::uint64_t points) const override {
    std::uint64_t held = points;
    std::uint64_t together = std::min(points, largest_points_);
    if (points_.one_stream || largest_points_ > points) {
      // Beside the caller's buffer a range then has, or shares, memory of this source.
      together = points_.layout.layered ? largest_points_ : points;
      held += together;
    }
    return held * points_.layout.record_bytes + workspace_bytes(points_.layout, together) +
           (points_.one_stream ? 0 : largest_bytes_);
  }

  [[nodiscard]] std::uint64_t decoded_together() const override {
    return points_.one_stream ? 1 : std::clamp<std::uint64_t>(largest_points_, 1, kLargestPiece);
  }

  std::uint64_t skip_unwanted(const std::function<bool(const Box&)>& wanted) override {
    std::vector<bool> skipped;
    std::uint64_t left_out = 0;
    if (wanted && !points_.bounds.empty()) {
      skipped.resize(points_.chunks.size());
      for (std::size_t i = 0; i < skipped.size(); ++i) {
        skipped[i] = points_.bounds[i] && !wanted(*points_.bounds[i]);
        if (skipped[i]) left_out += points_.chunks[i].points;
      }
    }
    skipped_from_rewind_ = std::move(skipped);
    return left_out;
  }

  void rewind() override {
    const std::lock_guard lock(mutex_);
    skipped_ = skipped_from_rewind_;
    chunk_ = 0;
    in_chunk_ = 0;
    stream_.reset();
    whole_.reset();
    parts_.clear();
  }

 private:
  /// Points that were decoded before they were asked for.
  struct Part {
    std::shared_ptr<std::byte[]> records;
    std::uint64_t at = 0;  ///< first point in it
  };

  [[noreturn]] void fail(const laz::Chunk& chunk, const LazResult& result) const {
    const laz::Problem problem = chunk_problem(points_, chunk, result.status, result.points);
    throw FormatError(bytes_->path(), problem.offset, problem.field, problem.text);
  }
  [[noreturn]] void throw_not_handed_out(const ChunkRange& range) const {
    throw InvalidArgument(info_.name + ": the points " + std::to_string(range.first) + " to " +
                          std::to_string(range.first + range.count) + " were asked for, but not handed out");
  }

  [[nodiscard]] bool is_skipped(std::size_t chunk) const { return !skipped_.empty() && skipped_[chunk]; }
  void pass_over_skipped() {
    while (chunk_ < points_.chunks.size() && is_skipped(chunk_)) ++chunk_;
  }

  [[nodiscard]] bool is_split(const laz::Chunk& chunk, std::uint64_t max_points) const {
    return points_.one_stream || in_chunk_ != 0 || chunk.points > max_points;
  }

  std::unique_ptr<std::byte[]> room_for(std::uint64_t points) const {
    return std::make_unique_for_overwrite<std::byte[]>(points * points_.layout.record_bytes);
  }

  void decode_ahead(const laz::Chunk& chunk, std::uint64_t max_points, ChunkRange& range) {
    bytes_->check_length();
    const std::uint64_t count = std::min(max_points, chunk.points - in_chunk_);
    Part part = points_.layout.layered ? part_of_layers(chunk) : part_of_stream(chunk, count);
    range = {chunk.first + in_chunk_, count, kAhead};
    {
      const std::lock_guard lock(mutex_);
      parts_[range.first] = std::move(part);
    }
    in_chunk_ += count;
    if (in_chunk_ < chunk.points) return;
    ++chunk_;
    in_chunk_ = 0;
    stream_.reset();
    whole_.reset();
  }

  Part part_of_layers(const laz::Chunk& chunk) {
    if (in_chunk_ == 0) {
      std::shared_ptr<std::byte[]> records = room_for(chunk.points);
      const LazResult result = decode_chunk(points_, chunk, own_workspace_, records.get());
      if (result.status != laz::Status::kOk) fail(chunk, result);
      bytes_->release(bytes_->data() + chunk.offset, chunk.bytes);
      whole_ = std::move(records);
    }
    return {whole_, in_chunk_};
  }

  Part part_of_stream(const laz::Chunk& chunk, std::uint64_t count) {
    if (in_chunk_ == 0) {
      stream_.emplace(own_workspace_.pointwise, points_.layout, points_.bytes_of(chunk));
      consumed_ = 0;
    }
    std::shared_ptr<std::byte[]> records = room_for(count);
    const laz::PointwiseResult result = stream_->decode(records.get(), points_.layout.record_bytes, count);
    if (result.status != laz::Status::kOk && !(chunk.surplus && result.points == count)) {
      fail(chunk, {result.status, in_chunk_ + result.points});
    }
    if (in_chunk_ + count == chunk.points && result.consumed != chunk.bytes && !points_.may_have_more(chunk)) {
      fail(chunk, {laz::Status::kLeftOver, chunk.points});
    }
    bytes_->release(bytes_->data() + chunk.offset + consumed_, result.consumed - consumed_);
    consumed_ = result.consumed;
    return {std::move(records), 0};
  }

  std::unique_ptr<LazWorkspace> borrow() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<LazWorkspace>();
    std::unique_ptr<LazWorkspace> workspace = std::move(idle_.back());
    idle_.pop_back();
    return workspace;
  }
  void give_back(std::unique_ptr<LazWorkspace> workspace) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(workspace));
  }

  std::shared_ptr<const InputBytes> bytes_;
  CloudInfo info_;
  LazPoints points_;
  std::uint64_t largest_points_ = 0;  ///< of any chunk
  std::uint64_t largest_bytes_ = 0;

  std::mutex mutex_;  ///< guards idle_ and parts_
  std::vector<std::unique_ptr<LazWorkspace>> idle_;
  std::map<std::uint64_t, Part> parts_;  ///< by their first point, until they are released

  std::vector<bool> skipped_from_rewind_;  ///< chunks, by `skip_unwanted`; none where empty

  // Of `next`.
  std::vector<bool> skipped_;
  std::size_t chunk_ = 0;
  std::uint64_t in_chunk_ = 0;  ///< points of that chunk handed out already
  LazWorkspace own_workspace_;
  std::optional<laz::PointwiseDecoder> stream_;
  std::uint64_t consumed_ = 0;  ///< bytes of the stream
  std::shared_ptr<std::byte[]> whole_;
};

}  // namespace

std::unique_ptr<SourceBase> make_laz_source(std::shared_ptr<const InputBytes> bytes, CloudInfo info, LazPoints points,
                                            bool recovered) {
  return std::make_unique<LazSource>(std::move(bytes), std::move(info), std::move(points), recovered);
}

}  // namespace sluice::io::las
