// SPDX-License-Identifier: Apache-2.0
/// \file
/// PLY files: all three kinds of data, elements and lists around the points, and what contradicts itself.
#include "sluice/io/ply.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "io/rows.hpp"

namespace sluice::test {
namespace {

std::unique_ptr<ChunkSource> open_ply(const std::string& bytes, bool recover = false) {
  return io::open_source_from_memory("test.ply", to_bytes(bytes), {.recover = recover});
}

const io::PlyMetadata& ply_of(const CloudInfo& info) { return dynamic_cast<const io::PlyMetadata&>(*info.metadata); }

/// The bytes of values, the most significant first.
template <typename... T>
std::string big(T... values) {
  std::string out;
  const auto add = [&](auto value) {
    std::string one = raw(value);
    std::reverse(one.begin(), one.end());
    out += one;
  };
  (add(values), ...);
  return out;
}

std::string header(const std::string& format, const std::string& rest, const std::string& end = "\n") {
  const std::string text = "ply\nformat " + format + " 1.0\n" + rest + "end_header\n";
  std::string out;
  for (const char c : text) out += c == '\n' ? end : std::string(1, c);
  return out;
}

const std::string kTwo =
    "element vertex 2\nproperty double x\nproperty float y\nproperty short z\nproperty uchar red\n";

TEST(Ply, EveryKindOfDataGivesTheSamePoints) {
  const std::string little =
      raw(0.1, 0.5F, std::int16_t{-3}, std::uint8_t{255}, -1e300, 1e-40F, std::int16_t{300}, std::uint8_t{0});
  const std::string large =
      big(0.1, 0.5F, std::int16_t{-3}, std::uint8_t{255}, -1e300, 1e-40F, std::int16_t{300}, std::uint8_t{0});
  const std::string text = "0.1 .5 -3 255\n-1e300 1e-40 300 0\n";
  const std::string files[] = {header("binary_little_endian", kTwo) + little, header("binary_big_endian", kTwo) + large,
                               header("ascii", kTwo) + text};
  const std::string records = read_all(*open_ply(files[0]));
  for (const std::string& file : files) {
    EXPECT_EQ(read_all(*open_ply(file)), records);
    EXPECT_EQ(column_of(*open_ply(file), "z"), (std::vector<double>{-3, 300}));
    EXPECT_EQ(column_of(*open_ply(file), "x"), (std::vector<double>{0.1, -1e300}));
  }
  EXPECT_TRUE(rewritten(files[0], "a.ply").ends_with("end_header\n" + little));
  EXPECT_TRUE(rewritten(files[1], "a.ply").ends_with("end_header\n" + large));
  EXPECT_TRUE(rewritten(files[2], "a.ply").ends_with("end_header\n0.1 0.5 -3 255\n-1e+300 1e-40 300 0\n"));
}

TEST(Ply, BothSpellingsOfTypes) {
  const std::string plain =
      "element vertex 1\nproperty float x\nproperty double y\nproperty int z\nproperty char a\nproperty uchar b\n"
      "property short c\nproperty ushort d\nproperty uint e\n";
  const std::string sized =
      "element vertex 1\nproperty float32 x\nproperty float64 y\nproperty int32 z\nproperty int8 a\nproperty uint8 b\n"
      "property int16 c\nproperty uint16 d\nproperty uint32 e\n";
  const std::string line = "1 2 3 -128 255 -32768 65535 4294967295\n";
  EXPECT_EQ(read_all(*open_ply(header("ascii", plain) + line)), read_all(*open_ply(header("ascii", sized) + line)));
  for (const std::string& all : {plain, sized}) {
    const std::string written = rewritten(header("ascii", all) + line, "a.ply");
    EXPECT_NE(written.find(all + "end_header\n" + line), std::string::npos) << written;
  }
}

TEST(Ply, ElementsAndListsAroundThePointsArePassedOver) {
  const std::string camera = "element camera 2\nproperty float a\nproperty uchar b\n";
  const std::string faces = "element face 2\nproperty list uchar int vertex_indices\nproperty float area\n";
  const std::string empty = "element nothing 4000000000\n";
  const std::string vertex =
      "element vertex 2\nproperty float x\nproperty list ushort double tail\nproperty float y\nproperty float z\n";
  const std::string head = camera + faces + empty + vertex + "element edge 1\nproperty int from\n";
  const auto body = [](auto bytes) {
    return bytes(1.F, std::uint8_t{1}, 2.F, std::uint8_t{2}) +
           bytes(std::uint8_t{3}, 0, 1, 0, 0.5F, std::uint8_t{0}, 0.25F) +
           bytes(1.F, std::uint16_t{2}, 7.0, 8.0, 2.F, 3.F) + bytes(4.F, std::uint16_t{0}, 5.F, 6.F) + bytes(0);
  };
  // An element without properties has blank lines, if any.
  const std::string text = "1 1\n2 2\n3 0 1 0 0.5\n0 0.25\n\n\n1 2 7 8 2 3\n4 0 5 6\n0\n";
  const std::string files[] = {header("binary_little_endian", head) + body([](auto... v) { return raw(v...); }),
                               header("binary_big_endian", head) + body([](auto... v) { return big(v...); }),
                               header("ascii", head) + text};
  for (const std::string& file : files) {
    const auto source = open_ply(file);
    EXPECT_EQ(column_of(*source, "x"), (std::vector<double>{1, 4}));
    EXPECT_EQ(column_of(*source, "y"), (std::vector<double>{2, 5}));
    EXPECT_EQ(column_of(*source, "z"), (std::vector<double>{3, 6}));
    EXPECT_TRUE(any_contains(source->info().warnings, "list 'tail'"));
    EXPECT_TRUE(any_contains(source->info().warnings, "2 elements 'face'"));
    EXPECT_EQ(column_of(*open_ply(rewritten(file, "a.ply")), "z"), (std::vector<double>{3, 6}));
  }
  std::string wrong = header("ascii", vertex) + "1 2 7 8 2 3\n4 0 5 x\n";
  EXPECT_NE(refusal(wrong, "a.ply").find("line 10, value 3: 'x' is no number"), std::string::npos)
      << refusal(wrong, "a.ply");
  wrong = header("ascii", vertex) + "1 2 7 8 2 3\n4 9 5 6\n";
  EXPECT_NE(refusal(wrong, "a.ply"), "");
}

TEST(Ply, PointsWithListsAreCopiedWithinTheMemoryAllowed) {
  const std::string vertex =
      "element vertex 2\nproperty float x\nproperty float y\nproperty float z\nproperty list uchar int l\n";
  for (const std::string& file : {header("ascii", vertex) + "1 2 3 1 7\n4 5 6 0\n",
                                  header("binary_little_endian", vertex) +
                                      raw(1.F, 2.F, 3.F, std::uint8_t{1}, 7, 4.F, 5.F, 6.F, std::uint8_t{0})}) {
    EXPECT_GT(open_ply(file)->held_bytes(), 0u);
    EXPECT_EQ(column_of(*open_ply(file), "z"), (std::vector<double>{3, 6}));
    EXPECT_THROW((void)io::open_source_from_memory("a.ply", to_bytes(file), {.memory_bytes = file.size() - 1}),
                 OutOfMemory);
  }
}

TEST(Ply, LineEndsOfAllKindsLeaveTheBodyAlone) {
  const std::string vertex = "element vertex 1\nproperty float x\nproperty float y\nproperty float z\n";
  for (const char first : {'\n', '\r', ' '}) {
    std::string body = raw(1.F, 2.F, 3.F);
    body[0] = first;
    for (const char* end : {"\n", "\r\n", "\r", " \n"}) {
      EXPECT_EQ(read_all(*open_ply(header("binary_little_endian", vertex, end) + body)), body) << int{first};
    }
  }
}

TEST(Ply, CommentsStayInOrder) {
  const std::string head = "comment Created by hand  \nobj_info a b\ncomment\ncomment   \n" + kTwo;
  const std::string once = rewritten(header("ascii", head) + "1 2 3 4\n5 6 7 8\n", "a.ply");
  EXPECT_NE(once.find("\ncomment Created by hand\nobj_info a b\nelement"), std::string::npos) << once;
  EXPECT_EQ(rewritten(once, "a.ply"), once) << "what fills the header up does not pile up";
  EXPECT_EQ(ply_of(open_ply(once)->info()).comments.size(), 2u);
}

TEST(Ply, WhatContradictsItselfIsRefused) {
  const std::string body = raw(1.0, 2.F, std::int16_t{3}, std::uint8_t{4}, 1.0, 2.F, std::int16_t{3}, std::uint8_t{4});
  const std::string good = header("binary_little_endian", kTwo);
  struct Case {
    std::string from, to, says;
  };
  const Case cases[] = {
      {"vertex 2", "vertex 3", "counts 3 points, the file has 2"},
      {"vertex 2", "vertex 18446744073709551615", "counts"},
      {"vertex 2", "vertex -2", "element"},
      {"vertex 2", "vertices 2", "no element 'vertex'"},
      {"float y", "float yy", "no column is called y"},
      {"float y", "float x", "two called 'x'"},
      {"float y", "half y", "no type 'half'"},
      {"float y", "list float int y", "no float"},
      {"float y", "list uchar int y", "no column is called y"},
      {"little", "middle", "format"},
      {" 1.0", " 2.0", "format"},
      {"element", "property float w\nelement", "belongs to no element"},
      {"element", "elements", "elements"},
      {"end_header", "end_heade", "end_heade"},
      {"format binary_little_endian 1.0\n", "", "format"},
      {"ply", "plx", "ply"},
      {"uchar red", std::string("uchar re\0d", 10), "no text"},
  };
  ASSERT_EQ(refusal(good + body, "a.ply"), "");
  for (const Case& c : cases) {
    std::string head = good;
    head.replace(head.find(c.from), c.from.size(), c.to);
    EXPECT_NE(refusal(head + body, "a.ply").find(c.says), std::string::npos) << refusal(head + body, "a.ply");
  }
  const auto recovered = open_ply(good + body.substr(0, 20), true);
  EXPECT_TRUE(io::was_recovered(*recovered));
  EXPECT_EQ(recovered->info().point_count, 1u);
  EXPECT_EQ(open_ply(good + body + "more")->info().warnings.size(), 1u);
}

TEST(Ply, PointsWithListsThatWereCutShortAreRecovered) {
  const std::string vertex =
      "element vertex 2\nproperty float x\nproperty list uchar int l\nproperty float y\nproperty float z\n";
  const std::string first = raw(1.F, std::uint8_t{1}, 7, 2.F, 3.F);
  const std::string second = raw(4.F, std::uint8_t{2}, 7, 8, 5.F, 6.F);
  for (std::size_t size = 0; size < second.size(); ++size) {
    const std::string file = header("binary_little_endian", vertex) + first + second.substr(0, size);
    EXPECT_NE(refusal(file, "a.ply"), "") << size;
    const auto source = open_ply(file, true);
    EXPECT_TRUE(io::was_recovered(*source)) << size;
    EXPECT_EQ(column_of(*source, "z"), std::vector<double>{3}) << size;
  }
}

TEST(Ply, ListsThatAreLongerThanTheFileAreRefused) {
  const std::string head =
      "element face 4000000000\nproperty list int double a\nelement vertex 1\nproperty float x\nproperty float y\n"
      "property float z\n";
  for (const std::int32_t values : {1000, -1, std::numeric_limits<std::int32_t>::max()}) {
    EXPECT_NE(refusal(header("binary_little_endian", head) + raw(values) + std::string(100, '\0'), "a.ply"), "");
    EXPECT_NE(refusal(header("binary_big_endian", head) + big(values) + std::string(100, '\0'), "a.ply"), "");
  }
}

}  // namespace
}  // namespace sluice::test
