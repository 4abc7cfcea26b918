// SPDX-License-Identifier: Apache-2.0
/// \file
/// PCD files: every shape of header and data that occurs, what contradicts itself, and what has to survive.
#include "sluice/io/pcd.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <fstream>

#include "io/rows.hpp"
#include "io/src/pcd/lzf.hpp"

namespace sluice::test {
namespace {

using io::PcdData;
using io::PcdMetadata;

const PcdMetadata& pcd_of(const CloudInfo& info) { return dynamic_cast<const PcdMetadata&>(*info.metadata); }

std::unique_ptr<ChunkSource> open_pcd(const std::string& bytes, bool recover = false) {
  return io::open_source_from_memory("test.pcd", to_bytes(bytes), {.recover = recover});
}

/// A header of three floats.
std::string header(std::size_t points, const std::string& data, const std::string& end = "\n") {
  std::string text = "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH " + std::to_string(points) +
                     "\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS " + std::to_string(points) + "\nDATA " + data + "\n";
  std::string out;
  for (const char c : text) out += c == '\n' ? end : std::string(1, c);
  return out;
}

/// Column by column, as compressed data are.
std::string compressed(const std::string& columns) {
  std::vector<std::byte> code;
  io::pcd::lzf_encode(to_bytes(columns), code);
  return raw(static_cast<std::uint32_t>(code.size()), static_cast<std::uint32_t>(columns.size())) +
         std::string(reinterpret_cast<const char*>(code.data()), code.size());
}

TEST(Pcd, EveryKindOfDataGivesTheSameRecords) {
  const std::string body = raw(1.0F, -2.5F, 3e-40F, 4.0F, 5.0F, 16777217.0F);
  const std::string columns = raw(1.0F, 4.0F, -2.5F, 5.0F, 3e-40F, 16777217.0F);
  EXPECT_EQ(read_all(*open_pcd(header(2, "binary") + body)), body);
  EXPECT_EQ(read_all(*open_pcd(header(2, "binary_compressed") + compressed(columns))), body);
  EXPECT_EQ(read_all(*open_pcd(header(2, "ascii") + "1 -2.5 3e-40\n 4\t5 +16777216 \n")), body);
}

TEST(Pcd, TextIsReadInEveryLocale) {
  const char* old = std::setlocale(LC_ALL, "de_DE.UTF-8");
  EXPECT_EQ(column_of(*open_pcd(header(1, "ascii") + "1.5 2 3\n"), "x"), std::vector<double>{1.5});
  if (old != nullptr) std::setlocale(LC_ALL, "C");
}

TEST(Pcd, PaddingAndCountsKeepFieldsInTheirPlaces) {
  const std::string head =
      "FIELDS x y z _ normal _ label\nSIZE 4 4 4 1 4 2 4\nTYPE F F F U F U U\nCOUNT 1 1 1 4 3 1 0\nWIDTH 2\nHEIGHT "
      "1\nPOINTS 2\nDATA ";
  const std::string pad = random_bytes(12, 1);
  const std::string body = raw(1.F, 2.F, 3.F) + pad.substr(0, 4) + raw(7.F, 8.F, 9.F) + pad.substr(4, 2) +
                           raw(4.F, 5.F, 6.F) + pad.substr(6, 4) + raw(10.F, 11.F, 12.F) + pad.substr(10, 2);
  const auto source = open_pcd(head + "binary\n" + body);
  EXPECT_EQ(field_names(source->info()),
            (std::vector<std::string>{"x", "y", "z", "normal[0]", "normal[1]", "normal[2]"}));
  EXPECT_EQ(column_of(*source, "normal[2]"), (std::vector<double>{9, 12}));
  source->rewind();
  EXPECT_EQ(read_all(*source), body) << "padding is carried";
  const std::string again = rewritten(head + "binary\n" + body, "out.pcd");
  EXPECT_TRUE(again.ends_with(body));
  EXPECT_NE(again.find("COUNT 1 1 1 4 3 1 0\n"), std::string::npos);

  // Compressed data may have the padding or not; the size tells.
  const std::string columns = raw(1.F, 4.F, 2.F, 5.F, 3.F, 6.F);
  const std::string normals = raw(7.F, 8.F, 9.F, 10.F, 11.F, 12.F);
  for (const std::string& all : {columns + pad.substr(0, 8) + normals + pad.substr(8), columns + normals}) {
    const auto unpacked = open_pcd(head + "binary_compressed\n" + compressed(all));
    EXPECT_EQ(column_of(*unpacked, "normal[1]"), (std::vector<double>{8, 11}));
    EXPECT_EQ(column_of(*unpacked, "z"), (std::vector<double>{3, 6}));
    const auto back = open_pcd(rewritten(head + "binary_compressed\n" + compressed(all), "out.pcd"));
    EXPECT_EQ(column_of(*back, "normal[0]"), (std::vector<double>{7, 10}));
  }
}

TEST(Pcd, FieldsOfAllTypesInAnyOrderAndCase) {
  const std::string head =
      "FIELDS ring Y stamp x Z label x flags\nSIZE 2 8 8 8 8 4 4 1\nTYPE u F I f F i F U\nWIDTH 1\nDATA ";
  const std::string body = raw(std::uint16_t{40000}, 2e300, std::int64_t{1532402927647951123}, -0.1, 5e-324,
                               std::int32_t{-7}, 2.5F, std::uint8_t{255});
  const std::string text = "40000 2e300 1532402927647951123 -0.1 5e-324 -7 2.5 255\n";
  for (const std::string& file : {head + "binary\n" + body, head + "ascii\n" + text}) {
    const auto source = open_pcd(file);
    EXPECT_EQ(field_names(source->info()),
              (std::vector<std::string>{"ring", "y", "stamp", "x", "z", "label", "x_2", "flags"}));
    EXPECT_EQ(source->info().frame.kind, CoordinateKind::kFloat64);
    EXPECT_EQ(read_all(*source), body);
  }
  // The shortest text that reads back the same.
  EXPECT_TRUE(rewritten(head + "ascii\n" + text, "a.pcd")
                  .ends_with("\n40000 2e+300 1532402927647951123 -0.1 5e-324 -7 2.5 255\n"));
}

TEST(Pcd, DoublesStayDoublesBesideFloats) {
  const std::string head = "FIELDS x y z normal_x\nSIZE 8 8 8 4\nTYPE F F F F\nWIDTH 1\nDATA binary\n";
  const std::string body = raw(206494.123456789, -48000.000000001, 40.1, 0.5F);
  const auto source = open_pcd(head + body);
  EXPECT_EQ(column_of(*source, "x"), std::vector<double>{206494.123456789});
  EXPECT_TRUE(rewritten(head + body, "out.pcd").ends_with(body));
}

TEST(Pcd, CoordinatesOfOtherTypesAreWidenedAndGoBack) {
  const std::string head = "FIELDS x y z\nSIZE 2 4 8\nTYPE I F U\nWIDTH 2\nDATA ";
  const std::string body =
      raw(std::int16_t{-32768}, 0.1F, std::uint64_t{1} << 60U, std::int16_t{32767}, -3e38F, std::uint64_t{7});
  const auto source = open_pcd(head + "binary\n" + body);
  EXPECT_EQ(source->info().frame.kind, CoordinateKind::kFloat64);
  EXPECT_EQ(column_of(*source, "x"), (std::vector<double>{-32768, 32767}));
  EXPECT_EQ(column_of(*source, "z"), (std::vector<double>{0x1p60, 7}));
  EXPECT_TRUE(rewritten(head + "binary\n" + body, "out.pcd").ends_with(body));
  EXPECT_TRUE(rewritten(head + "ascii\n-32768 0.1 7\n1 2 3\n", "out.pcd").ends_with("\n-32768 0.1 7\n1 2 3\n"));
  // What a double cannot hold is not rounded in silence.
  const std::string large = raw(std::int16_t{0}, 0.F, (std::uint64_t{1} << 60U) + 1);
  EXPECT_NE(refusal(head.substr(0, head.size() - 12) + " 1\nDATA binary\n" + large, "a.pcd"), "");
}

TEST(Pcd, ValuesThatAWidenedColumnCannotHoldAreRefused) {
  const std::string head = "FIELDS x y z\nSIZE 2 2 2\nTYPE I I I\nWIDTH 1\nDATA binary\n";
  const auto source = open_pcd(head + std::string(6, '\0'));
  const TemporaryFolder folder;
  for (const double bad : {32768.0, -32769.0, std::nan("")}) {
    const auto sink = io::create_sink(folder / "out.pcd", source->info());
    const std::string record = raw(bad, 0.0, 0.0);
    EXPECT_EQ(sink->reserve(1), 0u);
    EXPECT_THROW(sink->store(0, {reinterpret_cast<const std::byte*>(record.data()), 1, 24}), Unsupported) << bad;
  }
}

TEST(Pcd, LineEndsOfAllKindsLeaveTheBodyAlone) {
  for (const char first : {'\n', '\r', '\0', ' '}) {
    std::string body = raw(1.F, 2.F, 3.F);
    body[0] = first;
    for (const char* end : {"\n", "\r\n", "\r", "  \n", " \t\r\n"}) {
      EXPECT_EQ(read_all(*open_pcd(header(1, "binary", end) + body)), body) << int{first};
    }
  }
  for (const char* end : {"\n", "\r\n", "\r"}) {
    const std::string text = header(2, "ascii", end) + "1 2 3" + end + "4 5 6";
    EXPECT_EQ(column_of(*open_pcd(text), "z"), (std::vector<double>{3, 6}));
  }
}

TEST(Pcd, AFloatThatSpellsAKeywordEndsNoHeader) {
  std::string body = raw(1.F, 2.F, 3.F, 4.F, 5.F, 6.F);
  body.replace(4, 5, "DATA\n");
  EXPECT_EQ(read_all(*open_pcd(header(2, "binary") + body)), body);
}

TEST(Pcd, MissingLinesAreWhatTheRestSays) {
  const std::string body = raw(1.F, 2.F, 3.F, 4.F, 5.F, 6.F);
  const std::string fields = "FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\n";
  struct Case {
    std::string head;
    std::uint64_t width, height;
  };
  const Case cases[] = {
      {fields + "WIDTH 1\nHEIGHT 2\n", 1, 2},
      {fields + "WIDTH 2\n", 2, 1},
      {fields + "POINTS 2\n", 2, 1},
      {fields + "POINTS 2\nHEIGHT 2\n", 1, 2},
      {fields + "POINTS 2\nWIDTH 1\n", 1, 2},
      {fields + "HEIGHT 1\n", 2, 1},
      {fields, 2, 1},
      {"COLUMNS x y z\nPOINTS 2\n", 2, 1},
      {"POINTS 2\nTYPE F F F\n# a comment\n\nCOUNT 1 1 1\nSIZE 4 4 4\nVERSION .5\nFIELDS x y z\n", 2, 1},
  };
  for (const Case& c : cases) {
    const auto source = open_pcd(c.head + "DATA binary\n" + body);
    EXPECT_EQ(read_all(*source), body) << c.head;
    EXPECT_EQ(pcd_of(source->info()).width, c.width) << c.head;
    EXPECT_EQ(pcd_of(source->info()).height, c.height) << c.head;
    EXPECT_EQ(column_of(*open_pcd(c.head + "DATA ascii\n1 2 3\n4 5 6\n"), "x"), (std::vector<double>{1, 4}));
  }
}

TEST(Pcd, HeadersThatContradictThemselvesAreRefused) {
  const std::string body = raw(1.F, 2.F, 3.F, 4.F, 5.F, 6.F);
  const std::string good =
      "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 2\nHEIGHT 1\nPOINTS 2\n";
  struct Case {
    std::string from, to, says;
  };
  const Case cases[] = {
      {"POINTS 2", "POINTS 3", "3 points are not 2 times 1"},
      {"POINTS 2", "POINTS -2", "POINTS"},
      {"WIDTH 2", "WIDTH -2", "WIDTH"},
      {"HEIGHT 1", "HEIGHT x", "HEIGHT"},
      {"SIZE 4 4 4", "SIZE 4 4", "SIZE: the line has 2 values"},
      {"SIZE 4 4 4", "SIZE 4 4 3", "no type F of size 3"},
      {"SIZE 4 4 4", "SIZE 4 4 -4", "-4"},
      {"TYPE F F F", "TYPE F F G", "no type G"},
      {"COUNT 1 1 1", "COUNT 1 1 2", "2 values of z"},
      {"COUNT 1 1 1", "COUNT 1 1 99999999999", "COUNT"},
      {"FIELDS x y z", "FIELDS x y w", "no column is called z"},
      {"FIELDS x y z\n", "", "FIELDS"},
      {"VERSION 0.7", "VERSION 0.8", "0.8"},
      {"VERSION 0.7", "VERSION 0.7\nVERSION 0.7", "second"},
      {"POINTS 2", "POINTS 2\nCOLOUR 3", "COLOUR"},
      {"POINTS 2", "POINTS 2\nVIEWPOINT 0 0 0", "VIEWPOINT"},
      {"POINTS 2", "POINTS 2\nVIEWPOINT 0 0 0 1 0 0 north", "north"},
  };
  ASSERT_EQ(refusal(good + "DATA binary\n" + body, "a.pcd"), "");
  for (const Case& c : cases) {
    std::string head = good;
    head.replace(head.find(c.from), c.from.size(), c.to);
    EXPECT_NE(refusal(head + "DATA binary\n" + body, "a.pcd").find(c.says), std::string::npos)
        << c.to << ": " << refusal(head + "DATA binary\n" + body, "a.pcd");
  }
  EXPECT_NE(refusal(good + "DATA zip\n", "a.pcd").find("zip"), std::string::npos);
  EXPECT_NE(refusal(good, "a.pcd").find("DATA"), std::string::npos);
  EXPECT_NE(refusal("1 2 3\n4 5 6\n", "a.pcd").find("pcd"), std::string::npos);
}

TEST(Pcd, LinesOfTextThatAreWrongAreNamed) {
  struct Case {
    std::string body, says;
  };
  const Case cases[] = {
      {"1 2 3\n4 5\n", "line 12, value 3: the line has 2 values, not 3"},
      {"1 2 3\n\n4 5 6 7\n", "line 13, value 4: the line has more than 3"},
      {"1 2 3\n4 five 6\n", "line 12, value 2: 'five' is no number"},
      {"1 2 3\n4 5,5 6\n", "line 12, value 2"},
      {"1 2 3\n4 1e39 6\n", "out of range"},
  };
  for (const Case& c : cases) {
    EXPECT_NE(refusal(header(2, "ascii") + c.body, "a.pcd").find(c.says), std::string::npos)
        << refusal(header(2, "ascii") + c.body, "a.pcd");
  }
  const std::string whole = "FIELDS x y z i\nSIZE 4 4 4 1\nTYPE F F F U\nDATA ascii\n";
  EXPECT_EQ(column_of(*open_pcd(whole + "1 2 3 2.55e2\n"), "i"), std::vector<double>{255});
  for (const char* bad : {"256", "-1", "1.5", "nan", "0x10"}) {
    EXPECT_NE(refusal(whole + "1 2 3 " + bad + "\n", "a.pcd"), "") << bad;
  }
}

TEST(Pcd, CoordinatesOfBothSizesKeepEveryBit) {
  const std::string head = "FIELDS x y z\nSIZE 4 8 4\nTYPE F F F\nDATA binary\n";
  for (const std::uint32_t x : {0x7f800001U, 0xffabcdefU, 0x7fc12345U, 0xff800000U, 0x80000001U, 0x3f800001U}) {
    for (const std::uint64_t y : {0x7ff0000000000001U, 0xfff8123456789abcU, 0x8000000000000001U}) {
      const std::string body = raw(x, y, x ^ 0x80000000U);
      EXPECT_TRUE(rewritten(head + body, "a.pcd").ends_with("DATA binary\n" + body)) << std::hex << x << ' ' << y;
    }
  }
}

TEST(Pcd, CountsThatAreNotThereCostNoMemory) {
  rusage before{};
  ::getrusage(RUSAGE_SELF, &before);
  for (const std::string data : {"ascii", "binary", "binary_compressed"}) {
    for (const std::string points : {"4000000000", "18446744073709551615", "99999999999999999999"}) {
      const std::string head = "FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH " + points + "\nHEIGHT 1\nPOINTS " +
                               points + "\nDATA " + data + "\n" + raw(std::uint32_t{100}, std::uint32_t{4000000000U}) +
                               std::string(100, '\0');
      EXPECT_NE(refusal(head, "a.pcd"), "") << data << points;
    }
  }
  rusage after{};
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 20000) << "KiB";
}

TEST(Pcd, AShortBodyIsRefusedOrRecovered) {
  const std::string body = raw(1.F, 2.F, 3.F, 4.F, 5.F, 6.F);
  const std::string cut = header(3, "binary") + body + "half";
  EXPECT_NE(refusal(cut, "a.pcd").find("counts 3 points, the file has 2"), std::string::npos);
  const auto source = open_pcd(cut, true);
  EXPECT_TRUE(io::was_recovered(*source));
  EXPECT_EQ(read_all(*source), body);
  EXPECT_NE(refusal(header(3, "ascii") + "1 2 3\n4 5 6\n", "a.pcd"), "");
  // More than the counted ones: a warning.
  const auto more = open_pcd(header(1, "binary") + body);
  EXPECT_EQ(more->info().warnings.size(), 1u);
  EXPECT_EQ(read_all(*more), body.substr(0, 12));
}

TEST(Pcd, CompressedDataThatCannotBePackedComeBack) {
  // Nothing repeats, so the code is longer than the data.
  const std::string body = random_bytes(12 * 5000, 2);
  const std::string head = header(5000, "binary_compressed");
  std::string columns;
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t i = 0; i < 5000; ++i) columns += body.substr(12 * i + 4 * c, 4);
  }
  EXPECT_GT(compressed(columns).size(), columns.size() + 8);
  const auto source = open_pcd(head + compressed(columns));
  EXPECT_TRUE(read_all(*source) == body);
  EXPECT_TRUE(read_all(*open_pcd(rewritten(head + compressed(columns), "out.pcd"))) == body);
}

