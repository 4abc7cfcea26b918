// SPDX-License-Identifier: Apache-2.0
/// \file
/// Entry points of the reader and writer of text for the format registry.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "../input_bytes.hpp"
#include "sluice/core/chunk_stream.hpp"
#include "sluice/io/read.hpp"
#include "sluice/io/write.hpp"

namespace sluice::io::text {

/// May precede a text, of which it is no part.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// True where a file that begins like this is text.
bool matches(std::span<const std::byte> head);
/// True where it is text of nothing but numbers, which no raw file of floats looks like.
bool is_numbers(std::span<const std::byte> head);

/// \throws FormatError that names the line
std::unique_ptr<ChunkSource> open(std::shared_ptr<const InputBytes> bytes, const ReadOptions& options);

/// \throws Unsupported, InvalidArgument, IoError
std::unique_ptr<ChunkSink> create(const std::string& path, const CloudInfo& like, const WriteOptions& options);

}  // namespace sluice::io::text
