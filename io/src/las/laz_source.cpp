// SPDX-License-Identifier: Apache-2.0
#include "laz_source.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "sluice/core/error.hpp"
#include "sluice/core/pool.hpp"

namespace sluice::io::las {
namespace {

// Larger chunks are worth splitting: a chunk that claims to be huge must not make every reader's buffers so.
constexpr std::uint64_t kLargestPiece = std::uint64_t{1} << 20;

// Ranges of that many points are on their way in such numbers that every thread has one; of larger ones, which a GPU
// gets, there are few.
constexpr std::uint64_t kMostOfOneThread = std::uint64_t{1} << 18;

/// Marks ranges that were decoded when they were handed out.
constexpr std::uint64_t kAhead = std::numeric_limits<std::uint64_t>::max();

/// A range is a run of whole chunks without a gap, decoded by whoever loads it; of layered ones at first only what is
/// wanted. A chunk with more points than the caller wants at a time is decoded as it is handed out: a layered one at
/// once and shared by its ranges, a stream part by part.
class LazSource final : public SourceBase {
 public:
  LazSource(std::shared_ptr<const InputBytes> bytes, CloudInfo info, LazPoints points, bool recovered)
      : bytes_(std::move(bytes)), info_(std::move(info)), points_(std::move(points)) {
    recovered_ = recovered;
    for (const laz::Chunk& chunk : points_.chunks) largest_points_ = std::max(largest_points_, chunk.points);
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
    require_handed_out(range);
    std::byte* records = room_in(buffer, range.count * record_bytes);
    decode_chunks(range, 0, range.count, [&](const laz::Chunk& chunk, std::uint64_t at, LazWorkspace& workspace) {
      return decode_chunk(points_, chunk, workspace, records + at * record_bytes);
    });
    return PointView{records, range.count, record_bytes};
  }

  PointView load_fields(const ChunkRange& range, std::span<const ByteRange> wanted, RecordBuffer& buffer) override {
    if (range.token == kAhead || !points_.layout.layered) return load(range, buffer);
    bytes_->check_length();
    const std::uint64_t record_bytes = points_.layout.record_bytes;
    std::uint64_t layers = 0;
    for (const ByteRange& bytes : wanted) layers |= laz::layers_of(points_.layout, bytes.at, bytes.bytes);
    require_handed_out(range);
    std::byte* records = room_in(buffer, bytes_with_leavings(range.count));
    const Leavings left = leavings_in(buffer, range.count);
    const std::uint64_t missing = laz::layers_of(points_.layout, 0, record_bytes) & ~layers;
    std::memcpy(left.missing, &missing, sizeof missing);
    decode_chunks(range, 0, range.count, [&](const laz::Chunk& chunk, std::uint64_t at, LazWorkspace& workspace) {
      std::uint16_t* words = left.control_words + at;
      const LazResult result = decode_layers(points_, chunk, workspace, records + at * record_bytes, layers, words);
      *words = missing == 0 ? kComplete : kIncomplete;
      return result;
    });
    return PointView{records, range.count, record_bytes};
  }

  void complete(const ChunkRange& range, std::uint64_t first, std::uint64_t count, RecordBuffer& buffer) override {
    if (range.token == kAhead || !points_.layout.layered || count == 0) return;
    bytes_->check_length();
    const std::uint64_t record_bytes = points_.layout.record_bytes;
    const Leavings left = leavings_in(buffer, range.count);
    std::uint64_t missing = 0;
    std::memcpy(&missing, left.missing, sizeof missing);
    decode_chunks(range, first, count, [&](const laz::Chunk& chunk, std::uint64_t at, LazWorkspace& workspace) {
      std::uint16_t* words = left.control_words + at;
      if (*words == kComplete) return LazResult{};
      const LazResult result =
          decode_further_layers(points_, chunk, workspace, buffer.data() + at * record_bytes, missing, words);
      *words = kComplete;
      return result;
    });
  }

  [[nodiscard]] std::vector<std::string> late_warnings() const override {
    if (!has_more_) return {};
    return {laz::surplus_text(info_.point_count)};
  }

  [[nodiscard]] std::string coding() const override {
    return points_.one_stream ? std::string() : laz::coding_of(points_.layout);
  }

  void encoded_runs(const ChunkRange& range, std::vector<EncodedRun>& out) const override {
    out.clear();
    if (range.token == kAhead) return;
    for_chunks(range, [&](const laz::Chunk& chunk, std::uint64_t /*at*/) {
      out.push_back({chunk.points, is_exact(chunk) ? points_.bytes_of(chunk) : std::span<const std::byte>()});
    });
  }