TEST(Pcd, WrongSizesOfCompressedDataAreRefused) {
  const std::string columns(12 * 100, '\1');
  const std::string good = compressed(columns);
  const auto sized = [&](std::int64_t code, std::int64_t all) {
    return header(100, "binary_compressed") +
           raw(static_cast<std::uint32_t>(good.size() - 8 + static_cast<std::size_t>(code)),
               static_cast<std::uint32_t>(columns.size() + static_cast<std::size_t>(all))) +
           good.substr(8);
  };
  ASSERT_EQ(refusal(sized(0, 0), "a.pcd"), "");
  for (const auto& [code, all] : {std::pair{1, 0}, {-1, 0}, {8, 0}, {0, 12}, {0, -12}, {0, 1}, {0, 2000000000}}) {
    EXPECT_NE(refusal(sized(code, all), "a.pcd"), "") << code << " " << all;
  }
  for (std::size_t at = 8; at < good.size(); ++at) {
    // Every byte of the code: the data end early, late, or a copy reaches before the start, but nothing is overrun.
    std::string bad = good;
    bad[at] = static_cast<char>(0xff);
    (void)refusal(header(100, "binary_compressed") + bad, "a.pcd");
  }
  EXPECT_NE(refusal(header(1, "binary_compressed") + "1234", "a.pcd"), "");
  // PCL once left its files as long as the memory pages that it wrote them through.
  const std::string head = header(100, "binary_compressed");
  EXPECT_TRUE(open_pcd(head + good + std::string(4095, '\0'))->info().warnings.empty());
  EXPECT_EQ(open_pcd(head + good + std::string(4096, '\0'))->info().warnings.size(), 1u);
  EXPECT_EQ(open_pcd(head + good + "x")->info().warnings.size(), 1u);
  EXPECT_EQ(refusal(header(0, "binary_compressed") + raw(std::uint64_t{0}), "a.pcd"), "");
  // Without points there is nothing to pack, and no size of it.
  EXPECT_EQ(refusal(header(0, "binary_compressed"), "a.pcd"), "");
  EXPECT_NE(refusal(header(1, "binary_compressed"), "a.pcd"), "");
}

