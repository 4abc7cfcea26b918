// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "pcd_file.hpp"
#include "sluice/core/error.hpp"

namespace sluice::io {
namespace pcd {
namespace {

char type_letter(FieldType type) {
  switch (type) {
    case FieldType::kInt8:
    case FieldType::kInt16:
    case FieldType::kInt32:
    case FieldType::kInt64:
      return 'I';
    case FieldType::kFloat32:
    case FieldType::kFloat64:
      return 'F';
    default:
      return 'U';
  }
}

/// The header for so many points: with the rows of the input where these are all of its points.
std::string header_of(const PcdMetadata& metadata, std::uint64_t points) {
  std::string names = "FIELDS";
  std::string sizes = "SIZE";
  std::string types = "TYPE";
  std::string counts = "COUNT";
  for (const ColumnField& column : metadata.columns) {
    names += ' ' + column.name;
    sizes += ' ' + std::to_string(field_bytes(column.type));
    types += std::string(" ") + type_letter(column.type);
    counts += ' ' + std::to_string(column.count);
  }
  const bool all = metadata.height > 1 && metadata.width * metadata.height == points;
  const std::uint64_t width = all ? metadata.width : points;
  const std::uint64_t height = all ? metadata.height : 1;
  std::string text = "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\n";
  text += names + '\n' + sizes + '\n' + types + '\n' + counts + '\n';
  text += "WIDTH " + std::to_string(width) + "\nHEIGHT " + std::to_string(height) + '\n';
  text += "VIEWPOINT " + metadata.viewpoint + "\nPOINTS " + std::to_string(points) + '\n';
  text += "DATA " + std::string(name_of(metadata.data)) + '\n';
  const std::size_t comment = text.find('\n');
  return columns::filled_up(std::move(text), comment, {width, height, points});
}

}  // namespace

std::unique_ptr<ChunkSink> create(const std::string& path, const CloudInfo& like, const WriteOptions& options) {
  const auto* metadata = dynamic_cast<const PcdMetadata*>(like.metadata.get());
  if (metadata == nullptr) {
    throw Unsupported(path + ": only points of a PCD file can be written to one; convert makes them so");
  }
  columns::SinkParts parts{path, options.overwrite, columns::layout_for(path, *metadata, like), {}};
  PcdMetadata written = *metadata;
  if (metadata->data == PcdData::kCompressed) {
    written.columns = without_padding(metadata->columns);
    parts.layout.leave_out_padding();
  }
  parts.header = [written](std::uint64_t points) { return header_of(written, points); };
  switch (metadata->data) {
    case PcdData::kAscii:
      return columns::make_text_sink(std::move(parts), ' ');
    case PcdData::kBinary:
      return columns::make_binary_sink(std::move(parts), false);
    default:
      return make_compressed_sink(std::move(parts), written);
  }
}

}  // namespace pcd

std::string_view name_of(PcdData data) {
  switch (data) {
    case PcdData::kAscii:
      return "ascii";
    case PcdData::kBinary:
      return "binary";
    default:
      return "binary_compressed";
  }
}

std::string PcdMetadata::difference(const FormatMetadata& other) const {
  std::string what = ColumnMetadata::difference(other);
  if (!what.empty()) return what;
  return viewpoint == dynamic_cast<const PcdMetadata&>(other).viewpoint ? std::string() : std::string("the viewpoint");
}

bool is_organized(const CloudInfo& info) {
  const auto* metadata = dynamic_cast<const PcdMetadata*>(info.metadata.get());
  return metadata != nullptr && metadata->height > 1;
}

CloudInfo without_rows(const CloudInfo& info) {
  if (!is_organized(info)) return info;
  CloudInfo out = info;
  auto metadata = std::make_shared<PcdMetadata>(dynamic_cast<const PcdMetadata&>(*info.metadata));
  metadata->width *= metadata->height;
  metadata->height = 1;
  out.metadata = std::move(metadata);
  return out;
}

}  // namespace sluice::io
