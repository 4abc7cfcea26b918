// SPDX-License-Identifier: Apache-2.0
/// \file
/// Creates point files that appear under their name only when they are complete.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sluice/core/chunk_stream.hpp"

namespace sluice::io {

/// Most points of a chunk of a LAZ file.
inline constexpr std::uint32_t kMostChunkPoints = 10'000'000;

struct WriteOptions {
  bool overwrite = false;   ///< replace an existing file; otherwise it is an error, at the start and at the end
  std::string generator{};  ///< generating software, at most 32 bytes count; empty: "sluice <version>"
  /// LAZ: points of every chunk but the last, 1 to kMostChunkPoints. 0: as in a compressed input, else 50,000; and then
  /// encoded runs may be taken that make chunks of different sizes.
  std::uint32_t chunk_points = 0;
};

/// Starts a file of the format that the extension of `path` names (`.las`, `.laz`); `-` is standard output, LAZ where
/// the points of `like` were compressed and LAS otherwise, spooled and
/// sent when it is finished. The file is written beside its target under a hidden unique name.
///
/// A LAS output keeps of `like`: version, point format, record length, scale, offset, VLRs and EVLRs (bytes and
/// order), bytes between VLRs and points, vendor bytes of the header, global encoding, system and project id, file
/// source id, waveform packets. It makes anew: counts, returns histogram, bounds (of the written points, as a reader
/// computes them), GPS time range (LAS 1.5), generating software, creation date (UTC; of SOURCE_DATE_EPOCH where set).
/// It drops, with a warning: LASzip and COPC records and spatial indexes, which describe another layout. `store` may be
/// called from many threads; it writes straight from contiguous views.
/// \param like  schema, frame and metadata of the records that will be stored
/// \throws Unsupported (extension, or `like` cannot be held by the format), IoError (exists, cannot be created)
[[nodiscard]] std::unique_ptr<ChunkSink> create_sink(const std::string& path, const CloudInfo& like,
                                                     const WriteOptions& options = {});

/// Removes the hidden files of all outputs of this process that are not finished. Async-signal-safe, for handlers of
/// SIGINT and SIGTERM; the sinks are useless afterwards.
void remove_unfinished_outputs() noexcept;

}  // namespace sluice::io