TEST(Pcd, CompressedOutputsEndAtFourGiB) {
  const auto source = open_pcd(header(0, "binary_compressed"));
  const TemporaryFolder folder;
  const auto sink = io::create_sink(folder / "out.pcd", source->info());
  EXPECT_THROW((void)sink->reserve((std::uint64_t{1} << 32U) / 12 + 1), Unsupported);
  EXPECT_THROW((void)sink->reserve(~std::uint64_t{0}), Unsupported);
  EXPECT_EQ(sink->reserve(1), 0u) << "nothing was taken";
}

TEST(Pcd, UnpackedPointsCountAsMemory) {
  const std::string columns(12 * 1000, '\1');
  const std::string file = header(1000, "binary_compressed") + compressed(columns);
  EXPECT_EQ(open_pcd(file)->held_bytes(), columns.size());
  EXPECT_THROW((void)io::open_source_from_memory("a.pcd", to_bytes(file), {.memory_bytes = columns.size() - 1}),
               OutOfMemory);
  const TemporaryFolder folder;
  write_file(folder / "plain.pcd", header(2, "binary") + raw(1.F, 2.F, 3.F, 4.F, 5.F, 6.F));
  EXPECT_EQ(io::open_source(folder / "plain.pcd")->held_bytes(), 0u) << "pages of a file are the system's";
}

