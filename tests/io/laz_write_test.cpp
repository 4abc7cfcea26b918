// SPDX-License-Identifier: Apache-2.0
/// \file
/// Written LAZ files against those that the test builds from the codec, byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <thread>

#include "io/laz_bytes.hpp"
#include "sluice/core/error.hpp"

namespace sluice::test {
namespace {

using ::testing::HasSubstr;

std::string records_of(const std::string& file) { return read_all(*open_bytes(file), 1000); }

/// Points of every chunk, by the table.
std::vector<std::uint64_t> chunks_of(const std::string& file) {
  laz::LaszipVlr vlr;
  const auto source = open_bytes(file);
  for (const io::Vlr& record : metadata_of(source->info()).vlrs) {
    if (record.record_id != laz::kLaszipRecordId) continue;
    EXPECT_FALSE(laz::parse_laszip_vlr(record.payload, vlr));
  }
  laz::PointBlock block;
  const std::vector<std::byte> bytes = to_bytes(file);
  block.file = bytes;
  block.offset = get<std::uint32_t>(file, 96);
  block.points = source->info().point_count;
  block.vlr = &vlr;
  block.layout = laz::layout_of(vlr.items);
  const laz::ChunkIndex index = laz::read_chunk_table(block);
  EXPECT_FALSE(index.problem);
  std::vector<std::uint64_t> out;
  for (const laz::Chunk& chunk : index.chunks) out.push_back(chunk.points);
  return out;
}

class LazWrite : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("SOURCE_DATE_EPOCH", kEpoch, 1); }

  /// True where a written file is the one that the test made, but for the description of the record about compression.
  static bool same(const std::string& written, std::string made) {
    const std::size_t at = made.find("made by a test", made.find(laz::kLaszipUserId));
    if (at != std::string::npos) made.replace(at, 32, std::string("compressed by sluice").append(12, '\0'));
    return written == made;
  }
  std::string written(const std::string& file, std::uint32_t chunk_points = 0) {
    io::WriteOptions options;
    options.overwrite = true;
    options.chunk_points = chunk_points;
    const auto source = open_bytes(file);
    EXPECT_EQ(joined(copy_to(*source, folder_ / "out.laz", options)), "");
    return read_file(folder_ / "out.laz");
  }
  std::unique_ptr<ChunkSink> sink_for(const CloudInfo& like, std::uint32_t chunk_points = 0) {
    io::WriteOptions options{.overwrite = true, .generator = kGenerator};
    options.chunk_points = chunk_points;
    return io::create_sink(folder_ / "out.laz", like, options);
  }
  std::string complete(ChunkSink& sink) {
    sink.seal();
    sink.finish();
    return read_file(folder_ / "out.laz");
  }

  TemporaryFolder folder_;
};

TEST_F(LazWrite, CompressedFilesStayWhatTheyAre) {
  for (int format = 0; format <= 10; ++format) {
    for (const int extra : {0, 3}) {
      for (const std::uint64_t size : {1, 7, 350, 699, 700, 701, 50000}) {
        SCOPED_TRACE("format " + std::to_string(format) + ", chunks of " + std::to_string(size));
        const std::string laz = LazBytes{.chunk_size = size}.build(scan(format, 700, extra).build());
        ASSERT_TRUE(same(written(laz), laz));
        // In another chunk size, and back.
        const std::string other = written(laz, 111);
        ASSERT_EQ(chunks_of(other), (std::vector<std::uint64_t>{111, 111, 111, 111, 111, 111, 34}));
        ASSERT_TRUE(same(written(other, static_cast<std::uint32_t>(size)), laz));
      }
    }
  }
}

TEST_F(LazWrite, NoPointsAndOne) {
  for (const int format : {0, 3, 6, 10}) {
    for (const std::uint64_t points : {0, 1}) {
      const std::string laz = LazBytes{}.build(scan(format, points).build());
      EXPECT_TRUE(same(written(laz), laz));
    }
  }
}

TEST_F(LazWrite, WhatSurroundsThePointsIsKept) {
  LasBytes las = scan(9, 50);
  las.encoding = 16 | 2;
  las.vlrs = {{"me", 1, "first"}, {"LASF_Projection", 2112, std::string("PROJCS[]\0", 9)}};
  las.evlrs = {{"LASF_Spec", 65535, "waveforms"}, {"me", 7, "extended"}};
  las.waveform_evlr = 0;
  las.gap = "gap";
  const std::string laz = LazBytes{.chunk_size = 20}.build(las.build());
  EXPECT_TRUE(same(written(laz), laz));
}

