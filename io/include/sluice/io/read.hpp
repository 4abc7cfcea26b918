// SPDX-License-Identifier: Apache-2.0
/// \file
/// Opens point files of any known format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sluice/core/chunk_stream.hpp"

namespace sluice::io {

struct ReadOptions {
  /// Reads what is sound of a damaged file instead of refusing it; `was_recovered` tells whether that happened.
  bool recover = false;
  /// Most threads that opening may use, as `recover` decodes all that is compressed; 0: all.
  int threads = 0;
  /// Most memory that opening may take for that; 0: no limit.
  std::uint64_t memory_bytes = 0;
  /// Names of the columns of a text or a raw file, in the order of the file, whatever it says itself; for a raw file
  /// also one whole number, which is that of the columns. Other formats refuse it.
  std::vector<std::string> fields{};
};

/// Opens a file of a format that is recognised by its content. `-` is standard input; it and everything else that
/// cannot be mapped is first copied to an unlinked temporary file (in TMPDIR or /tmp).
///
/// A LAS file is mapped and its records are viewed in place; released chunks leave memory, so the resident size stays
/// near the chunks in use whatever the file's size. Every `load` checks that the file still has the length it was
/// opened with, and throws IoError if not; a file that another process cuts short while a view of it is being read
/// raises SIGBUS, as with every mapped file.
///
/// Compressed points (LAZ) are decoded by `load`, into the caller's buffer, in ranges of whole chunks. A chunk with
/// more points than `next` is asked for, and a file without chunks, are decoded by `next` itself. Damage that shows
/// only then is a FormatError of `load` or `next`; with `recover` every chunk is decoded once before, to know what is
/// sound.
///
/// Of point formats 6 to 10 `load_fields` decodes what is asked for, and `complete` the rest. Damage of a field thus is
/// a FormatError of the one that decodes the field, and does not show where nobody needs it: a filter that keeps
/// nothing of a chunk, or copies the chunk as it is (`encoded_runs`), does not see that its colours are damaged. Which
/// points it keeps, and all records that it writes, are right.
///
/// PCD (0.5 to 0.7), PLY, text and raw files have rows of columns (`ColumnMetadata`). Binary rows that are records as
/// they are, are viewed in place too; others are decoded by `load`, and damage that shows only then is a FormatError of
/// `load`. Opening a text reads all of it, to find its lines and the types of its columns; the points of
/// `binary_compressed` are unpacked as a whole when the first of them is loaded, and stay in memory beside the chunks.
/// A text whose extension names no other format is read as points; raw files have no signature, so their extension
/// (`.bin`; `.pcd.bin` has five columns, not four) or `fields` says what they are.
///
/// \throws IoError, FormatError (unknown or contradictory content), Unsupported (a known format that cannot be read),
///         InvalidArgument (`fields`), OutOfMemory (a chunk that has to be decoded now needs more than `memory_bytes`)
[[nodiscard]] std::unique_ptr<ChunkSource> open_source(const std::string& path, const ReadOptions& options = {});

/// The same for bytes in memory.
/// \param name  stands for the path in messages
[[nodiscard]] std::unique_ptr<ChunkSource> open_source_from_memory(const std::string& name,
                                                                   std::vector<std::byte> bytes,
                                                                   const ReadOptions& options = {});

/// True where the source left out damaged parts of its file (only with `ReadOptions::recover`). What was left out is
/// among the warnings of its `info()`.
[[nodiscard]] bool was_recovered(const ChunkSource& source);

/// Why records of two sources cannot go into one output unchanged: point format, record length, extra bytes, scale,
/// offset, coordinate system or time type differ. Empty where they can.
[[nodiscard]] std::optional<std::string> layout_difference(const CloudInfo& first, const CloudInfo& other);

}  // namespace sluice::io
