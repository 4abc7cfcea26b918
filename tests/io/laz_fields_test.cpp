// SPDX-License-Identifier: Apache-2.0
/// \file
/// LAZ files decoded field by field, and their chunks handed out as they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "io/laz_bytes.hpp"
#include "sluice/core/error.hpp"
#include "support/test_data.hpp"

namespace sluice::test {
namespace {

using ::testing::HasSubstr;

std::vector<ByteRange> random_fields(std::mt19937& random, std::uint32_t record_bytes) {
  std::vector<ByteRange> out;
  for (std::uint32_t left = random() % 4; left != 0; --left) {
    const auto at = static_cast<std::uint32_t>(random() % record_bytes);
    const auto most = std::min<std::uint32_t>(8, record_bytes - at);
    out.push_back({at, static_cast<std::uint32_t>(1 + random() % most)});
  }
  return out;
}

/// Loads all ranges by fields, completes parts of them and then all, and compares with the whole records.
void expect_same_records(ChunkSource& source, std::uint64_t step, const std::string& records, std::mt19937& random) {
  const std::uint32_t bytes = source.info().schema.record_bytes;
  RecordBuffer buffer;
  ChunkRange range;
  source.rewind();
  while (source.next(step, range)) {
    const std::string expected = records.substr(range.first * bytes, range.count * bytes);
    const std::vector<ByteRange> wanted = random_fields(random, bytes);
    const PointView view = source.load_fields(range, wanted, buffer);
    ASSERT_EQ(view.count, range.count);
    ASSERT_LE(buffer.size(), source.chunk_bytes(step));
    const auto* loaded = reinterpret_cast<const char*>(view.records);
    for (const ByteRange& field : wanted) {
      for (std::uint64_t i = 0; i < view.count; ++i) {
        ASSERT_EQ(std::memcmp(loaded + i * view.stride + field.at, expected.data() + i * bytes + field.at, field.bytes),
                  0)
            << "bytes from " << field.at;
      }
    }
    const std::uint64_t first = random() % range.count;
    const std::uint64_t count = 1 + random() % (range.count - first);
    source.complete(range, first, 0, buffer);
    source.complete(range, first, count, buffer);
    for (std::uint64_t i = first; i < first + count; ++i) {
      ASSERT_EQ(std::memcmp(loaded + i * view.stride, expected.data() + i * bytes, bytes), 0) << "point " << i;
    }
    source.complete(range, 0, range.count, buffer);
    ASSERT_EQ(view.stride, bytes);
    ASSERT_TRUE(std::memcmp(loaded, expected.data(), expected.size()) == 0);
    source.release(range);
  }
}

TEST(LazFields, LoadedAndCompletedTheyAreTheRecords) {
  std::mt19937 random(3);
  for (int format = 0; format <= 10; ++format) {
    for (const int extra : {0, 3}) {
      SCOPED_TRACE("format " + std::to_string(format) + ", extra bytes " + std::to_string(extra));
      LasBytes las = scan(format, 700, extra);
      const std::string plain = las.build();
      std::vector<LazBytes> ways{{.chunk_size = 1}, {.chunk_size = 99}, {.variable = {1, 17, 300, 2, 1}}};
      if (format <= 5) ways.push_back({.one_stream = true});
      for (LazBytes& way : ways) {
        const auto source = open_bytes(way.build(plain));
        for (const std::uint64_t step : {1, 64, 350, 100000}) {
          expect_same_records(*source, step, las.records, random);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(LazFields, OfFilesOfOtherImplementations) {
  const auto data = test_data();
  if (data.empty()) GTEST_SKIP() << "no test data: set SLUICE_TEST_DATA";
  std::mt19937 random(4);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data / "laz-vectors")) {
    if (entry.path().extension() != ".laz") continue;
    SCOPED_TRACE(entry.path().filename());
    ++files;
    const auto source = io::open_source(entry.path().string());
    const std::string records = read_all(*source, 1 << 20);
    for (const std::uint64_t step : {1000, 1 << 20}) expect_same_records(*source, step, records, random);
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(files, 50U);
}

/// A file of three chunks of 100 points, whose second has a damaged colour layer.
struct DamagedColour {
  DamagedColour() {
    LazBytes way{.chunk_size = 100};
    bytes = way.build(las.build());
    // The sizes of the layers follow the first record and the count; the colour is the last layer.
    const std::size_t sizes = way.chunks_at[1] + static_cast<std::size_t>(las.record_bytes()) + 4;
    const auto colour = get<std::uint32_t>(bytes, sizes + 4 * std::size_t{laz::layer::kRgb});
    for (std::size_t i = way.chunks_at[2] - colour; i < way.chunks_at[2]; ++i) bytes[i] = '\x55';
    chunks_at = way.chunks_at;
  }
  LasBytes las = scan(7, 300);
  std::string bytes;
  std::vector<std::size_t> chunks_at;
};

TEST(LazFields, DamageShowsWhereItIsDecoded) {
  const DamagedColour file;
  const auto source = open_bytes(file.bytes);
  RecordBuffer buffer;
  ChunkRange range;
  ASSERT_TRUE(source->next(1000, range));
  ASSERT_EQ(range.count, 300U);
  EXPECT_THROW((void)source->load(range, buffer), FormatError);
  const ByteRange position{0, 12};
  const PointView view = source->load_fields(range, std::span(&position, 1), buffer);
  const std::uint64_t bytes = view.stride;
  for (std::uint64_t i = 0; i < 300; ++i) {
    ASSERT_EQ(std::memcmp(view.records + i * bytes, file.las.records.data() + i * bytes, 12), 0);
  }
  source->complete(range, 0, 100, buffer);
  source->complete(range, 200, 100, buffer);
  EXPECT_EQ(std::memcmp(view.records, file.las.records.data(), 100 * bytes), 0);
  EXPECT_EQ(std::memcmp(view.records + 200 * bytes, file.las.records.data() + 200 * bytes, 100 * bytes), 0);
  try {
    source->complete(range, 199, 1, buffer);
    ADD_FAILURE() << "nothing was refused";
  } catch (const FormatError& error) {
    EXPECT_THAT(error.what(), HasSubstr("byte " + std::to_string(file.chunks_at[1]) + ": chunk 1: "));
  }
  const ByteRange colour{31, 1};
  EXPECT_THROW((void)source->load_fields(range, std::span(&colour, 1), buffer), FormatError);
}

/// The runs of all ranges. Of a run that cannot be copied only the points are told.
std::vector<std::pair<std::uint64_t, std::string>> runs_of(ChunkSource& source, std::uint64_t step) {
  std::vector<std::pair<std::uint64_t, std::string>> out;
  std::vector<EncodedRun> runs{{7, {}}};
  RecordBuffer buffer;
  ChunkRange range;
  source.rewind();
  while (source.next(step, range)) {
    (void)source.load_fields(range, {}, buffer);
    source.encoded_runs(range, runs);
    std::uint64_t points = 0;
    for (const EncodedRun& run : runs) {
      out.emplace_back(run.points, std::string(reinterpret_cast<const char*>(run.bytes.data()), run.bytes.size()));
      points += run.points;
    }
    EXPECT_TRUE(runs.empty() || points == range.count);
    source.release(range);
  }
  return out;
}

TEST(LazRuns, AreTheChunks) {
  for (const int format : {0, 3, 5, 6, 7, 10}) {
    SCOPED_TRACE(format);
    LasBytes las = scan(format, 500, 2);
    LazBytes way{.variable = {100, 1, 30}};
    const std::string laz = way.build(las.build());
    const auto source = open_bytes(laz);
    EXPECT_EQ(source->coding(), laz::coding_of(laz::layout_of(laz::items_of(static_cast<std::uint32_t>(format), 2))));
    std::vector<std::size_t> ends = way.chunks_at;
    ends.push_back(way.table_at);
    for (const std::uint64_t step : {100, 131, 1000}) {
      const auto runs = runs_of(*source, step);
      ASSERT_EQ(runs.size(), way.chunks_at.size());
      for (std::size_t i = 0; i < runs.size(); ++i) {
        if (i + 1 == runs.size()) {
          EXPECT_TRUE(runs[i].second.empty());
          continue;
        }
        EXPECT_TRUE(runs[i].second == laz.substr(ends[i], ends[i + 1] - ends[i])) << i;
        EXPECT_EQ(runs[i].first, way.variable[i % 3]);
      }
    }
    // A range of a part of a chunk has none.
    EXPECT_LT(runs_of(*source, 99).size(), way.chunks_at.size());
  }
}

TEST(LazRuns, NotOfAStream) {
  LasBytes las = scan(1, 100);
  const auto source = open_bytes(LazBytes{.one_stream = true}.build(las.build()));
  EXPECT_EQ(source->coding(), "");
  EXPECT_TRUE(runs_of(*source, 1000).empty());
}

/// A chunk with more points than the header counts, with bytes that belong to none, or cut at damage is not copied.
/// The last chunk may always hold more: only decoding all of it would tell.
TEST(LazRuns, NotOfChunksThatMayHoldMore) {
  for (const int format : {1, 7}) {
    SCOPED_TRACE(format);
    LasBytes las = scan(format, 300);
    LazBytes way{.chunk_size = 100};
    const std::string laz = way.build(las.build());
    const auto expect_copied = [&](const std::string& bytes, bool recover, const std::vector<bool>& copied) {
      const auto source = open_bytes(bytes, recover);
      for (const std::uint64_t step : {100, 1000}) {
        const auto runs = runs_of(*source, step);
        ASSERT_EQ(runs.size(), copied.size());
        for (std::size_t i = 0; i < runs.size(); ++i) EXPECT_EQ(!runs[i].second.empty(), copied[i]) << i;
      }
    };
    expect_copied(laz, false, {true, true, false});
    std::string fewer = laz;
    if (format == 1) put<std::uint32_t>(fewer, 107, 295);
    if (format == 7) put<std::uint64_t>(fewer, 247, 295);
    expect_copied(fewer, false, {true, true, false});
    std::string damaged = laz;
    const std::size_t at = way.chunks_at[1] + static_cast<std::size_t>(las.record_bytes()) + (format > 5 ? 4 : 60);
    for (std::size_t i = at; i < at + 40; ++i) damaged[i] = '\xff';
    expect_copied(damaged, true, {true, false});
  }
}

}  // namespace
}  // namespace sluice::test
