// SPDX-License-Identifier: Apache-2.0
/// \file
/// Streams of chunks of whole records: `io` implements them for each format, `engine` drives them, and neither sees the
/// other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sluice/core/point_cloud.hpp"
#include "sluice/core/point_view.hpp"
#include "sluice/core/region.hpp"

namespace sluice {

/// A run of consecutive points of a source.
struct ChunkRange {
  std::uint64_t first = 0;  ///< index of its first point in the source
  std::uint64_t count = 0;
  std::uint64_t token = 0;  ///< means something to the source that made it
};

/// Memory that a source may decode into. Reused from chunk to chunk; belongs to one caller at a time.
using RecordBuffer = std::vector<std::byte>;

/// Bytes of a record that somebody reads: `bytes` of them from `at` on.
struct ByteRange {
  std::uint32_t at = 0;
  std::uint32_t bytes = 0;
};

/// Consecutive points as a file holds them, decodable on their own.
struct EncodedRun {
  std::uint64_t points = 0;
  std::span<const std::byte> bytes;  ///< none where they cannot be copied
};

/// Points of one file, in file order, a chunk at a time.
class ChunkSource {
 public:
  virtual ~ChunkSource() = default;
  [[nodiscard]] virtual const CloudInfo& info() const = 0;
  /// Hands out the next range; called from one thread at a time.
  /// \param max_points  most points wanted; a format with chunks of its own may give fewer, never more
  /// \return false at the end, with `range` unchanged
  virtual bool next(std::uint64_t max_points, ChunkRange& range) = 0;
  /// The records of a range, viewed in the source's memory or decoded into `buffer`. May be called from many threads at
  /// once with different buffers. The view lives until `release` of that range or the next use of `buffer`.
  /// \throws FormatError, IoError
  virtual PointView load(const ChunkRange& range, RecordBuffer& buffer) = 0;
  /// The same, but only the bytes in `wanted` have to be right; a source that decodes fields one by one saves the
  /// others. They hold anything until `complete`.
  virtual PointView load_fields(const ChunkRange& range, std::span<const ByteRange> wanted, RecordBuffer& buffer) {
    (void)wanted;
    return load(range, buffer);
  }
  /// Makes right all bytes of the points `first` to `first` + `count` of a range, counted from its first, whose view
  /// `load_fields` gave; others may become so too. The view stays where it is.
  /// \param buffer  the one that was used then
  /// \throws FormatError, IoError
  virtual void complete(const ChunkRange& range, std::uint64_t first, std::uint64_t count, RecordBuffer& buffer) {
    (void)range, (void)first, (void)count, (void)buffer;
  }
  /// Names how `encoded_runs` are encoded: they can be copied into a sink that names the same. Empty: never.
  [[nodiscard]] virtual std::string coding() const { return {}; }
  /// The runs that make up a loaded range, in order; none where it is not made of whole ones. They live until
  /// `release`.
  virtual void encoded_runs(const ChunkRange& range, std::vector<EncodedRun>& out) const {
    (void)range;
    out.clear();
  }
  /// From the next `rewind` on, `next` leaves out points that surely lie in no box for which `wanted` is true, where
  /// the source knows bounds of its parts. An empty function wants all.
  /// \return the points left out, all told
  virtual std::uint64_t skip_unwanted(const std::function<bool(const Box&)>& wanted) {
    (void)wanted;
    return 0;
  }
  /// Says that the view of a range is no longer used, so that mapped pages can be given back. Any thread.
  virtual void release(const ChunkRange& range) = 0;
  /// Bytes of buffer that one chunk of `points` points costs the process while it is loaded.
  [[nodiscard]] virtual std::uint64_t chunk_bytes(std::uint64_t points) const = 0;
  /// Bytes that the source holds beside its chunks, from opening or the first `load` on until it is destroyed: points
  /// that can only be decoded all at once.
  [[nodiscard]] virtual std::uint64_t held_bytes() const { return 0; }
  /// Points that the source decodes in one go: ranges of at least so many cost it least. 0 where records are only
  /// viewed, so that any range is as good as another.
  [[nodiscard]] virtual std::uint64_t decoded_together() const { return 0; }
  /// What was found out about the file while its points were read, for the user to know beside `info().warnings`.
  [[nodiscard]] virtual std::vector<std::string> late_warnings() const { return {}; }
  /// Starts again at the first point.
  virtual void rewind() = 0;
};

/// A file that is being written. Nothing appears under its name until `finish`; without it, destruction removes what
/// was written so far.
class ChunkSink {
 public:
  virtual ~ChunkSink() = default;
  /// Takes the next `count` places; one thread at a time, in output order.
  /// \return index of the first place
  virtual std::uint64_t reserve(std::uint64_t count) = 0;
  /// Writes `view.count` records to places taken before. Any thread, any order, each place once.
  /// \throws IoError, InvalidArgument (places that were not taken), Unsupported (the format cannot hold the points)
  virtual void store(std::uint64_t first, const PointView& view) = 0;
  /// How this sink encodes points, as `ChunkSource::coding` names it; empty where it does not take encoded runs.
  [[nodiscard]] virtual std::string coding() const { return {}; }
  /// Bytes of a record that the sink reads even of points that come encoded.
  [[nodiscard]] virtual std::span<const ByteRange> fields_of_encoded() const { return {}; }
  /// Takes the next places for a run of equal coding, which `store_encoded` will bring; in output order with `reserve`.
  /// \return false where the run would not fit what the file is to be like: then nothing was taken
  virtual bool reserve_encoded(std::uint64_t points, std::uint64_t& first) {
    (void)points, (void)first;
    return false;
  }
  /// Copies a run to places that `reserve_encoded` took. Any thread, any order.
  /// \param view  the same points; of their bytes only `fields_of_encoded` need be right
  virtual void store_encoded(std::uint64_t first, const EncodedRun& run, const PointView& view) {
    (void)first, (void)run, (void)view;
  }
  /// About the most bytes that the sink holds while so many threads store, and all that is being stored, or was while
  /// earlier places were still empty, lies within `points` of the output, which will have `total` at most.
  [[nodiscard]] virtual std::uint64_t held_bytes(std::uint64_t points, std::uint64_t total, int threads) const {
    (void)points, (void)total, (void)threads;
    return 0;
  }
  /// Completes header and trailer and renames the file into place. All reserved places must have been stored.
  /// Sinks of one job are first all `seal`ed, then all `finish`ed, so that a full disk leaves no output behind.
  virtual void seal() = 0;
  virtual void finish() = 0;
  [[nodiscard]] virtual std::uint64_t count() const = 0;
  /// What the writer could not keep, for the user to know.
  [[nodiscard]] virtual std::vector<std::string> warnings() const = 0;
};

}  // namespace sluice
