// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../../laz/chunk_table.hpp"
#include "../../laz/layered.hpp"
#include "../../laz/pointwise.hpp"
#include "las_file.hpp"
#include "las_writer.hpp"
#include "laz_points.hpp"
#include "sluice/core/error.hpp"
#include "sluice/core/pool.hpp"

namespace sluice::io::las {
namespace {

// Readers hold sizes in 32 bits, some of them with a sign.
constexpr std::uint64_t kLargestChunkBytes = 0x7fffffff;

/// What an output is like by itself: the chunk size of a compressed input, else the usual one.
std::uint32_t usual_chunk_points(const CloudInfo& like) {
  const LasMetadata* metadata = metadata_of(like);
  if (metadata == nullptr || !metadata->compressed) return laz::kDefaultChunkSize;
  for (const Vlr& vlr : metadata->vlrs) {
    laz::LaszipVlr compression;
    if (!vlr.is(laz::kLaszipUserId, laz::kLaszipRecordId) || laz::parse_laszip_vlr(vlr.payload, compression)) continue;
    const bool has_chunks = compression.compressor != laz::Compressor::kOneStream && !compression.has_variable_chunks();
    if (has_chunks && compression.chunk_size <= kMostChunkPoints) return compression.chunk_size;
  }
  return laz::kDefaultChunkSize;
}

laz::LaszipVlr compression_of(const std::string& path, const CloudInfo& like, const WriteOptions& options) {
  const LasMetadata* metadata = metadata_of(like);
  // The writer says why such points cannot be written.
  if (metadata == nullptr || metadata->header.point_format > kNewestPointFormat ||
      metadata->header.record_length < kPointLayouts[metadata->header.point_format].bytes) {
    return {};
  }
  if (options.chunk_points > kMostChunkPoints) {
    throw InvalidArgument(path + ": a chunk has at most " + std::to_string(kMostChunkPoints) + " points");
  }
  const LasHeader& header = metadata->header;
  return laz::make_laszip_vlr(header.point_format, header.record_length - kPointLayouts[header.point_format].bytes,
                              options.chunk_points != 0 ? options.chunk_points : usual_chunk_points(like));
}

/// Writes a LAZ file. Points are encoded by the thread that brings the last one of a chunk; finished chunks are written
/// as soon as all chunks before them are, for only then their place in the file is known.
class LazSink final : public ChunkSink {
 public:
  LazSink(const std::string& path, const CloudInfo& like, const WriteOptions& options)
      : compression_(compression_of(path, like, options)),
        writer_(path, like, options, &compression_),
        layout_(laz::layout_of(compression_.items)),
        chunk_points_(compression_.chunk_size),
        is_fixed_(options.chunk_points != 0),
        end_(writer_.points_at() + laz::kTablePointerBytes) {}

  std::uint64_t reserve(std::uint64_t count) override {
    const std::uint64_t first = writer_.reserve(count);
    const std::lock_guard lock(mutex_);
    if (count == 0) return first;
    if (segments_.empty() || segments_.back().is_closed) segments_.push_back({first, first, false, false});
    segments_.back().end += count;
    return first;
  }

  [[nodiscard]] std::string coding() const override { return laz::coding_of(layout_); }
  [[nodiscard]] std::span<const ByteRange> fields_of_encoded() const override { return writer_.fields_counted(); }

  bool reserve_encoded(std::uint64_t points, std::uint64_t& first) override {
    const std::lock_guard lock(mutex_);
    const std::uint64_t open = open_points();
    if (is_fixed_) {
      if (open != 0 || points != chunk_points_) return false;
    } else {
      // Neither the run nor the chunk that it cuts short may be so small that encoding them apart costs much.
      const std::uint64_t least = std::max<std::uint64_t>(1, chunk_points_ / kSmallestPart);
      if (points < least || points > kLargestRun * std::uint64_t{chunk_points_}) return false;
      if (open != 0 && open < least) return false;
    }
    first = writer_.reserve(points);
    close_tail();
    segments_.push_back({first, first + points, true, true});
    return true;
  }

  void store(std::uint64_t first, const PointView& view) override {
    if (view.count == 0) return;
    writer_.add(first, view);
    for (std::uint64_t done = 0; done < view.count;) {
      Place place{};
      {
        const std::lock_guard lock(mutex_);
        place = place_of(first + done);
      }
      const std::uint64_t at = first + done - place.first;
      const std::uint64_t count = std::min(view.count - done, place.points - at);
      const PointView part{view.records + done * view.stride, count, view.stride};
      if (count == place.points && place.is_closed) {
        finish_chunk(place.first, count, encode(part));
      } else {
        keep(place, at, part);
      }
      done += count;
    }
    encode_due();
  }

