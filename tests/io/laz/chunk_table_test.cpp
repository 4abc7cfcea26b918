// SPDX-License-Identifier: Apache-2.0
/// \file
/// The record about compression and the chunk table, sound and damaged.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "io/laz/laz_file.hpp"
#include "io/laz/point_clouds.hpp"

namespace sluice::laz {
namespace {

std::vector<std::byte> from_hex(const std::string& text) {
  std::vector<std::byte> out;
  for (std::size_t i = 0; i < text.size(); i += 3)
    out.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return out;
}

void expect_table(const std::vector<TableEntry>& entries, bool variable, const std::string& hex) {
  const auto stream = from_hex(hex);
  Buffer table;
  encode_chunk_table(entries, variable, table);
  ASSERT_EQ(table.size(), 8 + stream.size());
  EXPECT_EQ(load_unaligned<std::uint32_t>(table.data()), 0U);
  EXPECT_EQ(load_unaligned<std::uint32_t>(table.data() + 4), entries.size());
  EXPECT_TRUE(std::ranges::equal(table.bytes().subspan(8), stream));
  std::vector<TableEntry> back(entries.size());
  std::uint64_t consumed = 0;
  EXPECT_EQ(decode_table_entries(stream, variable, back, consumed), Status::kOk);
  EXPECT_EQ(consumed, stream.size());
  EXPECT_EQ(back, entries);
}

TEST(LazTable, KnownStreams) {
  expect_table({{0, 1000}, {0, 1010}, {0, 5}}, false, "55 23 24 af d6 87 00 00");
  expect_table({{50000, 1000}, {50000, 1010}, {17, 90}}, true, "82 08 8d bb d2 d6 5c 4b 84 9f 73 aa 00 00");
}

TEST(LazTable, ManyEntries) {
  std::vector<TableEntry> entries(10000);
  for (std::uint32_t i = 0; i < entries.size(); ++i) entries[i] = {i * 77 + 1, i * 0x9E3779B9U};
  Buffer table;
  encode_chunk_table(entries, true, table);
  std::vector<TableEntry> back(entries.size());
  std::uint64_t consumed = 0;
  EXPECT_EQ(decode_table_entries(table.bytes().subspan(8), true, back, consumed), Status::kOk);
  EXPECT_EQ(back, entries);
  EXPECT_EQ(decode_table_entries(table.bytes().subspan(8, consumed - 9), true, back, consumed), Status::kTruncated);
}

/// A file as far as chunks are concerned: something in front, the pointer, chunks, the table, something behind.
struct MadeFile {
  static constexpr std::uint64_t kOffset = 100;
  static constexpr std::uint64_t kBehind = 50;

  /// \param sizes  points of each chunk; all but the last equal, where chunks are not variable
  MadeFile(std::uint32_t format, std::vector<std::uint64_t> sizes, bool variable)
      : vlr(make_laszip_vlr(format, 2, variable ? LaszipVlr::kVariable : static_cast<std::uint32_t>(sizes[0]))),
        layout(layout_of(vlr.items)),
        counts(std::move(sizes)),
        points(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0})),
        records(make_records(layout, Kind::kScan, points, 12)) {
    bytes.resize(kOffset + 8);
    std::vector<TableEntry> entries;
    std::uint64_t first = 0;
    for (const std::uint64_t count : counts) {
      const auto chunk = encode_chunk(layout, records.data() + first * layout.record_bytes, count);
      chunk_at.push_back(bytes.size());
      bytes.insert(bytes.end(), chunk.begin(), chunk.end());
      entries.push_back({static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(chunk.size())});
      first += count;
    }
    table_at = bytes.size();
    store_unaligned(bytes.data() + kOffset, static_cast<std::int64_t>(table_at));
    put_table(entries);
  }
  void put_table(const std::vector<TableEntry>& entries) {
    Buffer table;
    encode_chunk_table(entries, vlr.has_variable_chunks(), table);
    bytes.resize(table_at);
    bytes.insert(bytes.end(), table.bytes().begin(), table.bytes().end());
    table_end = bytes.size();
    bytes.resize(bytes.size() + kBehind, std::byte{0xEE});
  }
  [[nodiscard]] PointBlock block() const { return {bytes, kOffset, points, &vlr, layout}; }
  void set_pointer(std::int64_t value) { store_unaligned(bytes.data() + kOffset, value); }

  LaszipVlr vlr;
  RecordLayout layout;
  std::vector<std::uint64_t> counts;
  std::uint64_t points;
  std::vector<std::byte> records;
  std::vector<std::byte> bytes;
  std::vector<std::uint64_t> chunk_at;
  std::uint64_t table_at = 0;
  std::uint64_t table_end = 0;
};

