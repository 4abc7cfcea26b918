// SPDX-License-Identifier: Apache-2.0
/// \file
/// The table of a LAZ file's chunks, and what to do where it is missing or wrong.
///
/// From the offset to point data on a file holds the absolute position of the table (8 bytes), the chunks back to back,
/// and the table. Where the writer could not seek back, the position stands in the file's last 8 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "laszip_vlr.hpp"
#include "problem.hpp"
#include "status.hpp"

namespace sluice::laz {

/// Bytes between the offset to point data and the first chunk.
inline constexpr std::uint64_t kTablePointerBytes = 8;

/// A line of the table.
struct TableEntry {
  std::uint32_t points;  ///< 0 in files with chunks of one size
  std::uint32_t bytes;

  bool operator==(const TableEntry&) const = default;
};

/// The chunks' part of a table, without version and number: one arithmetic stream.
///
/// \param variable  with point counts
/// \param out       as many entries as it holds
/// \param consumed  receives the stream's size
[[nodiscard]] Status decode_table_entries(std::span<const std::byte> bytes, bool variable, std::span<TableEntry> out,
                                          std::uint64_t& consumed);

/// Appends a whole table: version, number of entries, entries.
void encode_chunk_table(std::span<const TableEntry> entries, bool variable, Buffer& out);

/// A chunk in its file.
struct Chunk {
  std::uint64_t offset;  ///< from the file's begin
  std::uint64_t bytes;
  std::uint64_t first;   ///< number of its first point
  std::uint64_t points;  ///< that belong to the file by its header; the chunk may hold more where `surplus`
  bool surplus;          ///< the header counts fewer points than are stored; the rest of the chunk is to be ignored

  bool operator==(const Chunk&) const = default;
};

/// What the table needs to know of its file.
struct PointBlock {
  std::span<const std::byte> file;
  std::uint64_t offset = 0;  ///< to point data
  std::uint64_t points = 0;  ///< by the header
  const LaszipVlr* vlr = nullptr;
  RecordLayout layout;
};

struct ChunkIndex {
  std::vector<Chunk> chunks;  ///< in file order, without gaps
  std::uint64_t points = 0;   ///< of all chunks
  std::uint64_t end = 0;      ///< in the file, of the last byte that chunks and table use
  /// Where set and chunks are empty, the table is of no use, and `walk_chunks` may help. Where set and there are
  /// chunks, those are good and points that the header promises are missing.
  std::optional<Problem> problem;
  std::vector<std::string> warnings;
};

/// Reads the table. Nothing that it promises is believed before the bytes are known to be there: memory is taken for as
/// many chunks as the file has room for.
[[nodiscard]] ChunkIndex read_chunk_table(const PointBlock& block);

/// Finds the chunks without the table. Layered chunks tell their own size; chunks of one size that are not layered are
/// decoded, because each begins where the one before stopped; for others there is no way.
///
/// A last chunk that is cut short is among the chunks, with the bytes that are there, and a problem says so.
[[nodiscard]] ChunkIndex walk_chunks(const PointBlock& block);

/// The warning for a file that holds more points than its header counts.
[[nodiscard]] std::string surplus_text(std::uint64_t counted);

/// The single chunk of a file without chunks (Compressor::kOneStream): all bytes to the file's end, of which some may
/// belong to other things. Decoding tells how many were used.
[[nodiscard]] ChunkIndex whole_block(const PointBlock& block);

}  // namespace sluice::laz