  void store_encoded(std::uint64_t first, const EncodedRun& run, const PointView& view) override {
    writer_.add(first, view);
    // The run lives in the caller's memory, and it may be long until its place is known.
    laz::Buffer bytes = buffers_.take();
    bytes.append(run.bytes.data(), run.bytes.size());
    finish_chunk(first, run.points, std::move(bytes));
    encode_due();
  }

  [[nodiscard]] std::uint64_t held_bytes(std::uint64_t points, std::uint64_t total, int threads) const override {
    const std::uint64_t bytes = writer_.record_bytes();
    const std::uint64_t chunk_points = std::min<std::uint64_t>(chunk_points_, total);
    const std::uint64_t workspace = workspace_bytes(layout_, chunk_points) + chunk_points * bytes;
    // The points on their way begin and end inside of chunks, of which the rest may be there already.
    return std::min(points + 2 * chunk_points, total) * bytes + static_cast<std::uint64_t>(threads) * workspace;
  }

  void seal() override {
    {
      const std::lock_guard lock(mutex_);
      close_tail();
    }
    encode_due();
    const std::lock_guard lock(mutex_);
    if (written_ != writer_.reserved()) {
      throw InvalidArgument(writer_.name() + ": " + std::to_string(writer_.reserved()) +
                            " places were reserved, and points stored at the first " + std::to_string(written_) +
                            " only");
    }
    laz::Buffer table;
    laz::encode_chunk_table(entries_, is_variable_, table);
    const auto table_at = static_cast<std::int64_t>(end_);
    writer_.write_at(writer_.points_at(), reinterpret_cast<const std::byte*>(&table_at), sizeof table_at);
    writer_.write_at(end_, table.data(), table.size());
    if (is_variable_) compression_.chunk_size = laz::LaszipVlr::kVariable;
    writer_.describe(compression_);
    writer_.seal(end_ + table.size());
  }

  void finish() override { writer_.finish(); }
  [[nodiscard]] std::uint64_t count() const override { return writer_.reserved(); }
  [[nodiscard]] std::vector<std::string> warnings() const override { return writer_.warnings(); }

 private:
  // Of a chunk's usual points.
  static constexpr std::uint32_t kSmallestPart = 4;
  static constexpr std::uint32_t kLargestRun = 4;

  /// Places that were taken: for points, which make chunks of the usual size, or for one run that comes encoded.
  struct Segment {
    std::uint64_t first;
    std::uint64_t end;
    bool is_run;
    bool is_closed;  ///< no more points will come
  };
  /// The chunk that a point belongs to.
  struct Place {
    std::uint64_t first;
    std::uint64_t points;  ///< so far
    bool is_closed;
  };
  /// A chunk that is not in the file yet.
  struct Pending {
    std::unique_ptr<std::byte[]> records;  ///< room for a chunk of the usual size
    std::uint64_t stored = 0;              ///< points there
    std::uint64_t points = 0;              ///< once it is encoded
    laz::Buffer bytes;
    bool is_encoded = false;
  };
  struct Finished {
    std::uint64_t at;
    laz::Buffer bytes;
  };

  /// Points of the chunk that the next reserved point would go to; 0 where that is a new one.
  [[nodiscard]] std::uint64_t open_points() const {
    if (segments_.empty() || segments_.back().is_closed) return 0;
    return (segments_.back().end - segments_.back().first) % chunk_points_;
  }

  /// Ends the last chunk where it ends now. If all its points are there nobody will bring another one, so it is due.
  void close_tail() {
    const std::uint64_t open = open_points();
    if (!segments_.empty()) segments_.back().is_closed = true;
    if (open == 0) return;
    const std::uint64_t first = segments_.back().end - open;
    const auto pending = pending_.find(first);
    if (pending != pending_.end() && pending->second.stored == open) due_.push_back(first);
  }

  /// `mutex_` is held.
  [[nodiscard]] Place place_of(std::uint64_t point) const {
    const auto after = std::upper_bound(segments_.begin(), segments_.end(), point,
                                        [](std::uint64_t value, const Segment& s) { return value < s.first; });
    const Segment& segment = *std::prev(after);
    if (segment.is_run) return {segment.first, segment.end - segment.first, true};
    const std::uint64_t first = point - (point - segment.first) % chunk_points_;
    const std::uint64_t points = std::min<std::uint64_t>(chunk_points_, segment.end - first);
    return {first, points, segment.is_closed || points == chunk_points_};
  }

