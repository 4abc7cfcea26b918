// SPDX-License-Identifier: Apache-2.0
/// \file
/// LAZ files made by the test, read like the LAS files that they were made from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "io/laz_bytes.hpp"
#include "sluice/core/error.hpp"

namespace sluice::test {
namespace {

using ::testing::HasSubstr;

class LazRead : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("SOURCE_DATE_EPOCH", kEpoch, 1); }

  /// What writing a file's points gives, without the source having anything to complain about.
  std::string rewritten(const std::string& bytes, std::vector<std::string>* warnings = nullptr) {
    const auto source = open_bytes(bytes);
    EXPECT_FALSE(io::was_recovered(*source));
    std::vector<std::string> said = copy_to(*source, folder_ / "out.las", {.overwrite = true});
    EXPECT_EQ(joined(said), "");
    if (warnings != nullptr) *warnings = source->info().warnings;
    return read_file(folder_ / "out.las");
  }
  void expect_same(const std::string& las, const std::string& laz) {
    std::vector<std::string> of_las;
    std::vector<std::string> of_laz;
    const std::string expected = rewritten(las, &of_las);
    EXPECT_EQ(rewritten(laz, &of_laz), expected);
    EXPECT_EQ(joined(of_laz), joined(of_las));
  }
  static std::string records_of(const std::string& laz, std::uint64_t chunk, bool recover = false) {
    return read_all(*open_bytes(laz, recover), chunk);
  }
  static std::string refusal(const std::string& laz) {
    try {
      (void)records_of(laz, 1000);
    } catch (const Error& error) {
      return error.what();
    }
    ADD_FAILURE() << "was read";
    return {};
  }

  TemporaryFolder folder_;
};

TEST_F(LazRead, EveryFormatInChunksOfAnySize) {
  for (int format = 0; format <= 10; ++format) {
    for (const int extra : {0, 3}) {
      SCOPED_TRACE("format " + std::to_string(format) + ", extra bytes " + std::to_string(extra));
      LasBytes las = scan(format, 700, extra);
      const std::string plain = las.build();
      std::vector<LazBytes> ways;
      for (const std::uint64_t size : {1, 2, 7, 99, 350, 699, 700, 701, 50000}) ways.push_back({.chunk_size = size});
      ways.push_back({.variable = {1, 17, 300, 2, 1}});
      ways.push_back({.variable = {5}, .streamed = true});
      ways.push_back({.chunk_size = 100, .streamed = true});
      if (format <= 5) ways.push_back({.one_stream = true});
      for (LazBytes& way : ways) {
        SCOPED_TRACE("chunk size " + std::to_string(way.chunk_size));
        const std::string laz = way.build(plain);
        expect_same(plain, laz);
        for (const std::uint64_t step : {1, 2, 64, 349, 701, 100000}) {
          ASSERT_EQ(records_of(laz, step), las.records) << step;
        }
      }
    }
  }
}

TEST_F(LazRead, LargeChunks) {
  for (const int format : {3, 7}) {
    LasBytes las = scan(format, 110003);
    const std::string plain = las.build();
    for (const std::uint64_t size : {50000, 50001, 110003}) {
      SCOPED_TRACE(size);
      const std::string laz = LazBytes{.chunk_size = size}.build(plain);
      ASSERT_EQ(records_of(laz, 65536), las.records);
      ASSERT_EQ(records_of(laz, 30000), las.records);
      EXPECT_EQ(open_bytes(laz)->decoded_together(), size);
    }
  }
}

TEST_F(LazRead, NoPointsAndOne) {
  for (const int format : {0, 1, 6, 7}) {
    for (const std::uint64_t points : {0, 1}) {
      LasBytes las = scan(format, points);
      const std::string plain = las.build();
      expect_same(plain, LazBytes{}.build(plain));
      expect_same(plain, LazBytes{.variable = {10}}.build(plain));
      if (format < 6) expect_same(plain, LazBytes{.one_stream = true}.build(plain));
    }
  }
}

