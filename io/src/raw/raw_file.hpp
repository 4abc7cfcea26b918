// SPDX-License-Identifier: Apache-2.0
/// \file
/// Entry points of the reader and writer of raw files for the format registry.
#pragma once

#include <memory>
#include <string>

#include "../input_bytes.hpp"
#include "sluice/core/chunk_stream.hpp"
#include "sluice/io/read.hpp"
#include "sluice/io/write.hpp"

namespace sluice::io::raw {

/// \throws FormatError where the size of the file is not that of whole points
std::unique_ptr<ChunkSource> open(std::shared_ptr<const InputBytes> bytes, const ReadOptions& options);

/// \throws Unsupported, InvalidArgument, IoError
std::unique_ptr<ChunkSink> create(const std::string& path, const CloudInfo& like, const WriteOptions& options);

}  // namespace sluice::io::raw
