// SPDX-License-Identifier: Apache-2.0
/// \file
/// As much of a LAZ file's frame as the codec's tests need.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "io/laz/chunk_table.hpp"
#include "io/laz/layered.hpp"
#include "io/laz/memory.hpp"
#include "io/laz/pointwise.hpp"

namespace sluice::laz {

inline std::vector<std::byte> bytes_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// A whole LAZ file in memory, its header taken apart.
struct LazFile {
  explicit LazFile(std::vector<std::byte> content) : bytes(std::move(content)) {
    const auto size = static_cast<std::uint64_t>(bytes.size());
    if (size < 227) return;
    const std::byte* at = bytes.data();
    format = load_unaligned<std::uint8_t>(at + 104) & 0x3FU;
    record_bytes = load_unaligned<std::uint16_t>(at + 105);
    block.offset = load_unaligned<std::uint32_t>(at + 96);
    block.points = load_unaligned<std::uint32_t>(at + 107);
    if (load_unaligned<std::uint8_t>(at + 25) >= 4 && format > 5 && size >= 375)
      block.points = load_unaligned<std::uint64_t>(at + 247);
    std::uint64_t vlr_at = load_unaligned<std::uint16_t>(at + 94);
    for (auto left = load_unaligned<std::uint32_t>(at + 100); left > 0 && vlr_at + 54 <= size; --left) {
      const std::uint64_t length = load_unaligned<std::uint16_t>(at + vlr_at + 20);
      if (vlr_at + 54 + length > size) break;
      if (load_unaligned<std::uint16_t>(at + vlr_at + 18) == kLaszipRecordId &&
          std::strncmp(reinterpret_cast<const char*>(at + vlr_at + 2), kLaszipUserId, 16) == 0) {
        vlr_bytes = {bytes.begin() + static_cast<std::ptrdiff_t>(vlr_at + 54),
                     bytes.begin() + static_cast<std::ptrdiff_t>(vlr_at + 54 + length)};
        if (parse_laszip_vlr(vlr_bytes, vlr) || check_laszip_vlr(vlr, format, record_bytes)) return;
        readable = true;
      }
      vlr_at += 54 + length;
    }
    if (!readable) return;
    block.layout = layout_of(vlr.items);
  }
  LazFile(const LazFile&) = delete;
  LazFile& operator=(const LazFile&) = delete;

  /// The part of the codec's interface that finds chunks.
  [[nodiscard]] const PointBlock& points() {
    block.file = bytes;
    block.vlr = &vlr;
    return block;
  }
  [[nodiscard]] ChunkIndex chunks() {
    return vlr.compressor == Compressor::kOneStream ? whole_block(points()) : read_chunk_table(points());
  }
  [[nodiscard]] std::span<const std::byte> bytes_of(const Chunk& chunk) const {
    return std::span<const std::byte>(bytes).subspan(chunk.offset, chunk.bytes);
  }

  std::vector<std::byte> bytes;
  std::vector<std::byte> vlr_bytes;
  LaszipVlr vlr;
  std::uint32_t format = 0;
  std::uint32_t record_bytes = 0;
  bool readable = false;

 private:
  PointBlock block;
};

/// How decoding went, for both kinds of chunks.
struct Decoded {
  Status status = Status::kOk;
  std::uint64_t points = 0;
  std::vector<std::byte> records;
};

/// Decodes a layered chunk into records by several choices of layers, one after the other.
inline Decoded decode_by_layers(const RecordLayout& layout, std::span<const std::byte> bytes, std::uint64_t count,
                                const std::vector<std::uint64_t>& masks) {
  static LayeredWorkspace workspace;
  Decoded out;
  out.records.resize(count * layout.record_bytes, std::byte{0xA5});
  const auto fields = fields_of_records(layout, out.records.data(), layout.record_bytes);
  std::vector<std::uint16_t> words(count);
  for (const std::uint64_t& mask : masks) {
    const auto result = &mask == masks.data()
                            ? decode_layered_chunk(workspace, layout, bytes, mask, fields, count, words.data())
                            : decode_further_layers(workspace, layout, bytes, mask, fields, count, words.data());
    out.status = result.status;
    out.points = result.points;
    if (out.status != Status::kOk) break;
  }
  return out;
}

/// Decodes a chunk into records.
inline Decoded decode_chunk(const RecordLayout& layout, std::span<const std::byte> bytes, std::uint64_t count) {
  static PointwiseWorkspace pointwise;
  static LayeredWorkspace layered;
  Decoded out;
  out.records.resize(count * layout.record_bytes);
  if (layout.layered) {
    const auto result = decode_layered_chunk(layered, layout, bytes, layer::kAll,
                                             fields_of_records(layout, out.records.data(), layout.record_bytes), count);
    out.status = result.status;
    out.points = result.points;
  } else {
    const auto result =
        decode_pointwise_chunk(pointwise, layout, bytes, out.records.data(), layout.record_bytes, count);
    out.status = result.status;
    out.points = result.points;
  }
  return out;
}

inline std::vector<std::byte> encode_chunk(const RecordLayout& layout, const std::byte* records, std::uint64_t count) {
  static PointwiseWorkspace pointwise;
  static LayeredWorkspace layered;
  Buffer out;
  if (layout.layered) {
    encode_layered_chunk(layered, layout, fields_of_records(layout, records, layout.record_bytes), count, out);
  } else {
    encode_pointwise_chunk(pointwise, layout, records, layout.record_bytes, count, out);
  }
  return {out.bytes().begin(), out.bytes().end()};
}

}  // namespace sluice::laz