TEST(Pcd, CodeComesBackFromEveryKindOfBytes) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    std::string bytes;
    while (bytes.size() < (seed % 7) * 3000 + seed) {
      // Runs, copies from near and far, and noise, of all lengths.
      const std::size_t length = random() % 400;
      if (seed % 3 == 0 || bytes.empty()) {
        bytes += random_bytes(length, static_cast<unsigned>(random()));
      } else if (seed % 3 == 1) {
        bytes.append(length, static_cast<char>(random()));
      } else {
        const std::size_t from = random() % bytes.size();
        for (std::size_t i = 0; i < length; ++i) bytes += bytes[from + i];
      }
    }
    std::vector<std::byte> code;
    io::pcd::lzf_encode(to_bytes(bytes), code);
    std::vector<std::byte> back(bytes.size());
    io::pcd::LzfProblem problem;
    ASSERT_TRUE(io::pcd::lzf_decode(code, back, problem)) << problem.what;
    EXPECT_TRUE(back == to_bytes(bytes)) << seed;
    EXPECT_LE(code.size(), bytes.size() + bytes.size() / 32 + 1);
  }
}

TEST(Pcd, TheViewpointIsKeptAndNotApplied) {
  const std::string text =
      "FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nVIEWPOINT 10 -20.50 3e1 0.5 0.5 0.5 0.5\nWIDTH 1\nDATA ascii\n1 2 3\n";
  const auto source = open_pcd(text);
  EXPECT_EQ(column_of(*source, "x"), std::vector<double>{1});
  const std::string once = rewritten(text, "a.pcd");
  EXPECT_NE(once.find("\nVIEWPOINT 10 -20.50 3e1 0.5 0.5 0.5 0.5\n"), std::string::npos) << once;
  EXPECT_EQ(rewritten(once, "a.pcd"), once);
  std::string other = text;
  other.replace(other.find("10"), 2, "11");
  EXPECT_NE(io::layout_difference(source->info(), open_pcd(other)->info())->find("viewpoint"), std::string::npos);
}

