// SPDX-License-Identifier: Apache-2.0
/// \file
/// Entry points of the LAS reader and writer for the format registry.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "../input_bytes.hpp"
#include "sluice/core/chunk_stream.hpp"
#include "sluice/io/read.hpp"
#include "sluice/io/write.hpp"

namespace sluice::io::las {

/// True where a file that begins like this is LAS or LAZ.
bool matches(std::span<const std::byte> head);

/// \throws FormatError, Unsupported (points compressed in an obsolete way)
std::unique_ptr<ChunkSource> open(std::shared_ptr<const InputBytes> bytes, const ReadOptions& options);

/// \throws Unsupported, InvalidArgument, IoError
std::unique_ptr<ChunkSink> create(const std::string& path, const CloudInfo& like, const WriteOptions& options);
/// The same with compressed points.
std::unique_ptr<ChunkSink> create_compressed(const std::string& path, const CloudInfo& like,
                                             const WriteOptions& options);

}  // namespace sluice::io::las
