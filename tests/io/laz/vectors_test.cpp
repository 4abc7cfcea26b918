// SPDX-License-Identifier: Apache-2.0
/// \file
/// The test vectors: files that other implementations wrote, with the hash of what they hold.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "io/laz/laz_file.hpp"
#include "support/sha256.hpp"
#include "support/test_data.hpp"

namespace sluice::laz {
namespace {

struct Vector {
  std::string name;
  std::uint64_t points = 0;
  std::uint64_t chunks = 0;
  std::string hash;
};

/// The rows of the table in the vectors' README.
std::vector<Vector> read_table(const std::filesystem::path& readme) {
  std::vector<Vector> out;
  std::ifstream file(readme);
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t end = line.find('|', at);
      if (end == std::string::npos) break;
      std::string cell = line.substr(at, end - at);
      const std::size_t first = cell.find_first_not_of(" `");
      cells.push_back(first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(" `") - first + 1));
      at = end + 1;
    }
    if (cells.size() == 12 && cells[11].size() == 64)
      out.push_back({cells[1], std::stoull(cells[5]), std::stoull(cells[8]), cells[11]});
  }
  return out;
}

class LazVectors : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto data = test::test_data();
    if (data.empty()) GTEST_SKIP() << "no test data: set SLUICE_TEST_DATA";
    folder_ = data / "laz-vectors";
    table_ = read_table(folder_ / "README.md");
    ASSERT_GE(table_.size(), 50U);
  }
  /// All records of a file; every chunk must be used up.
  static std::vector<std::byte> decode(LazFile& file, const ChunkIndex& index) {
    std::vector<std::byte> records;
    const RecordLayout& layout = file.points().layout;
    for (const Chunk& chunk : index.chunks) {
      const Decoded decoded = decode_chunk(layout, file.bytes_of(chunk), chunk.points);
      EXPECT_EQ(decoded.status, Status::kOk) << "chunk at " << chunk.offset;
      EXPECT_EQ(decoded.points, chunk.points);
      records.insert(records.end(), decoded.records.begin(), decoded.records.end());
    }
    return records;
  }

  std::filesystem::path folder_;
  std::vector<Vector> table_;
};

TEST_F(LazVectors, DecodeToTheRecordedHash) {
  for (const Vector& vector : table_) {
    SCOPED_TRACE(vector.name);
    LazFile file(bytes_of_file(folder_ / (vector.name + ".laz")));
    ASSERT_TRUE(file.readable);
    const ChunkIndex index = file.chunks();
    EXPECT_FALSE(index.problem) << index.problem->text;
    EXPECT_TRUE(index.warnings.empty()) << index.warnings[0];
    EXPECT_EQ(index.points, vector.points);
    EXPECT_EQ(index.chunks.size(), vector.chunks);
    EXPECT_EQ(test::sha256(decode(file, index)), vector.hash);
  }
}

TEST_F(LazVectors, EncodeToTheSameBytes) {
  std::size_t files = 0;
  for (const Vector& vector : table_) {
    SCOPED_TRACE(vector.name);
    LazFile file(bytes_of_file(folder_ / (vector.name + ".laz")));
    const RecordLayout& layout = file.points().layout;
    if (layout.is_old()) continue;
    ++files;
    EXPECT_EQ(serialise(file.vlr), file.vlr_bytes);
    const ChunkIndex index = file.chunks();
    std::vector<TableEntry> entries;
    for (const Chunk& chunk : index.chunks) {
      const Decoded decoded = decode_chunk(layout, file.bytes_of(chunk), chunk.points);
      const auto encoded = encode_chunk(layout, decoded.records.data(), chunk.points);
      ASSERT_TRUE(std::ranges::equal(encoded, file.bytes_of(chunk))) << "chunk at " << chunk.offset;
      entries.push_back({static_cast<std::uint32_t>(file.vlr.has_variable_chunks() ? chunk.points : 0),
                         static_cast<std::uint32_t>(chunk.bytes)});
    }
    if (file.vlr.compressor == Compressor::kOneStream) continue;
    Buffer table;
    encode_chunk_table(entries, file.vlr.has_variable_chunks(), table);
    const std::uint64_t at = index.chunks.empty() ? file.points().offset + kTablePointerBytes
                                                  : index.chunks.back().offset + index.chunks.back().bytes;
    ASSERT_LE(at + table.size(), file.bytes.size());
    EXPECT_TRUE(std::ranges::equal(table.bytes(), std::span<const std::byte>(file.bytes).subspan(at, table.size())));
  }
  EXPECT_GE(files, 48U);
}