  void release(const ChunkRange& range) override {
    if (range.token != kAhead) {
      for_chunks(range, [&](const laz::Chunk& chunk, std::uint64_t /*at*/) {
        bytes_->release(bytes_->data() + chunk.offset, chunk.bytes);
      });
      return;
    }
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
    // Of a large range each thread decodes some chunks.
    const std::uint64_t workspaces =
        points > kMostOfOneThread ? static_cast<std::uint64_t>(tbb::this_task_arena::max_concurrency()) : 1;
    return held * points_.layout.record_bytes + (bytes_with_leavings(points) - points * points_.layout.record_bytes) +
           workspaces * workspace_bytes(points_.layout, together) + (points_.one_stream ? 0 : most_encoded(points));
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
    const laz::Problem problem = chunk_problem(points_, chunk, result);
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

  void check(const laz::Chunk& chunk, const LazResult& result) {
    if (result.status != laz::Status::kOk) fail(chunk, result);
    if (result.surplus && !chunk.surplus) has_more_ = true;
  }

  /// Refuses what is not a run of whole chunks: it would be decoded beyond its end.
  void require_handed_out(const ChunkRange& range) const {
    const std::vector<laz::Chunk>& chunks = points_.chunks;
    if (range.token >= chunks.size() || chunks[range.token].first != range.first || range.count == 0 ||
        range.count > info_.point_count - range.first) {
      throw_not_handed_out(range);
    }
    const laz::Chunk& last =
        *(std::upper_bound(chunks.begin(), chunks.end(), range.first + range.count - 1, begins_after) - 1);
    if (last.first + last.points != range.first + range.count) throw_not_handed_out(range);
  }

  /// Calls body(chunk, number of its first point in the range) for the chunks of a range.
  template <class Body>
  void for_chunks(const ChunkRange& range, const Body& body) const {
    require_handed_out(range);
    std::uint64_t done = 0;
    for (std::size_t i = range.token; done < range.count; ++i) {
      body(points_.chunks[i], done);
      done += points_.chunks[i].points;
    }
  }

  /// Calls decode(chunk, number of its first point in the range, workspace) for the chunks that hold any of so many
  /// points of a range, and fails where the result says so.
  template <class Decode>
  void decode_chunks(const ChunkRange& range, std::uint64_t first, std::uint64_t count, const Decode& decode) {
    const std::vector<laz::Chunk>& chunks = points_.chunks;
    const auto from = chunks.begin() + static_cast<std::ptrdiff_t>(range.token);
    const auto begin = std::upper_bound(from, chunks.end(), range.first + first, begins_after) - 1;
    const auto end = std::upper_bound(begin, chunks.end(), range.first + first + count - 1, begins_after);
    const auto decode_some = [&](auto chunk, auto last) {
      LazWorkspace workspace = workspaces_.take();
      for (; chunk != last; ++chunk) check(*chunk, decode(*chunk, chunk->first - range.first, workspace));
      workspaces_.give(std::move(workspace));
    };
    if (count <= kMostOfOneThread) return decode_some(begin, end);
    // Whoever waits for these must not take up other chunks meanwhile.
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(tbb::blocked_range(begin, end, 1),
                        [&](const auto& part) { decode_some(part.begin(), part.end()); });
    });
  }

  /// True where the bytes of a chunk surely hold its points and nothing else. More behind them is no damage in the last
  /// chunk, but would be in another file in which it is not the last; and only decoding all of it would tell.
  [[nodiscard]] bool is_exact(const laz::Chunk& chunk) const { return !points_.may_have_more(chunk); }

  /// What `load_fields` leaves behind the records for `complete`.
  struct Leavings {
    std::byte* missing;            ///< mask of the layers that were not wanted, 8 bytes
    std::uint16_t* control_words;  ///< in the place of a chunk's first, which no layer needs, whether it is complete
  };
  static constexpr std::uint16_t kIncomplete = 0;
  static constexpr std::uint16_t kComplete = 1;

  [[nodiscard]] std::uint64_t leavings_at(std::uint64_t points) const {
    constexpr std::uint64_t kAligned = alignof(std::uint64_t);
    return (points * points_.layout.record_bytes + kAligned - 1) / kAligned * kAligned;
  }
  [[nodiscard]] std::uint64_t bytes_with_leavings(std::uint64_t points) const {
    if (!points_.layout.layered) return points * points_.layout.record_bytes;
    return leavings_at(points) + sizeof(std::uint64_t) + points * sizeof(std::uint16_t);
  }
  [[nodiscard]] Leavings leavings_in(RecordBuffer& buffer, std::uint64_t points) const {
    std::byte* at = buffer.data() + leavings_at(points);
    return {at, reinterpret_cast<std::uint16_t*>(at + sizeof(std::uint64_t))};
  }

  static std::byte* room_in(RecordBuffer& buffer, std::uint64_t bytes) {
    if (buffer.size() < bytes) {
      // Given up first, or the old bytes would be held and copied for nothing.
      RecordBuffer().swap(buffer);
      buffer.resize(bytes);
    }
    return buffer.data();
  }

  /// Most encoded bytes of any range of so many points, or of a single chunk.
  [[nodiscard]] std::uint64_t most_encoded(std::uint64_t points) const {
    std::uint64_t most = 0;
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
    auto first = points_.chunks.begin();
    for (auto last = first; last != points_.chunks.end(); ++last) {
      bytes += last->bytes;
      count += last->points;
      for (; count > points && first != last; ++first) {
        bytes -= first->bytes;
        count -= first->points;
      }
      most = std::max(most, bytes);
    }
    return most;
  }

  static bool begins_after(std::uint64_t point, const laz::Chunk& chunk) { return point < chunk.first; }

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
    const std::uint64_t sound = in_chunk_ + result.points;
    if (in_chunk_ + count == chunk.points) {
      check(chunk, end_of_stream(points_, chunk, *stream_, result, sound));
    } else if (result.status != laz::Status::kOk) {
      fail(chunk, end_of_stream(points_, chunk, *stream_, result, sound));
    }
    bytes_->release(bytes_->data() + chunk.offset + consumed_, result.consumed - consumed_);
    consumed_ = result.consumed;
    return {std::move(records), 0};
  }

  std::shared_ptr<const InputBytes> bytes_;
  CloudInfo info_;
  LazPoints points_;
  std::uint64_t largest_points_ = 0;  ///< of any chunk

  std::atomic<bool> has_more_ = false;  ///< points than are counted, as decoding showed

  Pool<LazWorkspace> workspaces_;
  std::mutex mutex_;                     ///< guards parts_
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