std::vector<MadeFile> made_files() {
  std::vector<MadeFile> out;
  out.emplace_back(3, std::vector<std::uint64_t>{300, 300, 300, 12}, false);
  out.emplace_back(7, std::vector<std::uint64_t>{300, 300, 300, 12}, false);
  out.emplace_back(7, std::vector<std::uint64_t>{1, 300, 17, 400}, true);
  return out;
}

void expect_all_chunks(const MadeFile& file, const ChunkIndex& index) {
  ASSERT_FALSE(index.problem) << index.problem->field << ": " << index.problem->text;
  ASSERT_EQ(index.chunks.size(), file.counts.size());
  EXPECT_EQ(index.points, file.points);
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < index.chunks.size(); ++i) {
    EXPECT_EQ(index.chunks[i].offset, file.chunk_at[i]);
    EXPECT_EQ(index.chunks[i].points, file.counts[i]);
    EXPECT_EQ(index.chunks[i].first, first);
    EXPECT_FALSE(index.chunks[i].surplus);
    first += file.counts[i];
  }
}

TEST(LazTable, IsRead) {
  for (const MadeFile& file : made_files()) {
    const ChunkIndex index = read_chunk_table(file.block());
    expect_all_chunks(file, index);
    EXPECT_TRUE(index.warnings.empty());
    EXPECT_EQ(index.end, file.table_end);
  }
  const MadeFile variable(1, {5, 300, 17}, true);
  expect_all_chunks(variable, read_chunk_table(variable.block()));
}

TEST(LazTable, PointerInTheLastBytes) {
  for (MadeFile& file : made_files()) {
    file.set_pointer(-1);
    file.bytes.resize(file.table_end + 8);
    store_unaligned(file.bytes.data() + file.table_end, static_cast<std::int64_t>(file.table_at));
    const ChunkIndex index = read_chunk_table(file.block());
    expect_all_chunks(file, index);
    EXPECT_TRUE(index.warnings.empty());
    EXPECT_EQ(index.end, file.bytes.size());
  }
}

TEST(LazTable, BadPointersAreRefusedAndChunksFoundWithout) {
  for (MadeFile& file : made_files()) {
    const auto size = static_cast<std::int64_t>(file.bytes.size());
    for (const std::int64_t pointer : {std::int64_t{MadeFile::kOffset}, std::int64_t{0}, std::int64_t{-1},
                                       std::int64_t{-2}, size, size - 7, size + 1000, INT64_MAX, INT64_MIN}) {
      SCOPED_TRACE(pointer);
      file.set_pointer(pointer);
      const ChunkIndex index = read_chunk_table(file.block());
      ASSERT_TRUE(index.problem);
      EXPECT_EQ(index.problem->field, "chunk table pointer");
      EXPECT_EQ(index.problem->offset, pointer == -1 ? file.bytes.size() - 8 : MadeFile::kOffset);
      EXPECT_TRUE(index.chunks.empty());
      expect_all_chunks(file, walk_chunks(file.block()));
    }
  }
}

