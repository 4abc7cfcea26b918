// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "../columns/sinks.hpp"
#include "ply_file.hpp"
#include "sluice/core/error.hpp"
#include "sluice/io/ply.hpp"

namespace sluice::io::ply {
namespace {

std::string header_of(const PlyMetadata& metadata, std::uint64_t points) {
  std::string text = "ply\nformat " + std::string(name_of(metadata.data)) + " 1.0\ncomment";
  const std::size_t comment = text.size();
  text += '\n';
  for (const std::string& line : metadata.comments) text += line + '\n';
  text += "element vertex " + std::to_string(points) + '\n';
  for (const ColumnField& column : metadata.columns) {
    std::string_view type;
    for (const TypeNames& names : kTypes) {
      if (names.type == column.type) type = metadata.sized_names ? names.sized : names.plain;
    }
    text += "property " + std::string(type) + ' ' + column.name + '\n';
  }
  text += "end_header\n";
  return columns::filled_up(std::move(text), comment, {points});
}

}  // namespace

std::unique_ptr<ChunkSink> create(const std::string& path, const CloudInfo& like, const WriteOptions& options) {
  const auto* metadata = dynamic_cast<const PlyMetadata*>(like.metadata.get());
  if (metadata == nullptr) {
    throw Unsupported(path + ": only points of a PLY file can be written to one; convert makes them so");
  }
  for (const ColumnField& column : metadata->columns) {
    if (column.type == FieldType::kInt64 || column.type == FieldType::kUint64 || column.count != 1) {
      throw Unsupported(path + ": PLY has no type for column '" + column.name + "'");
    }
  }
  columns::SinkParts parts{path, options.overwrite, columns::layout_for(path, *metadata, like),
                           [written = *metadata](std::uint64_t points) { return header_of(written, points); }};
  if (metadata->data == PlyData::kAscii) return columns::make_text_sink(std::move(parts), ' ');
  return columns::make_binary_sink(std::move(parts), metadata->data == PlyData::kBigEndian);
}

}  // namespace sluice::io::ply
