// SPDX-License-Identifier: Apache-2.0
/// \file
/// Raw files of float32 rows.
#include "sluice/io/raw.hpp"

#include <gtest/gtest.h>

#include "io/rows.hpp"

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

}  // namespace
}  // namespace sluice::test