TEST_F(LazRead, WhatSurroundsThePointsIsKept) {
  LasBytes las = scan(9, 50);
  las.encoding = 16 | 2;
  las.vlrs = {{"me", 1, "first"}, {"LASF_Projection", 2112, std::string("PROJCS[]\0", 9)}};
  las.evlrs = {{"LASF_Spec", 65535, "waveforms"}, {"me", 7, "extended"}};
  las.waveform_evlr = 0;
  las.gap = "gap";
  const std::string plain = las.build();
  expect_same(plain, LazBytes{.chunk_size = 20}.build(plain));

  las = scan(4, 50);
  las.encoding = 2;
  las.lone_waveform = "waveforms outside of any chain";
  las.vendor = "vendor";
  const std::string older = las.build();
  expect_same(older, LazBytes{.chunk_size = 20}.build(older));
  expect_same(older, LazBytes{.one_stream = true}.build(older));
}

TEST_F(LazRead, SaysThatItIsCompressed) {
  LasBytes las = scan(1, 20);
  const auto source = open_bytes(LazBytes{}.build(las.build()));
  const io::LasMetadata& metadata = metadata_of(source->info());
  EXPECT_EQ(metadata.format(), "laz");
  EXPECT_EQ(metadata.header.point_format, 1);
  ASSERT_EQ(metadata.vlrs.size(), 1U);
  EXPECT_TRUE(metadata.vlrs[0].is(laz::kLaszipUserId, laz::kLaszipRecordId));
}