TEST_F(LazVectors, LayersCanFollowLater) {
  std::mt19937_64 random(12);
  std::size_t files = 0;
  for (const Vector& vector : table_) {
    SCOPED_TRACE(vector.name);
    LazFile file(bytes_of_file(folder_ / (vector.name + ".laz")));
    const RecordLayout& layout = file.points().layout;
    if (!layout.layered) continue;
    ++files;
    for (const Chunk& chunk : file.chunks().chunks) {
      const std::uint64_t first = random();
      const std::uint64_t second = random();
      const Decoded all = decode_chunk(layout, file.bytes_of(chunk), chunk.points);
      const Decoded parts =
          decode_by_layers(layout, file.bytes_of(chunk), chunk.points, {first, second, ~(first | second)});
      ASSERT_EQ(parts.status, Status::kOk);
      ASSERT_EQ(parts.points, chunk.points);
      ASSERT_TRUE(parts.records == all.records) << std::hex << first << " and then " << second;
    }
  }
  EXPECT_GE(files, 20U);
}

/// Each layer alone gives the same bytes of the records as all of them, and leaves the others alone.
TEST_F(LazVectors, LayersCanBeDecodedAlone) {
  static LayeredWorkspace workspace;
  constexpr std::byte kUntouched{0xA5};
  std::size_t files = 0;
  for (const Vector& vector : table_) {
    SCOPED_TRACE(vector.name);
    LazFile file(bytes_of_file(folder_ / (vector.name + ".laz")));
    const RecordLayout& layout = file.points().layout;
    if (!layout.layered) continue;
    ++files;
    struct Part {
      std::uint32_t layer, at, bytes;
    };
    std::vector<Part> parts{{layer::kZ, 8, 4},          {layer::kClassification, 16, 1}, {layer::kFlags, 15, 1},
                            {layer::kIntensity, 12, 2}, {layer::kScanAngle, 18, 2},      {layer::kUserData, 17, 1},
                            {layer::kSource, 20, 2},    {layer::kGpsTime, 22, 8}};
    if (layout.rgb_version != 0) parts.push_back({layer::kRgb, layout.rgb_at, 6});
    if (layout.nir_version != 0) parts.push_back({layer::kNir, layout.nir_at, 2});
    if (layout.wave_packet_version != 0) parts.push_back({layer::kWavePacket, layout.wave_packet_at, 29});
    for (std::uint32_t j = 0; j < layout.extra_bytes; ++j) parts.push_back({layer::kExtra + j, layout.extra_at + j, 1});

    for (const Chunk& chunk : file.chunks().chunks) {
      const Decoded all = decode_chunk(layout, file.bytes_of(chunk), chunk.points);
      for (const Part& part : parts) {
        std::vector<std::byte> records(all.records.size(), kUntouched);
        const auto result =
            decode_layered_chunk(workspace, layout, file.bytes_of(chunk), layer::bit(part.layer),
                                 fields_of_records(layout, records.data(), layout.record_bytes), chunk.points);
        EXPECT_EQ(result.status, Status::kOk);
        EXPECT_EQ(result.points, chunk.points);
        bool same = true;
        for (std::uint64_t i = 0; i < chunk.points; ++i) {
          for (std::uint32_t at = 0; at < layout.record_bytes; ++at) {
            const std::uint64_t which = i * layout.record_bytes + at;
            const bool main = at < 8 || at == 14;
            const bool wanted = main || (at >= part.at && at < part.at + part.bytes);
            const std::byte expected = wanted     ? all.records[which]
                                       : at == 15 ? all.records[which] & std::byte{0x30}
                                                  : kUntouched;
            same = same && records[which] == expected;
          }
        }
        EXPECT_TRUE(same) << "layer " << part.layer << " of the chunk at " << chunk.offset;
      }
    }
  }
  EXPECT_GE(files, 25U);
}

/// Files from the field: chunks are used up, and encode to the same bytes again.
TEST_F(LazVectors, RealFilesEncodeToTheSameBytes) {
  std::size_t chunks = 0;
  for (const char* folder : {"laz", "copc"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / ".." / folder)) {
      SCOPED_TRACE(entry.path().filename());
      LazFile file(bytes_of_file(entry.path()));
      ASSERT_TRUE(file.readable);
      const RecordLayout& layout = file.points().layout;
      if (file.vlr.compressor == Compressor::kOneStream) continue;
      const ChunkIndex index = file.chunks();
      EXPECT_FALSE(index.problem);
      for (const Chunk& chunk : index.chunks) {
        const Decoded decoded = decode_chunk(layout, file.bytes_of(chunk), chunk.points);
        EXPECT_EQ(decoded.status, Status::kOk);
        if (layout.is_old()) continue;
        EXPECT_TRUE(
            std::ranges::equal(encode_chunk(layout, decoded.records.data(), chunk.points), file.bytes_of(chunk)));
        ++chunks;
      }
    }
  }
  EXPECT_GE(chunks, 50U);
}

}  // namespace
}  // namespace sluice::laz
