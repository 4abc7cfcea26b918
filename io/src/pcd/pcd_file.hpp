// SPDX-License-Identifier: Apache-2.0
/// \file
/// Entry points of the PCD reader and writer for the format registry, and what the two share.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../columns/sinks.hpp"
#include "../input_bytes.hpp"
#include "sluice/core/chunk_stream.hpp"
#include "sluice/io/pcd.hpp"
#include "sluice/io/read.hpp"
#include "sluice/io/write.hpp"

namespace sluice::io::pcd {

/// True where a file begins like a PCD header.
bool matches(std::span<const std::byte> head);

/// \throws FormatError, OutOfMemory
std::unique_ptr<ChunkSource> open(std::shared_ptr<const InputBytes> bytes, const ReadOptions& options);

/// \throws Unsupported, InvalidArgument, IoError
std::unique_ptr<ChunkSink> create(const std::string& path, const CloudInfo& like, const WriteOptions& options);

/// The columns that compressed data have: all but padding, which readers of such files expect to be left out.
[[nodiscard]] std::vector<ColumnField> without_padding(const std::vector<ColumnField>& columns);

/// Points of `DATA binary_compressed`, which are stored column by column. They are unpacked when the first of them is
/// loaded.
/// \param at    of the code in the file
/// \param code  bytes of it, which are there
std::unique_ptr<ChunkSource> make_compressed_source(std::shared_ptr<const InputBytes> bytes, CloudInfo info,
                                                    columns::Layout layout, std::uint64_t at, std::uint64_t code);

/// Holds all points until it is sealed.
std::unique_ptr<ChunkSink> make_compressed_sink(columns::SinkParts parts, const PcdMetadata& metadata);

}  // namespace sluice::io::pcd