TEST(Pcd, RowsAreKeptWhileAllPointsAre) {
  const std::string body = raw(1.F, 2.F, 3.F, 4.F, 5.F, 6.F);
  const std::string file = "FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH 1\nHEIGHT 2\nDATA binary\n" + body;
  const auto source = open_pcd(file);
  EXPECT_TRUE(io::is_organized(source->info()));
  EXPECT_NE(rewritten(file, "a.pcd").find("\nWIDTH 1\nHEIGHT 2\n"), std::string::npos);
  const TemporaryFolder folder;
  const auto store = [&](const CloudInfo& like, std::uint64_t count) {
    const auto sink = io::create_sink(folder / "out.pcd", like, {.overwrite = true});
    sink->store(sink->reserve(count), {reinterpret_cast<const std::byte*>(body.data()), count, 12});
    sink->seal();
    sink->finish();
    return read_file(folder / "out.pcd");
  };
  EXPECT_NE(store(source->info(), 1).find("\nWIDTH 1\nHEIGHT 1\n"), std::string::npos);
  EXPECT_NE(store(source->info(), 0).find("\nWIDTH 0\nHEIGHT 1\n"), std::string::npos);
  EXPECT_NE(store(io::without_rows(source->info()), 2).find("\nWIDTH 2\nHEIGHT 1\n"), std::string::npos);
}

