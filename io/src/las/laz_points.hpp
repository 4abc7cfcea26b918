// SPDX-License-Identifier: Apache-2.0
/// \file
/// The compressed points of a LAZ file: where their chunks are, which of them are sound, and one chunk decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../../laz/chunk_table.hpp"
#include "../../laz/layered.hpp"
#include "../../laz/pointwise.hpp"
#include "sluice/core/region.hpp"
#include "sluice/io/read.hpp"

namespace sluice::io::las {

/// Memory for the models of one thread, kept from chunk to chunk.
struct LazWorkspace {
  laz::PointwiseWorkspace pointwise;
  laz::LayeredWorkspace layered;
};

/// Bytes that a workspace holds for chunks of so many points.
[[nodiscard]] std::uint64_t workspace_bytes(const laz::RecordLayout& layout, std::uint64_t points);

struct LazPoints {
  std::span<const std::byte> file;
  laz::RecordLayout layout;
  bool one_stream = false;         ///< a single chunk, made to be decoded in parts; other bytes may follow it
  std::vector<laz::Chunk> chunks;  ///< in order of their points, which follow each other
  /// World coordinates that hold the points of each chunk where something tells; empty where nothing does for any.
  std::vector<std::optional<Box>> bounds;
  std::uint64_t end = 0;  ///< of chunks and table in the file; of one stream, where it begins

  [[nodiscard]] std::uint64_t count() const { return chunks.empty() ? 0 : chunks.back().first + chunks.back().points; }
  [[nodiscard]] std::span<const std::byte> bytes_of(const laz::Chunk& chunk) const {
    return file.subspan(chunk.offset, chunk.bytes);
  }
  /// The last chunk may hold more points than the header counts, which is no damage.
  [[nodiscard]] bool may_have_more(const laz::Chunk& chunk) const { return chunk.surplus || &chunk == &chunks.back(); }
};

/// How decoding a chunk ended.
struct LazResult {
  laz::Status status = laz::Status::kOk;
  std::uint64_t points = 0;  ///< sound ones, from the first on
  bool surplus = false;      ///< the chunk holds more points than its file counts
  bool is_certain = false;   ///< where it is damaged: `points` are right all the same
};

/// Decodes the points of a chunk, which is one of `points.chunks`, into records without gaps. Damage behind the points
/// of a chunk with surplus does not count; bytes behind those of others do, unless they are more points of the last
/// one.
LazResult decode_chunk(const LazPoints& points, const laz::Chunk& chunk, LazWorkspace& workspace, std::byte* records);

/// The same of a layered chunk, with some layers at first and others later, as the functions of the codec do it.
LazResult decode_layers(const LazPoints& points, const laz::Chunk& chunk, LazWorkspace& workspace, std::byte* records,
                        std::uint64_t wanted, std::uint16_t* control_words);
LazResult decode_further_layers(const LazPoints& points, const laz::Chunk& chunk, LazWorkspace& workspace,
                                std::byte* records, std::uint64_t wanted, std::uint16_t* control_words);

/// How a pointwise chunk ended that was decoded in parts.
/// \param last   part
/// \param sound  points of all parts
LazResult end_of_stream(const LazPoints& points, const laz::Chunk& chunk, laz::PointwiseDecoder& decoder,
                        const laz::PointwiseResult& last, std::uint64_t sound);

/// What is wrong with a chunk.
[[nodiscard]] laz::Problem chunk_problem(const LazPoints& points, const laz::Chunk& chunk, const LazResult& result);

struct LazFinding {
  LazPoints points;
  std::optional<laz::Problem> problem;  ///< why `points` are not all that the header counts
  std::vector<std::string> warnings;
};

/// Finds the chunks of a file: by its table, or one after the other where that is of no use.
///
/// \param block     `vlr` and `layout` have been checked
/// \param options  with `recover` every chunk is decoded, and the points that are sound are kept; otherwise chunks are
///                 believed until they are loaded
/// \throws OutOfMemory where decoding a chunk would take more than the options allow
[[nodiscard]] LazFinding find_laz_points(const laz::PointBlock& block, const ReadOptions& options);

}  // namespace sluice::io::las