  /// Keeps points of a chunk until all are there.
  void keep(const Place& place, std::uint64_t at, const PointView& part) {
    const std::uint64_t bytes = writer_.record_bytes();
    std::byte* records = nullptr;
    {
      const std::lock_guard lock(mutex_);
      Pending& pending = pending_[place.first];
      if (!pending.records) pending.records = std::make_unique_for_overwrite<std::byte[]>(chunk_points_ * bytes);
      records = pending.records.get();
    }
    copy_records(part, bytes, records + at * bytes);
    {
      const std::lock_guard lock(mutex_);
      Pending& pending = pending_[place.first];
      pending.stored += part.count;
      const Place now = place_of(place.first);
      if (!now.is_closed || pending.stored != now.points) return;
      due_.push_back(place.first);
    }
    encode_due();
  }

  /// Encodes chunks whose points are all there.
  void encode_due() {
    for (;;) {
      PointView chunk;
      std::uint64_t first = 0;
      {
        const std::lock_guard lock(mutex_);
        if (due_.empty()) return;
        first = due_.back();
        due_.pop_back();
        const Pending& pending = pending_[first];
        chunk = {pending.records.get(), pending.stored, writer_.record_bytes()};
      }
      finish_chunk(first, chunk.count, encode(chunk));
    }
  }

  laz::Buffer encode(const PointView& chunk) {
    laz::Buffer out = buffers_.take();
    LazWorkspace workspace = workspaces_.take();
    if (layout_.layered) {
      laz::encode_layered_chunk(workspace.layered, layout_,
                                laz::fields_of_records(layout_, chunk.records, chunk.stride), chunk.count, out);
    } else {
      laz::encode_pointwise_chunk(workspace.pointwise, layout_, chunk.records, chunk.stride, chunk.count, out);
    }
    workspaces_.give(std::move(workspace));
    return out;
  }

  /// Takes a chunk in its final form, and writes what has its place now.
  void finish_chunk(std::uint64_t first, std::uint64_t points, laz::Buffer bytes) {
    if (bytes.size() > kLargestChunkBytes) {
      throw Unsupported(writer_.name() + ": a chunk of " + std::to_string(points) + " points takes " +
                        std::to_string(bytes.size()) + " bytes, more than readers accept; take a smaller chunk size");
    }
    std::vector<Finished> finished;
    {
      const std::lock_guard lock(mutex_);
      Pending& mine = pending_[first];
      mine.records.reset();
      mine.points = points;
      mine.bytes = std::move(bytes);
      mine.is_encoded = true;
      for (auto next = pending_.begin(); next != pending_.end() && next->first == written_ && next->second.is_encoded;
           next = pending_.erase(next)) {
        place(next->second, finished);
      }
      while (!segments_.empty() && segments_.front().is_closed && segments_.front().end <= written_) {
        segments_.pop_front();
      }
    }
    for (Finished& chunk : finished) {
      writer_.write_at(chunk.at, chunk.bytes.data(), chunk.bytes.size());
      chunk.bytes.clear();
      buffers_.give(std::move(chunk.bytes));
    }
  }

  /// Gives the next chunk its place in file and table. `mutex_` is held.
  void place(Pending& chunk, std::vector<Finished>& finished) {
    // All chunks but the last one must be of one size, or each is counted in the table.
    is_variable_ =
        is_variable_ || (!entries_.empty() && entries_.back().points != chunk_points_) || chunk.points > chunk_points_;
    entries_.push_back({static_cast<std::uint32_t>(chunk.points), static_cast<std::uint32_t>(chunk.bytes.size())});
    written_ += chunk.points;
    const std::uint64_t at = end_;
    end_ += chunk.bytes.size();
    finished.push_back({at, std::move(chunk.bytes)});
  }

  laz::LaszipVlr compression_;
  LasWriter writer_;
  laz::RecordLayout layout_;
  std::uint32_t chunk_points_;
  bool is_fixed_;  ///< the chunk size was asked for
  Pool<laz::Buffer> buffers_;
  Pool<LazWorkspace> workspaces_;

  std::mutex mutex_;                          ///< guards all that follows
  std::deque<Segment> segments_;              ///< that are not all written, in order
  std::map<std::uint64_t, Pending> pending_;  ///< by first point
  std::vector<std::uint64_t> due_;            ///< chunks to encode that nobody encodes yet
  std::vector<laz::TableEntry> entries_;
  std::uint64_t written_ = 0;  ///< points that have their place in the file
  std::uint64_t end_;          ///< in the file, of the chunks that have their place
  bool is_variable_ = false;
};

}  // namespace

std::unique_ptr<ChunkSink> create_compressed(const std::string& path, const CloudInfo& like,
                                             const WriteOptions& options) {
  return std::make_unique<LazSink>(path, like, options);
}

}  // namespace sluice::io::las
