// SPDX-License-Identifier: Apache-2.0
/// \file
/// Raw files of float32 rows.
#include "sluice/io/raw.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "io/rows.hpp"
#include "sluice/io/convert.hpp"

namespace sluice::test {
namespace {

using Names = std::vector<std::string>;

std::unique_ptr<ChunkSource> open_raw(const std::string& bytes, const std::string& name, const Names& fields = {}) {
  return io::open_source_from_memory(name, to_bytes(bytes), {.fields = fields});
}

TEST(Raw, NamesAndCountsOfColumns) {
  const std::string bytes = random_bytes(4 * 60, 1);
  EXPECT_EQ(field_names(open_raw(bytes, "a.bin")->info()), (Names{"x", "y", "z", "intensity"}));
  EXPECT_EQ(field_names(open_raw(bytes, "a.pcd.bin")->info()), (Names{"x", "y", "z", "intensity", "ring"}));
  EXPECT_EQ(field_names(open_raw(bytes, "a.bin", {"5"})->info()), (Names{"x", "y", "z", "intensity", "ring"}));
  EXPECT_EQ(field_names(open_raw(bytes, "a.bin", {"3"})->info()), (Names{"x", "y", "z"}));
  EXPECT_EQ(field_names(open_raw(bytes, "a", {"6"})->info()), (Names{"x", "y", "z", "intensity", "ring", "c5"}));
  const auto named = open_raw(bytes, "a.bin", {"time", "Z", "_", "y", "X"});
  EXPECT_EQ(field_names(named->info()), (Names{"time", "z", "y", "x"}));
  EXPECT_EQ(named->info().point_count, 12u);
  for (const Names& fields : {Names{"2"}, Names{"20000000"}, Names{"x", "y"}, Names{"x", "y", "x"}}) {
    EXPECT_THROW((void)open_raw(bytes, "a.bin", fields), InvalidArgument);
  }
}

TEST(Raw, SizesThatDoNotDivideAreNamed) {
  const std::string bytes = random_bytes(20 * 7, 2);
  const std::string problem = refusal(bytes, "a.bin");
  EXPECT_NE(problem.find("140 bytes"), std::string::npos) << problem;
  EXPECT_NE(problem.find("the 16 of a point"), std::string::npos) << problem;
  EXPECT_NE(problem.find("5 columns"), std::string::npos) << problem;
  EXPECT_NE(refusal(bytes.substr(1), "a.pcd.bin").find("the 20 of a point"), std::string::npos);
  const auto recovered = io::open_source_from_memory("a.bin", to_bytes(bytes), {.recover = true});
  EXPECT_TRUE(io::was_recovered(*recovered));
  EXPECT_EQ(read_all(*recovered), bytes.substr(0, 128));
  EXPECT_EQ(refusal("", "a.bin"), "");
}

TEST(Raw, EveryByteComesBack) {
  const std::string bytes = random_bytes(20 * 1000, 3);
  EXPECT_TRUE(rewritten(bytes, "a.pcd.bin") == bytes);
  EXPECT_TRUE(rewritten(bytes, "a.bin", {.fields = {"x", "y", "_", "z", "w"}}) == bytes);
}

/// Records of a file in memory, written from places that begin `shift` bytes into a line of the cache.
std::string written_from(const std::string& bytes, const std::string& name, std::size_t shift) {
  const TemporaryFolder folder;
  const auto source = open_raw(bytes, "a.bin");
  CloudInfo like = source->info();
  const auto converter = io::make_converter(like, {.path = folder / name}, {});
  const auto sink = io::create_converting_sink(folder / name, converter);
  const std::uint64_t count = like.point_count;
  std::vector<std::byte> memory(bytes.size() + 128);
  std::byte* const records = memory.data() + 64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64 + shift;
  std::memcpy(records, bytes.data(), bytes.size());
  // Parts whose ends are no multiples of anything.
  const std::uint64_t first = sink->reserve(count);
  for (std::uint64_t at = 0; at < count;) {
    const std::uint64_t part = std::min<std::uint64_t>(20011, count - at);
    sink->store(first + at, {records + 16 * at, part, 16});
    at += part;
  }
  sink->seal();
  sink->finish();
  return read_file(folder / name);
}

TEST(Raw, RecordsFromAnywhereInMemoryComeOutTheSame) {
  const std::string bytes = random_bytes(16 * 70000, 4);
  for (const std::size_t shift : {0U, 1U, 16U, 63U}) {
    EXPECT_TRUE(written_from(bytes, "a.bin", shift) == bytes) << shift;
    for (const char* name : {"a.pcd", "a.ply"}) {
      const std::string file = written_from(bytes, name, shift);
      EXPECT_TRUE(file.ends_with(bytes)) << name << shift;
      EXPECT_EQ((file.size() - bytes.size()) % 64, 0U) << "the header of " << name;
    }
  }
}

TEST(Raw, ColumnsThatAFileOfSuchANameDoesNotHaveAreSaid) {
  const TemporaryFolder folder;
  const auto warnings = [&](int columns, const std::string& name) {
    const auto source =
        open_raw(std::string(static_cast<std::size_t>(4 * columns), '\0'), "a.bin", {std::to_string(columns)});
    return io::create_sink(folder / name, source->info())->warnings();
  };
  EXPECT_TRUE(warnings(4, "a.bin").empty());
  EXPECT_TRUE(warnings(5, "a.pcd.bin").empty());
  EXPECT_TRUE(any_contains(warnings(4, "b.pcd.bin"), "x,y,z,intensity"));
  EXPECT_TRUE(any_contains(warnings(5, "b.bin"), "x,y,z,intensity,ring"));
}

TEST(Raw, RoomThatWasNotNeededIsGivenBack) {
  const TemporaryFolder folder;
  const std::string bytes = random_bytes((17 << 20) / 16 * 16, 5);
  const auto source = open_raw(bytes, "a.bin");
  (void)copy_to(*source, folder / "out.bin");
  struct stat status {};
  ASSERT_EQ(::stat((folder / "out.bin").c_str(), &status), 0);
  EXPECT_EQ(static_cast<std::size_t>(status.st_size), bytes.size());
  EXPECT_LT(static_cast<std::size_t>(status.st_blocks) * 512, bytes.size() + (1 << 20));
  EXPECT_TRUE(read_file(folder / "out.bin") == bytes);
}

TEST(Raw, WhatWasReadLeavesMemory) {
  const TemporaryFolder folder;
  constexpr std::uint64_t kPoints = 6000000;
  write_file(folder / "large.bin", std::string(16 * kPoints, '\1'));
  // All of it, or every fourth part: no window of pages is then read as a whole.
  for (const std::uint64_t every : {1U, 4U}) {
    const auto source = io::open_source(folder / "large.bin");
    const std::uint64_t before = resident_bytes();
    std::uint64_t most = before;
    RecordBuffer buffer;
    ChunkRange range;
    for (std::uint64_t i = 0; source->next(20000, range); ++i) {
      if (i % every != 0) continue;
      const PointView view = source->load(range, buffer);
      EXPECT_EQ(std::to_integer<int>(view.records[view.count * 16 - 1]), 1);
      most = std::max(most, resident_bytes());
      source->release(range);
    }
    EXPECT_LT(most - before, (every == 1 ? std::uint64_t{8} : std::uint64_t{64}) << 20) << every;
  }
}

}  // namespace
}  // namespace sluice::test
