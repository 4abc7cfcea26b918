// SPDX-License-Identifier: Apache-2.0
/// \file
/// What of a chunk goes to one sink: records, and runs that are copied as the file holds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sluice/core/chunk_stream.hpp"

namespace sluice::detail {

/// A chunk's runs, and which of them have points that are stored as records, so that their bytes must be complete.
struct Runs {
  std::vector<EncodedRun> runs;          ///< at least one; their points are those of the chunk
  std::vector<std::uint8_t> as_records;  ///< one per run
};

/// Belongs to one chunk at a time, and is reused.
class Share {
 public:
  /// Takes places in a sink for the points `indices`, which ascend, with the whole runs among them encoded where the
  /// sink agrees. Called in output order. Whether a run is copied does not depend on the chunk that it comes in.
  /// \param copies  the sink takes runs of this source
  void place(ChunkSink& sink, std::span<const std::uint32_t> indices, Runs& runs, bool copies);

  /// Brings the points to their places.
  /// \param record_bytes  of the sink's records
  /// \param gathered      scratch
  void store(ChunkSink& sink, const PointView& view, std::uint64_t record_bytes,
             std::vector<std::byte>& gathered) const;

 private:
  /// Points that have places next to each other.
  struct Piece {
    std::uint64_t place;
    std::span<const std::uint32_t> indices;
    const EncodedRun* run;  ///< null for records
  };

  void place_records(ChunkSink& sink, std::span<const std::uint32_t> indices);

  std::vector<Piece> pieces_;
};

/// Makes the records of runs complete that are stored as such.
void complete_records(ChunkSource& source, const ChunkRange& range, const Runs& runs, RecordBuffer& buffer);

/// Records gathered at a time before they are written.
inline constexpr std::uint64_t kGatheredRecords = 8192;

}  // namespace sluice::detail