TEST(LazTable, EveryCut) {
  for (MadeFile& file : made_files()) {
    const auto bytes = file.bytes;
    for (std::uint64_t size = 0; size < file.table_end; size += size < MadeFile::kOffset + 200 ? 1 : 7) {
      SCOPED_TRACE(size);
      file.bytes = {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
      EXPECT_TRUE(read_chunk_table(file.block()).problem);
      const ChunkIndex walked = walk_chunks(file.block());
      if (size >= file.table_at) {
        expect_all_chunks(file, walked);
        continue;
      }
      ASSERT_TRUE(walked.problem);
      // All chunks that are complete, and perhaps a part of the next.
      const auto complete = static_cast<std::size_t>(std::ranges::count_if(file.chunk_at, [&](std::uint64_t at) {
        const auto next = std::ranges::upper_bound(file.chunk_at, at);
        return (next == file.chunk_at.end() ? file.table_at : *next) <= size;
      }));
      EXPECT_GE(walked.chunks.size(), complete);
      EXPECT_LE(walked.chunks.size(), complete + 1);
      for (std::size_t i = 0; i < complete; ++i) EXPECT_EQ(walked.chunks[i].points, file.counts[i]);
      for (const Chunk& chunk : walked.chunks) EXPECT_LE(chunk.offset + chunk.bytes, size);
    }
  }
}

TEST(LazTable, PointsOfAPointwiseChunkThatIsCut) {
  MadeFile file(3, {300, 300, 300, 12}, false);
  file.bytes.resize(file.chunk_at[2] - 20);
  const ChunkIndex walked = walk_chunks(file.block());
  ASSERT_TRUE(walked.problem);
  ASSERT_EQ(walked.chunks.size(), 2U);
  EXPECT_GT(walked.points, 580U);
  EXPECT_LT(walked.points, 600U);
  const auto& last = walked.chunks.back();
  const Decoded decoded =
      decode_chunk(file.layout, std::span<const std::byte>(file.bytes).subspan(last.offset, last.bytes), last.points);
  EXPECT_EQ(decoded.points, last.points);
  EXPECT_TRUE(std::equal(decoded.records.begin(), decoded.records.end(),
                         file.records.data() + last.first * file.layout.record_bytes));
}

TEST(LazTable, BytesInFrontOfTheTableAreIgnored) {
  for (MadeFile& file : made_files()) {
    file.bytes.insert(file.bytes.begin() + static_cast<std::ptrdiff_t>(file.table_at), 16, std::byte{0xAA});
    file.set_pointer(static_cast<std::int64_t>(file.table_at + 16));
    const ChunkIndex index = read_chunk_table(file.block());
    expect_all_chunks(file, index);
    EXPECT_EQ(index.warnings.size(), 1U);
  }
}

TEST(LazTable, HeaderCountsFewer) {
  for (const MadeFile& file : made_files()) {
    PointBlock block = file.block();
    for (const std::uint64_t fewer : {5U, 12U, 20U, 500U}) {
      block.points = file.points - fewer;
      const ChunkIndex index = read_chunk_table(block);
      EXPECT_FALSE(index.problem);
      EXPECT_EQ(index.points, block.points);
      std::uint64_t sum = 0;
      for (const Chunk& chunk : index.chunks) sum += chunk.points;
      EXPECT_EQ(sum, block.points);
    }
  }
}

TEST(LazTable, HeaderCountsMore) {
  for (const MadeFile& file : made_files()) {
    PointBlock block = file.block();
    block.points = file.points + 1000;
    const ChunkIndex index = read_chunk_table(block);
    ASSERT_TRUE(index.problem);
    EXPECT_EQ(index.problem->field, "number of point records");
    EXPECT_EQ(index.chunks.size(), file.counts.size());
  }
}

TEST(LazTable, LiesAreRefused) {
  for (const MadeFile& good : made_files()) {
    const bool variable = good.vlr.has_variable_chunks();
    std::vector<TableEntry> entries;
    for (std::size_t i = 0; i < good.counts.size(); ++i) {
      const std::uint64_t end = i + 1 < good.counts.size() ? good.chunk_at[i + 1] : good.table_at;
      entries.push_back(
          {static_cast<std::uint32_t>(good.counts[i]), static_cast<std::uint32_t>(end - good.chunk_at[i])});
    }
    const auto expect_refused = [&](const MadeFile& file, const std::string& field) {
      const ChunkIndex index = read_chunk_table(file.block());
      ASSERT_TRUE(index.problem);
      EXPECT_EQ(index.problem->field, field);
      EXPECT_TRUE(index.chunks.empty());
      EXPECT_EQ(index.points, 0U);
    };
    {
      MadeFile file = good;
      auto changed = entries;
      changed[1].bytes = 0;
      file.put_table(changed);
      expect_refused(file, "chunk table");
      changed[1].bytes = entries[1].bytes + 1;
      file.put_table(changed);
      expect_refused(file, "chunk table");
      changed[1].bytes = 0xFFFFFFFF;
      file.put_table(changed);
      expect_refused(file, "chunk table");
      if (variable) {
        changed = entries;
        changed[1].points = 0;
        file.put_table(changed);
        expect_refused(file, "chunk table");
      }
      // As one old writer did it: the end of the first chunk instead of its size.
      changed = entries;
      changed[0].bytes += static_cast<std::uint32_t>(MadeFile::kOffset + 8);
      file.put_table(changed);
      const ChunkIndex index = read_chunk_table(file.block());
      expect_all_chunks(file, index);
      EXPECT_EQ(index.warnings.size(), 1U);
    }
    MadeFile file = good;
    store_unaligned(file.bytes.data() + file.table_at, 1U);
    expect_refused(file, "chunk table version");
    file = good;
    store_unaligned(file.bytes.data() + file.table_at + 4, 0xFFFFFFFFU);
    expect_refused(file, "number of chunks");
  }
}

TEST(LazTable, NoPoints) {
  MadeFile file(6, {10}, false);
  file.points = 0;
  file.bytes.resize(MadeFile::kOffset + 8);
  file.table_at = file.bytes.size();
  file.set_pointer(static_cast<std::int64_t>(file.table_at));
  for (const std::vector<TableEntry>& entries : {std::vector<TableEntry>{}, std::vector<TableEntry>{{0, 0}}}) {
    file.put_table(entries);
    const ChunkIndex index = read_chunk_table(file.block());
    EXPECT_FALSE(index.problem);
    EXPECT_TRUE(index.chunks.empty());
    EXPECT_TRUE(index.warnings.empty());
  }
}

TEST(LazTable, VariablePointwiseChunksCannotBeFoundWithoutIt) {
  MadeFile file(1, {5, 300, 17}, true);
  file.set_pointer(0);
  EXPECT_TRUE(walk_chunks(file.block()).problem);
}

TEST(LazTable, ChunkCountsMustBePlausible) {
  MadeFile file(7, {300, 300, 12}, false);
  store_unaligned(file.bytes.data() + file.chunk_at[1] + file.layout.record_bytes, 299U);
  const ChunkIndex walked = walk_chunks(file.block());
  ASSERT_TRUE(walked.problem);
  EXPECT_EQ(walked.problem->field, "chunk 1");
  EXPECT_EQ(walked.points, 300U);
}

TEST(LaszipVlr, SurvivesWriting) {
  for (std::uint32_t format = 0; format <= 10; ++format) {
    const LaszipVlr vlr = make_laszip_vlr(format, 7, 1234);
    const auto bytes = serialise(vlr);
    EXPECT_EQ(bytes.size(), 34 + 6 * vlr.items.size());
    LaszipVlr back;
    ASSERT_FALSE(parse_laszip_vlr(bytes, back));
    EXPECT_EQ(back.items, vlr.items);
    EXPECT_EQ(back.chunk_size, 1234U);
    EXPECT_EQ(back.special_evlrs, -1);
    EXPECT_EQ(back.special_evlrs_at, -1);
    EXPECT_EQ(back.compressor, format > 5 ? Compressor::kLayered : Compressor::kPointwise);
    EXPECT_FALSE(check_laszip_vlr(back, format, layout_of(items_of(format, 0)).record_bytes + 7));
    for (std::uint32_t other = 0; other <= 10; ++other) {
      if (other != format) {
        EXPECT_TRUE(check_laszip_vlr(back, other, layout_of(items_of(format, 0)).record_bytes + 7)) << other;
      }
    }
    EXPECT_TRUE(check_laszip_vlr(back, format, layout_of(items_of(format, 0)).record_bytes + 6));
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_TRUE(parse_laszip_vlr(std::span(bytes).first(size), back)) << size;
  }
}

TEST(LaszipVlr, WhatCannotBeDecodedIsRefused) {
  const auto refuses = [](const char* field, auto change) {
    LaszipVlr vlr = make_laszip_vlr(3, 2, 100);
    EXPECT_FALSE(check_laszip_vlr(vlr, 3, 36));
    change(vlr);
    const auto problem = check_laszip_vlr(vlr, 3, 36);
    ASSERT_TRUE(problem);
    EXPECT_EQ(problem->field, field);
  };
  refuses("LASzip compressor", [](LaszipVlr& v) { v.compressor = Compressor::kNone; });
  refuses("LASzip compressor", [](LaszipVlr& v) { v.compressor = static_cast<Compressor>(4); });
  refuses("LASzip compressor", [](LaszipVlr& v) { v.compressor = Compressor::kLayered; });
  refuses("LASzip coder", [](LaszipVlr& v) { v.coder = 1; });
  refuses("LASzip items", [](LaszipVlr& v) { v.items[1].type = static_cast<ItemType>(3); });
  refuses("LASzip items", [](LaszipVlr& v) { v.items[1].version = 3; });
  refuses("LASzip items", [](LaszipVlr& v) { v.items[1].version = 0; });
  refuses("LASzip items", [](LaszipVlr& v) { v.items[0].size = 21; });
  refuses("LASzip items", [](LaszipVlr& v) { std::swap(v.items[1], v.items[2]); });
  refuses("LASzip items", [](LaszipVlr& v) { v.items.pop_back(); });
  refuses("LASzip items", [](LaszipVlr& v) { v.items.back().size = 0; });
  refuses("LASzip items", [](LaszipVlr& v) { v.items.back().type = ItemType::kByte14; });
}

TEST(LaszipVlr, OtherWritersLabels) {
  // The same bits under other version numbers.
  auto items = items_of(10, 2);
  for (Item& item : items) item.version = 2;
  EXPECT_FALSE(check_items(items, 69, 10));
  items = items_of(4, 0);
  items.back().version = 2;
  EXPECT_FALSE(check_items(items, 57, 4));
  LaszipVlr vlr;
  vlr.chunk_size = 0;
  EXPECT_TRUE(vlr.has_variable_chunks());
}

}  // namespace
}  // namespace sluice::laz
