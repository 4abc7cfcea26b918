// SPDX-License-Identifier: Apache-2.0
/// \file
/// Entry points of the PLY reader and writer for the format registry, and what the two share.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "../input_bytes.hpp"
#include "sluice/core/chunk_stream.hpp"
#include "sluice/io/read.hpp"
#include "sluice/io/write.hpp"

namespace sluice::io::ply {

/// The two spellings of a type.
struct TypeNames {
  std::string_view plain;
  std::string_view sized;
  FieldType type;
};
inline constexpr std::array<TypeNames, 8> kTypes = {{
    {"char", "int8", FieldType::kInt8},
    {"uchar", "uint8", FieldType::kUint8},
    {"short", "int16", FieldType::kInt16},
    {"ushort", "uint16", FieldType::kUint16},
    {"int", "int32", FieldType::kInt32},
    {"uint", "uint32", FieldType::kUint32},
    {"float", "float32", FieldType::kFloat32},
    {"double", "float64", FieldType::kFloat64},
}};

/// True where a file begins like PLY.
bool matches(std::span<const std::byte> head);

/// \throws FormatError
std::unique_ptr<ChunkSource> open(std::shared_ptr<const InputBytes> bytes, const ReadOptions& options);

/// \throws Unsupported, InvalidArgument, IoError
std::unique_ptr<ChunkSink> create(const std::string& path, const CloudInfo& like, const WriteOptions& options);

}  // namespace sluice::io::ply