TEST_F(LazWrite, FromLasWithRecordAndFormatAdded) {
  LasBytes las = scan(6, 130);
  las.vlrs = {{"me", 1, "first"}};
  const std::string laz = written(las.build(), 50);
  EXPECT_EQ(static_cast<unsigned char>(laz[104]), 0x80U | 6U);
  const auto source = open_bytes(laz);
  const io::LasMetadata& metadata = metadata_of(source->info());
  ASSERT_EQ(metadata.vlrs.size(), 2u);
  EXPECT_EQ(metadata.vlrs[0].user_text(), "me");
  EXPECT_TRUE(metadata.vlrs[1].is(laz::kLaszipUserId, laz::kLaszipRecordId));
  EXPECT_TRUE(records_of(laz) == las.records);
  EXPECT_EQ(chunks_of(laz), (std::vector<std::uint64_t>{50, 50, 30}));
  EXPECT_EQ(chunks_of(written(las.build())), (std::vector<std::uint64_t>{130}));
}

TEST_F(LazWrite, WhenPointsComeDoesNotMatter) {
  for (const int format : {1, 7}) {
    LasBytes las = scan(format, 20000);
    const auto source = open_bytes(las.build());
    const std::string expected = written(las.build(), 300);
    // Pieces of all sizes, some of whole chunks, some of several, in any order.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> pieces;
    std::mt19937 random(5);
    for (std::uint64_t first = 0; first < las.points;) {
      const std::uint64_t sizes[] = {1, 37, 300, 600, 1000};
      const std::uint64_t count = std::min(sizes[random() % 5], las.points - first);
      pieces.emplace_back(first, count);
      first += count;
    }
    for (int round = 0; round < 4; ++round) {
      const auto sink = sink_for(source->info(), 300);
      for (const auto& [first, count] : pieces) ASSERT_EQ(sink->reserve(count), first);
      std::shuffle(pieces.begin(), pieces.end(), random);
      std::vector<std::thread> threads;
      for (std::size_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
          RecordBuffer buffer;
          for (std::size_t i = t; i < pieces.size(); i += 4) {
            sink->store(pieces[i].first, source->load({pieces[i].first, pieces[i].second, 0}, buffer));
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      ASSERT_TRUE(complete(*sink) == expected);
      std::sort(pieces.begin(), pieces.end());
    }
  }
}

TEST_F(LazWrite, FromWiderStrides) {
  for (const int format : {0, 6}) {
    LasBytes las = scan(format, 400);
    const auto source = open_bytes(las.build());
    RecordBuffer buffer;
    PointView view = source->load({0, 400, 0}, buffer);
    view.stride *= 2;
    view.count = 200;
    const auto sink = sink_for(source->info(), 90);
    (void)sink->reserve(200);
    sink->store(0, view);
    const std::size_t bytes = las.records.size() / 400;
    std::string expected;
    for (std::size_t i = 0; i < 200; ++i) expected += las.records.substr(2 * i * bytes, bytes);
    EXPECT_TRUE(records_of(complete(*sink)) == expected);
  }
}

TEST_F(LazWrite, PlacesWithoutPointsAreAnError) {
  LasBytes las = scan(6, 400);
  const auto source = open_bytes(las.build());
  RecordBuffer buffer;
  const auto sink = sink_for(source->info(), 100);
  (void)sink->reserve(400);
  sink->store(100, source->load({100, 300, 0}, buffer));
  EXPECT_THROW(sink->seal(), InvalidArgument);
  EXPECT_THROW(sink->store(399, source->load({0, 2, 0}, buffer)), InvalidArgument);
}

/// The chunks of a file in memory, as its reader gives them.
struct Runs {
  explicit Runs(const std::string& file) : source(open_bytes(file)) {
    EXPECT_TRUE(source->next(source->info().point_count, range));
    view = source->load(range, buffer);
    source->encoded_runs(range, runs);
  }
  std::unique_ptr<ChunkSource> source;
  ChunkRange range;
  RecordBuffer buffer;
  PointView view;
  std::vector<EncodedRun> runs;
};

TEST_F(LazWrite, RunsAreCopiedWhereTheyFit) {
  for (const int format : {1, 7}) {
    LasBytes las = scan(format, 2000);
    const std::string laz = LazBytes{.chunk_size = 100}.build(las.build());
    const Runs from(laz);
    ASSERT_EQ(from.runs.size(), 20u);
    const auto part = [&](std::uint64_t first, std::uint64_t count) {
      return PointView{from.view.records + first * from.view.stride, count, from.view.stride};
    };
    const auto sink = sink_for(from.source->info());
    ASSERT_EQ(sink->coding(), from.source->coding());
    std::uint64_t place = 0;
    std::uint64_t done = 0;
    // A whole one, 30 points, a whole one, 10 points, one that does not fit behind so few, the rest.
    ASSERT_TRUE(sink->reserve_encoded(100, place));
    sink->store_encoded(place, from.runs[0], part(0, 100));
    const std::uint64_t thirty = sink->reserve(30);
    ASSERT_EQ(thirty, 100u);
    ASSERT_TRUE(sink->reserve_encoded(100, place));
    ASSERT_EQ(place, 130u);
    sink->store_encoded(place, from.runs[2], part(200, 100));
    sink->store(thirty, part(100, 30));
    done = sink->reserve(10);
    sink->store(done, part(300, 10));
    ASSERT_FALSE(sink->reserve_encoded(100, place));
    ASSERT_FALSE(sink->reserve_encoded(24, place));
    done = sink->reserve(210);
    ASSERT_EQ(done, 240u);
    sink->store(done, part(400, 210));
    const std::string file = complete(*sink);
    EXPECT_EQ(chunks_of(file), (std::vector<std::uint64_t>{100, 30, 100, 100, 100, 20}));
    const std::size_t bytes = las.records.size() / 2000;
    const auto records = [&](std::size_t first, std::size_t count) {
      return las.records.substr(first * bytes, count * bytes);
    };
    EXPECT_TRUE(records_of(file) == records(0, 130) + records(200, 100) + records(300, 10) + records(400, 210));
    // All of it, whose last chunk is never a run: the file that it comes from.
    const auto again = sink_for(from.source->info());
    for (std::size_t i = 0; i + 1 < from.runs.size(); ++i) {
      ASSERT_TRUE(again->reserve_encoded(100, place));
      again->store_encoded(place, from.runs[i], part(place, 100));
    }
    (void)again->reserve(100);
    again->store(1900, part(1900, 100));
    EXPECT_TRUE(same(complete(*again), laz));
  }
}

TEST_F(LazWrite, AChunkSizeThatWasAskedForIsKept) {
  const Runs from(LazBytes{.chunk_size = 100}.build(scan(6, 2000).build()));
  const auto sink = sink_for(from.source->info(), 100);
  std::uint64_t place = 0;
  EXPECT_FALSE(sink->reserve_encoded(99, place));
  EXPECT_TRUE(sink->reserve_encoded(100, place));
  (void)sink->reserve(30);
  EXPECT_FALSE(sink->reserve_encoded(100, place));
  (void)sink->reserve(70);
  EXPECT_TRUE(sink->reserve_encoded(100, place));
  const auto smaller = sink_for(from.source->info(), 50);
  EXPECT_FALSE(smaller->reserve_encoded(100, place));
}

/// A chunk that is cut short when all its points are there already is encoded by whoever comes next.
TEST_F(LazWrite, AChunkMayBeCutShortLate) {
  LasBytes las = scan(6, 600);
  const Runs from(LazBytes{.chunk_size = 100}.build(las.build()));
  for (const bool run_first : {true, false}) {
    const auto sink = sink_for(from.source->info());
    std::uint64_t place = 0;
    const std::uint64_t first = sink->reserve(50);
    if (!run_first) sink->store(first, {from.view.records, 50, from.view.stride});
    ASSERT_TRUE(sink->reserve_encoded(100, place));
    sink->store_encoded(place, from.runs[1], {from.view.records + 100 * from.view.stride, 100, from.view.stride});
    if (run_first) sink->store(first, {from.view.records, 50, from.view.stride});
    const std::string file = complete(*sink);
    EXPECT_EQ(chunks_of(file), (std::vector<std::uint64_t>{50, 100}));
    EXPECT_TRUE(records_of(file) == las.records.substr(0, 50 * 30) + las.records.substr(100 * 30, 100 * 30));
  }
}

TEST_F(LazWrite, ChunkSizeHasALimit) {
  const auto source = open_bytes(scan(6, 4).build());
  EXPECT_THROW((void)sink_for(source->info(), io::kMostChunkPoints + 1), InvalidArgument);
  const auto sink = sink_for(source->info(), io::kMostChunkPoints);
  RecordBuffer buffer;
  (void)sink->reserve(4);
  sink->store(0, source->load({0, 4, 0}, buffer));
  EXPECT_EQ(chunks_of(complete(*sink)), (std::vector<std::uint64_t>{4}));
}

TEST_F(LazWrite, SizesOfChunksAreTakenFromTheInputOnlyWhereThereIsOneSize) {
  LasBytes las = scan(3, 700);
  const std::string plain = las.build();
  EXPECT_EQ(chunks_of(written(LazBytes{.chunk_size = 300}.build(plain))), (std::vector<std::uint64_t>{300, 300, 100}));
  EXPECT_EQ(chunks_of(written(LazBytes{.variable = {10, 300}}.build(plain))), (std::vector<std::uint64_t>{700}));
  EXPECT_EQ(chunks_of(written(LazBytes{.one_stream = true}.build(plain))), (std::vector<std::uint64_t>{700}));
}

}  // namespace
}  // namespace sluice::test
