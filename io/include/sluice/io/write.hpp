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

/// Starts a file of the format that the extension of `path` names (`.las`, `.laz`, `.pcd`, `.ply`, `.xyz`, `.txt`,
/// `.csv`, `.bin`), which is that of `like`; `create_converting_sink` takes others. `-` is standard output, in the
/// format of `like`, spooled and sent when it is finished. The file is written beside its target under a hidden unique
/// name.
///
/// PCD, PLY, text and raw outputs keep names, types and order of the columns and what their metadata hold. A PCD output
/// has the rows of its metadata where it gets as many points, else one row; a `binary_compressed` one holds all points
/// until it is sealed, at most 4 GiB. Rows of text are encoded where they are stored, in parallel.
///
/// A LAS output keeps of `like`: version, point format, record length, scale, offset, VLRs and EVLRs (bytes and
/// order), bytes between VLRs and points, vendor bytes of the header, global encoding, system and project id, file
/// source id, waveform packets. It makes anew: counts, returns histogram, bounds (of the written points, as a reader
/// computes them), GPS time range (LAS 1.5), generating software, creation date (UTC; of SOURCE_DATE_EPOCH where set).
/// It drops, with a warning: COPC records and spatial indexes, which describe another layout; the LASzip record too,
/// but in a LAZ output, where it is made anew in its place. `store` may be called from many threads. A LAS output
/// writes straight from contiguous views; a LAZ output encodes in item versions 2 and 3 (wave packets of formats 4 and
/// 5: 1), in chunks that do not depend on how the points come, and holds what has no place yet (`held_bytes`).
///
/// \param like  schema, frame and metadata of the records that will be stored
/// \throws Unsupported   the extension, or what the format cannot hold of `like`
/// \throws InvalidArgument  options, or metadata that contradict each other
/// \throws IoError       the file exists, or cannot be created
[[nodiscard]] std::unique_ptr<ChunkSink> create_sink(const std::string& path, const CloudInfo& like,
                                                     const WriteOptions& options = {});

/// Removes the hidden files of all outputs of this process that are not finished. Async-signal-safe, for handlers of
/// SIGINT and SIGTERM; the sinks are useless afterwards.
void remove_unfinished_outputs() noexcept;

}  // namespace sluice::io