TEST(Pcd, NotFiniteValuesSurviveEveryKindOfData) {
  for (const std::string data : {"ascii", "binary"}) {
    const std::string head = header(2, data);
    const float inf = std::numeric_limits<float>::infinity();
    const std::string body =
        data == "ascii" ? "nan inf -inf\n-0 NaN 1\n" : raw(std::nanf(""), inf, -inf, -0.F, std::nanf(""), 1.F);
    const auto source = open_pcd(rewritten(head + body, "a.pcd"));
    EXPECT_TRUE(std::isnan(column_of(*source, "x")[0])) << data;
    EXPECT_TRUE(std::signbit(column_of(*source, "x")[1])) << data;
    EXPECT_EQ(column_of(*source, "y")[0], inf) << data;
    EXPECT_EQ(column_of(*source, "z")[0], -inf) << data;
  }
}

TEST(Pcd, ManyPointsKeepTheirOrderInEveryKindOfData) {
  // Several blocks of text and several parts of code.
  constexpr std::size_t kPoints = 300000;
  std::mt19937 random(3);
  std::string body;
  body.reserve(12 * kPoints);
  for (std::size_t i = 0; i < 3 * kPoints; ++i) {
    // Floats of any size, never NaN, whose bits a text does not keep.
    body += raw(std::bit_cast<float>(static_cast<std::uint32_t>(random()) & 0xbf7fffffU));
  }
  const auto plain = open_pcd(header(kPoints, "binary") + body);
  const TemporaryFolder folder;
  for (const PcdData data : {PcdData::kAscii, PcdData::kBinary, PcdData::kCompressed}) {
    CloudInfo like = plain->info();
    auto metadata = std::make_shared<PcdMetadata>(pcd_of(like));
    metadata->data = data;
    like.metadata = metadata;
    const std::string path = folder / (std::string(name_of(data)) + ".pcd");
    const auto sink = io::create_sink(path, like);
    const std::uint64_t first = sink->reserve(kPoints);
    const auto* records = reinterpret_cast<const std::byte*>(body.data());
    // The end before the beginning.
    for (std::uint64_t at = 0; at < kPoints; at += 50000) {
      const std::uint64_t from = kPoints - 50000 - at;
      sink->store(first + from, {records + 12 * from, 50000, 12});
    }
    sink->seal();
    sink->finish();
    const auto back = io::open_source(path);
    std::string all;
    RecordBuffer buffer;
    ChunkRange range;
    while (back->next(70001, range)) {
      const PointView view = back->load(range, buffer);
      all.append(reinterpret_cast<const char*>(view.records), view.count * 12);
      back->release(range);
    }
    EXPECT_TRUE(all == body) << name_of(data);
  }
}

TEST(Pcd, InputsThatDifferAreNamed) {
  const auto first = open_pcd(header(0, "binary"));
  const auto differs = [&](const std::string& head) {
    return io::layout_difference(first->info(), open_pcd(head + "DATA binary\n")->info()).value_or("");
  };
  EXPECT_EQ(differs("FIELDS x y z\n"), "");
  EXPECT_NE(differs("FIELDS x y z i\n").find("number of fields"), std::string::npos);
  EXPECT_NE(differs("FIELDS y x z\n").find("name of field 1"), std::string::npos);
  EXPECT_NE(differs("FIELDS x y z\nSIZE 8 8 8\n").find("type of 'x'"), std::string::npos);
  EXPECT_NE(differs("FIELDS x _ y z\n"), "");
  EXPECT_NE(differs("FIELDS X y z\n"), "");
}

}  // namespace
}  // namespace sluice::test