TEST_F(LazRead, RangesMayBeLoadedByManyThreads) {
  for (const int format : {1, 7}) {
    LasBytes las = scan(format, 3000);
    const std::string laz = LazBytes{.variable = {1, 400, 3, 900}}.build(las.build());
    for (const std::uint64_t step : {150, 1000}) {
      const auto source = open_bytes(laz);
      const std::uint64_t bytes = source->info().schema.record_bytes;
      std::vector<ChunkRange> ranges;
      for (ChunkRange range; source->next(step, range);) ranges.push_back(range);
      std::string out(las.records.size(), '\0');
      std::atomic<std::size_t> at{0};
      std::vector<std::thread> threads;
      for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
          RecordBuffer buffer;
          for (std::size_t i = at++; i < ranges.size(); i = at++) {
            const PointView view = source->load(ranges[i], buffer);
            std::memcpy(out.data() + ranges[i].first * bytes, view.records, view.count * bytes);
            source->release(ranges[i]);
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      EXPECT_EQ(out, las.records);
      source->rewind();
      EXPECT_EQ(read_all(*source, step), las.records);
    }
  }
}

TEST_F(LazRead, MemoryDoesNotGrowWithAStream) {
  LasBytes las = scan(1, 5000);
  const auto stream = open_bytes(LazBytes{.one_stream = true}.build(las.build()));
  const auto large = open_bytes(LazBytes{}.build(las.build()));
  EXPECT_LT(stream->chunk_bytes(100) + 4000 * 28, stream->chunk_bytes(5000));
  EXPECT_LT(large->chunk_bytes(100) + 4000 * 28, large->chunk_bytes(5000));
  // A layered chunk cannot be decoded in parts.
  LasBytes layered = scan(6, 5000);
  EXPECT_GT(open_bytes(LazBytes{}.build(layered.build()))->chunk_bytes(100), 5000U * 30);
}

TEST_F(LazRead, RangesThatWereNotHandedOutAreRefused) {
  LasBytes las = scan(1, 100);
  const auto source = open_bytes(LazBytes{.chunk_size = 30}.build(las.build()));
  RecordBuffer buffer;
  for (const ChunkRange& range : {ChunkRange{0, 31, 0}, ChunkRange{1, 30, 0}, ChunkRange{0, 30, 99},
                                  ChunkRange{0, 101, 0}, ChunkRange{0, 5, ~std::uint64_t{0}}}) {
    EXPECT_THROW((void)source->load(range, buffer), InvalidArgument);
  }
  EXPECT_THROW(
      {
        ChunkRange range;
        (void)source->next(0, range);
      },
      InvalidArgument);
}

TEST_F(LazRead, ATableThatIsOfNoUseCostsAWarning) {
  for (const int format : {3, 7}) {
    LasBytes las = scan(format, 500);
    LazBytes way{.chunk_size = 120};
    const std::string laz = way.build(las.build());
    const auto check = [&](const std::string& damaged) {
      const auto source = open_bytes(damaged);
      EXPECT_FALSE(io::was_recovered(*source));
      EXPECT_TRUE(any_contains(source->info().warnings, "without the table")) << joined(source->info().warnings);
      EXPECT_EQ(read_all(*source, 1000), las.records);
    };
    std::string damaged = laz;
    for (const std::uint64_t pointer : {std::uint64_t{0}, std::uint64_t{way.points_at}, std::uint64_t{1} << 40,
                                        ~std::uint64_t{0}, std::uint64_t{laz.size() - 1}}) {
      put(damaged, way.points_at, pointer);
      check(damaged);
    }
    check(laz.substr(0, way.table_at));
    check(laz.substr(0, way.table_at + 9));
    damaged = laz;
    put<std::uint32_t>(damaged, way.table_at, 7);
    check(damaged);
    damaged = laz;
    put<std::uint32_t>(damaged, way.table_at + 4, 0xffffffffU);
    check(damaged);
  }
}

TEST_F(LazRead, ATableThatLiesIsFoundOutByRecovery) {
  for (const int format : {3, 7}) {
    LasBytes las = scan(format, 500);
    LazBytes way{.chunk_size = 250};
    std::string laz = way.build(las.build());
    // The right sum, and the wrong place in between.
    const auto sizes = [&](int move) {
      return std::vector<laz::TableEntry>{
          {0, static_cast<std::uint32_t>(static_cast<int>(way.chunks_at[1] - way.chunks_at[0]) + move)},
          {0, static_cast<std::uint32_t>(static_cast<int>(way.table_at - way.chunks_at[1]) - move)}};
    };
    laz::Buffer table;
    laz::encode_chunk_table(sizes(3), false, table);
    laz.resize(way.table_at);
    laz.append(reinterpret_cast<const char*>(table.data()), table.size());
    EXPECT_THAT(refusal(laz), HasSubstr("chunk 0"));
    const auto source = open_bytes(laz, true);
    EXPECT_FALSE(io::was_recovered(*source));
    EXPECT_EQ(read_all(*source, 1000), las.records);
  }
}

TEST_F(LazRead, DamageIsNamedAndLeftOut) {
  for (const int format : {1, 7}) {
    SCOPED_TRACE(format);
    LasBytes las = scan(format, 400);
    LazBytes way{.chunk_size = 100};
    std::string laz = way.build(las.build());
    // The stream, or the sizes of the layers, of the second chunk.
    const std::size_t at = way.chunks_at[1] + static_cast<std::size_t>(las.record_bytes()) + (format > 5 ? 4 : 60);
    for (std::size_t i = at; i < at + 40; ++i) laz[i] = static_cast<char>(0xff);
    const std::string message = refusal(laz);
    EXPECT_THAT(message, HasSubstr("test.las: byte " + std::to_string(way.chunks_at[1]) + ": chunk 1: "));
    EXPECT_THAT(message, HasSubstr("; 100 points of the file precede it, and none of its 100 is sure to be right"));
    const auto source = open_bytes(laz, true);
    EXPECT_TRUE(io::was_recovered(*source));
    const std::string read = read_all(*source, 1000);
    const std::size_t chunk = las.records.size() / 4;
    EXPECT_EQ(read.size(), source->info().point_count * static_cast<std::size_t>(las.record_bytes()));
    EXPECT_TRUE(read == las.records.substr(0, chunk) + las.records.substr(2 * chunk));
    for (const std::uint64_t step : {1, 30, 100}) EXPECT_EQ(records_of(laz, step, true), read);
  }
}

/// The first point that a chunk lacks shows in what follows it: bytes of the last chunk that belong to no point are
/// damage, but for more points than the header counts.
TEST_F(LazRead, TheLastChunkHoldsItsPointsAndNothingElse) {
  for (const int format : {0, 1, 3, 6, 7}) {
    SCOPED_TRACE(format);
    LasBytes las = scan(format, 250);
    LazBytes way{.chunk_size = 100};
    const std::string laz = way.build(las.build());
    // Fewer are counted: the counted ones come, with a warning.
    std::string fewer = laz;
    if (format <= 5) put<std::uint32_t>(fewer, 107, 230);
    if (format > 5) put<std::uint64_t>(fewer, 247, 230);
    for (const bool recover : {false, true}) {
      for (const std::uint64_t step : {17, 1000}) {
        const auto source = open_bytes(fewer, recover);
        EXPECT_TRUE(read_all(*source, step) == las.records.substr(0, las.records.size() / 250 * 230));
        EXPECT_FALSE(io::was_recovered(*source));
        std::vector<std::string> said = source->info().warnings;
        for (const std::string& text : source->late_warnings()) said.push_back(text);
        EXPECT_TRUE(any_contains(said, "more points are stored than the header counts (230)")) << joined(said);
      }
    }
    // Bytes of the last chunk change: its points take fewer than there are, or more, or the same number.
    unsigned refused = 0;
    const std::size_t begin = way.chunks_at[2] + static_cast<std::size_t>(las.record_bytes()) + (format > 5 ? 60 : 0);
    for (std::size_t at = begin; at < way.table_at; at += 3) {
      std::string damaged = laz;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
      const auto source = open_bytes(damaged);
      try {
        (void)read_all(*source, 1000);
        EXPECT_TRUE(source->late_warnings().empty()) << at;
      } catch (const FormatError& error) {
        EXPECT_THAT(error.what(), HasSubstr("chunk 2: "));
        ++refused;
        // Nothing of a damaged chunk is taken for sound, and the table's bytes not for points.
        const auto sound = open_bytes(damaged, true);
        EXPECT_TRUE(io::was_recovered(*sound)) << at;
        EXPECT_TRUE(read_all(*sound, 1000) == las.records.substr(0, las.records.size() / 250 * 200)) << at;
      }
    }
    EXPECT_GT(refused, (way.table_at - begin) / 3 / 2);
  }
}

/// A range of many points is decoded by several threads.
TEST_F(LazRead, LargeRanges) {
  for (const int format : {0, 6}) {
    LasBytes las = scan(format, 600000);
    const std::string laz = LazBytes{.chunk_size = 50000}.build(las.build());
    EXPECT_TRUE(records_of(laz, 1U << 20U) == las.records);
  }
}

TEST_F(LazRead, AnyPrefixIsRefusedOrSound) {
  const LazBytes ways[] = {
      {.chunk_size = 40}, {.variable = {1, 47, 20}}, {.chunk_size = 40, .streamed = true}, {.one_stream = true}};
  for (const int format : {1, 3, 7}) {
    for (LazBytes way : ways) {
      if (way.one_stream && format > 5) continue;
      SCOPED_TRACE("format " + std::to_string(format) + ", chunks of " + std::to_string(way.chunk_size) +
                   (way.variable.empty() ? "" : ", variable") + (way.streamed ? ", streamed" : ""));
      LasBytes las = scan(format, 90, 1);
      const std::string laz = way.build(las.build());
      // Where chunks of any size that are not layered begin, only the table knows.
      const bool needs_table = !way.variable.empty() && format <= 5;
      for (std::size_t end = 0; end < laz.size(); ++end) {
        const std::string part = laz.substr(0, end);
        try {
          const auto source = open_bytes(part);
          ASSERT_EQ(read_all(*source, 1000), las.records) << end;
        } catch (const FormatError& error) {
          ASSERT_TRUE(needs_table || end < way.table_at) << error.what();
          ASSERT_THAT(error.what(), HasSubstr("test.las: byte "));
        }
        try {
          const auto source = open_bytes(part, true);
          const std::string read = read_all(*source, 1000);
          ASSERT_EQ(read, las.records.substr(0, read.size())) << end;
          ASSERT_EQ(io::was_recovered(*source), read.size() < las.records.size()) << end;
        } catch (const FormatError& error) {
          ASSERT_LT(end, way.points_at) << error.what();
        }
      }
    }
  }
}

TEST_F(LazRead, AnyByteMayBeWrong) {
  for (const int format : {1, 7}) {
    LasBytes las = scan(format, 60, 1);
    const std::string laz = LazBytes{.chunk_size = 25}.build(las.build());
    for (std::size_t at = 0; at < laz.size(); ++at) {
      for (const int flip : {0x01, 0x80, 0xff}) {
        std::string damaged = laz;
        damaged[at] = static_cast<char>(damaged[at] ^ flip);
        try {
          (void)records_of(damaged, 1000);
        } catch (const Error&) {
          // Refused is right as well.
        }
        std::unique_ptr<ChunkSource> source;
        try {
          source = open_bytes(damaged, true);
        } catch (const Error&) {
          continue;
        }
        // Whatever was recovered can be read.
        const std::string read = read_all(*source, 10);
        ASSERT_EQ(read.size(), source->info().point_count * source->info().schema.record_bytes);
      }
    }
  }
}

TEST_F(LazRead, CountsThatCannotBeAreRefusedBeforeMemoryIsTaken) {
  constexpr std::uint64_t kMany = std::uint64_t{1} << 40;
  LasBytes las = scan(6, 50);
  LazBytes way;
  std::string laz = way.build(las.build());
  put(laz, 247, kMany);
  EXPECT_THAT(refusal(laz), HasSubstr("number of point records"));
  put<std::uint32_t>(laz, way.vlr_at + 54 + 12, 0xfffffffe);
  EXPECT_THAT(refusal(laz), HasSubstr("cannot hold"));
  EXPECT_EQ(open_bytes(laz, true)->info().point_count, 0U);
  // A little more than there are, within what the bytes could hold: decoding tells.
  put(laz, 247, std::uint64_t{1} << 18);
  EXPECT_THAT(refusal(laz), HasSubstr("chunk 0"));
  EXPECT_EQ(records_of(laz, 1000, true), las.records);

  las = scan(1, 50);
  las.minor = 4;
  laz = LazBytes{.one_stream = true}.build(las.build());
  put<std::uint32_t>(laz, 107, 0);
  put(laz, 247, kMany);
  EXPECT_THAT(refusal(laz), HasSubstr("cannot hold"));
}

TEST_F(LazRead, AHeaderThatCountsFewerPointsIsBelieved) {
  for (const int format : {1, 7}) {
    LasBytes las = scan(format, 100);
    std::string laz = LazBytes{.chunk_size = 40}.build(las.build());
    if (format == 1) put<std::uint32_t>(laz, 107, 95);
    if (format == 7) put<std::uint64_t>(laz, 247, 95);
    EXPECT_EQ(records_of(laz, 1000), las.records.substr(0, 95 * static_cast<std::size_t>(las.record_bytes())));
  }
}

TEST_F(LazRead, AHeaderThatCountsMorePointsIsDamage) {
  LasBytes las = scan(7, 80);
  std::string laz = LazBytes{.chunk_size = 40}.build(las.build());
  put<std::uint64_t>(laz, 247, 95);
  EXPECT_THAT(refusal(laz), HasSubstr("80 of 95 points can be read"));
  const auto source = open_bytes(laz, true);
  EXPECT_TRUE(io::was_recovered(*source));
  EXPECT_EQ(read_all(*source), las.records);
}

TEST_F(LazRead, ObsoleteAndUnknownEncodingsAreRefused) {
  LasBytes las = scan(1, 20);
  LazBytes way;
  const std::string laz = way.build(las.build());
  for (const int byte : {0x01, 0x41, 0xc1}) {
    std::string other = laz;
    other[104] = static_cast<char>(byte);
    EXPECT_THAT(refusal(other), HasSubstr("obsolete")) << byte;
  }
  std::string other = las.build();
  other[104] = static_cast<char>(0x81);
  EXPECT_THAT(refusal(other), HasSubstr("obsolete"));
  other = laz;
  put<std::uint16_t>(other, way.vlr_at + 54, 9);
  EXPECT_THAT(refusal(other), HasSubstr("byte " + std::to_string(way.vlr_at + 54) + ": LASzip compressor: 9"));
  other = laz;
  put<std::uint16_t>(other, way.vlr_at + 54 + 34 + 4, 6);
  EXPECT_THAT(refusal(other), HasSubstr("LASzip items"));
}

}  // namespace
}  // namespace sluice::test
