// SPDX-License-Identifier: Apache-2.0
/// \file
/// Points as text: every separator, header and number that occurs, and errors that name the line.
#include "sluice/io/text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "io/rows.hpp"

namespace sluice::test {
namespace {

using Names = std::vector<std::string>;

std::unique_ptr<ChunkSource> open_text(const std::string& text, const Names& fields = {}) {
  return io::open_source_from_memory("test.xyz", to_bytes(text), {.fields = fields});
}

struct Points {
  Names names;
  std::vector<std::vector<double>> columns;
  bool operator==(const Points&) const = default;
};

Points points_of(const std::string& text, const Names& fields = {}) {
  const auto source = open_text(text, fields);
  Points out;
  out.names = field_names(source->info());
  for (const std::string& name : out.names) out.columns.push_back(column_of(*source, name));
  return out;
}

const Names kXyz = {"x", "y", "z"};

TEST(Text, SeparatorsAndLineEnds) {
  const Points wanted{kXyz, {{1.5, -4}, {2, 5e-3}, {3, 6}}};
  for (const std::string text : {"1.5 2 3\n-4 5e-3 6\n", "1.5,2,3\n-4,5E-3,6\n", "1.5;2;3\n-4;.005;6",
                                 "1.5\t2\t3\r\n-4\t+5e-3\t6\r\n", "  1.5   2\t3  \n\n\n -4 5e-3 6.\n \n",
                                 "1.5, 2 ,3\n-4 , 5e-3,  6", "1.5 2 3\r-4 5e-3 6\r", "1.5 2 3\r-4 5e-3 6"}) {
    EXPECT_EQ(points_of(text), wanted) << text;
  }
}

TEST(Text, CommentsCountsAndMarksAreNoPoints) {
  const Points wanted{kXyz, {{1, 4}, {2, 5}, {3, 6}}};
  for (const std::string text : {"# a\n1 2 3\n// b\n  # c\n4 5 6\n", "2\n1 2 3\n4 5 6\n", "// two\n2\n\n1 2 3\n4 5 6",
                                 "\xef\xbb\xbf"
                                 "1 2 3\n4 5 6\n",
                                 "2\r\n1,2,3\r\n4,5,6\r\n"}) {
    EXPECT_EQ(points_of(text), wanted) << text;
  }
  EXPECT_NE(refusal("3\n1 2 3\n4 5 6\n", "a.xyz").find("line 1: the line counts 3 points, the file has 2"),
            std::string::npos);
  EXPECT_EQ(points_of("1\n1 2 3\n4 5 6\n").columns[0], std::vector<double>{1});
  EXPECT_EQ(open_text("1\n1 2 3\n4 5 6\n")->info().warnings.size(), 1u);
}

TEST(Text, HeadersNameColumns) {
  for (const std::string text :
       {"Z,X,Intensity,Y\n3,1,4,2\n", "\"Z\",\"X\",\"Intensity\",\"Y\"\r\n3,1,4,2\r\n", "z x intensity y\n3 1 4 2\n",
        "# made by hand\n//Z X Intensity Y\n3 1 4 2\n", "# Z;X;Intensity;Y\n3;1;4;2\n"}) {
    const Points points = points_of(text);
    EXPECT_EQ(points.names, (Names{"z", "x", "intensity", "y"})) << text;
    EXPECT_EQ(points.columns, (std::vector<std::vector<double>>{{3}, {1}, {4}, {2}})) << text;
  }
  EXPECT_EQ(points_of("1 2 3 4 5\n").names, (Names{"x", "y", "z", "c3", "c4"}));
  EXPECT_EQ(points_of("x,y,z,gps\n").columns[3].size(), 0u);
  EXPECT_EQ(points_of("").names, kXyz);
  // A comment that names other columns than there are is a comment.
  EXPECT_EQ(points_of("# x y z of the hall\n1 2 3\n").names, kXyz);
}

TEST(Text, FieldsNameColumnsWhateverTheFileSays) {
  EXPECT_EQ(points_of("1 2 3 4\n", {"y", "x", "_", "Z"}).names, (Names{"y", "x", "z"}));
  EXPECT_EQ(points_of("a,b,c\n1,2,3\n", {"z", "y", "x"}).columns[2], std::vector<double>{3});
  EXPECT_NE(refusal("1 2 3 4\n", "a.xyz", {.fields = kXyz}).find("line 1: the line has 4 values"), std::string::npos);
  EXPECT_THROW((void)open_text("1 2 3\n", {"x", "y", "w"}), InvalidArgument);
  EXPECT_THROW((void)io::open_source_from_memory("a.ply", to_bytes("ply\n"), {.fields = kXyz}), InvalidArgument);
}

TEST(Text, ErrorsNameTheLine) {
  struct Case {
    std::string text, says;
  };
  const Case cases[] = {
      {"1 2 3\n4 5\n", "line 2, value 3: the line has 2 values, not 3"},
      {"# a\n\n1 2 3\n4 5 6 7\n", "line 4, value 4: the line has more than 3"},
      {"1 2 3\r\n4 x 6\r\n", "line 2, value 2: 'x' is no number"},
      {"1 2 3\r4 x 6\r", "line 2, value 2: 'x' is no number"},
      {"1,2,3\n4,,6\n", "line 2, value 2: a value is missing"},
      {"1,2,3\n4,5,6,\n", "line 2, value 4"},
      {"1;2;3\n4;5,5;6\n", "line 2, value 2: '5,5' is no number"},
      {"1 2\n", "line 1: the line has 2 values, and there must be at least 3"},
      {"x,y\n1,2\n", "line 1: no column is called z"},
      {"x,y,z\n1,2\n", "line 2: the line has 2 values, and there are names for 3"},
      {"a letter\nto you\n", "line 1"},
      {"1 2 3\n4 5 +-6\n", "line 2, value 3: '+-6' is no number"},
      {"1 2 3\n4 5 1e400\n", "line 2, value 3: '1e400' is out of range"},
  };
  for (const Case& c : cases) {
    EXPECT_NE(refusal(c.text, "a.xyz").find(c.says), std::string::npos) << c.text << refusal(c.text, "a.xyz");
  }
  EXPECT_NE(refusal(std::string("1 2 3\n\0\1", 8), "a.xyz"), "") << "not a text";
  for (const char* quotes : {"\"\"", "\"\" \"\"\n", "2\n\"\"\n", "#\"\"\n\"\"\t\n1 2 3\n", "//\"\"\n\"\";\n"}) {
    EXPECT_NE(refusal(quotes, "a.xyz").find("line "), std::string::npos) << quotes;
  }
  EXPECT_EQ(points_of("x y z \"\"\n1 2 3 4\n").columns.size(), 4u);
}

TEST(Text, FilesThatWereCutShortAreRecovered) {
  const auto recovered = [](const std::string& text, const std::string& name) {
    EXPECT_NE(refusal(text, name), "") << text;
    const auto source = io::open_source_from_memory(name, to_bytes(text), {.recover = true});
    EXPECT_TRUE(io::was_recovered(*source)) << text;
    EXPECT_FALSE(source->info().warnings.empty()) << text;
    return column_of(*source, "z");
  };
  const std::string pcd = "FIELDS x y z\nTYPE F F F\n";
  const std::string ply = "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\n";
  for (const char* last : {"4", "4 5", "4 5 ", "4 5 -", "4 5 1e"}) {
    EXPECT_EQ(recovered(std::string("1 2 3\n") + last, "a.xyz"), std::vector<double>{3}) << last;
    EXPECT_EQ(recovered(std::string("2\n1 2 3\n") + last, "a.xyz"), std::vector<double>{3}) << last;
    EXPECT_EQ(recovered(pcd + "DATA ascii\n1 2 3\n" + last, "a.pcd"), std::vector<double>{3}) << last;
    EXPECT_EQ(recovered(pcd + "POINTS 2\nDATA ascii\n1 2 3\n" + last, "a.pcd"), std::vector<double>{3}) << last;
    EXPECT_EQ(recovered(ply + "property float z\nend_header\n1 2 3\n" + last, "a.ply"), std::vector<double>{3}) << last;
  }
  for (const char* last : {"4", "4 5", "4 5 2", "4 5 2 1 ", "4 5 2 1 0", "4 5 2 1 0 -"}) {
    const std::string text = ply + "property list uchar int l\nproperty float z\nend_header\n1 2 1 7 3\n" + last;
    EXPECT_EQ(recovered(text, "a.ply"), std::vector<double>{3}) << last;
  }
  // A line in the middle is damaged, not cut; a last line that is whole is a point.
  EXPECT_THROW((void)column_of(*io::open_source_from_memory("a.xyz", to_bytes("1 2 3\n4 5\n"), {.recover = true}), "z"),
               FormatError);
  const auto whole = io::open_source_from_memory("a.xyz", to_bytes("1 2 3\n4 5 6"), {.recover = true});
  EXPECT_FALSE(io::was_recovered(*whole));
  EXPECT_EQ(column_of(*whole, "z"), (std::vector<double>{3, 6}));
}

TEST(Text, LongWholeNumbersAreExact) {
  const auto source = open_text("x,y,z,stamp,id\n1,2,3,1532402927647951123,18446744073709551615\n4,5,6,-7,8\n");
  EXPECT_EQ(source->info().schema.find("stamp")->type, FieldType::kInt64);
  EXPECT_EQ(source->info().schema.find("id")->type, FieldType::kUint64);
  const std::string records = read_all(*source);
  EXPECT_EQ(records.substr(24, 16), raw(std::int64_t{1532402927647951123}, ~std::uint64_t{0}));
}

TEST(Text, AllValuesOfAColumnDecideItsType) {
  const auto type_of = [](const std::string& values, char separator = '\n') {
    std::string text = "x,y,z,a\n";
    for (std::size_t at = 0; at < values.size();) {
      const std::size_t end = std::min(values.find(separator, at), values.size());
      text += "1,2,3," + values.substr(at, end - at) + "\n";
      at = end + 1;
    }
    const auto source = open_text(text);
    EXPECT_EQ(read_all(*source).size(), source->info().point_count * source->info().schema.record_bytes);
    return std::pair(source->info().schema.find("a")->type, source->info().warnings.size());
  };
  const std::pair float64{FieldType::kFloat64, std::size_t{0}};
  const std::pair int64{FieldType::kInt64, std::size_t{0}};
  const std::pair uint64{FieldType::kUint64, std::size_t{0}};
  const std::pair rounded{FieldType::kFloat64, std::size_t{1}};
  const std::string wide = "9007199254740993";
  EXPECT_EQ(type_of("1 2 18446744073709551615", ' '), uint64);
  EXPECT_EQ(type_of("1 " + wide, ' '), int64);
  EXPECT_EQ(type_of("-1 " + wide + " +2", ' '), int64);
  EXPECT_EQ(type_of(wide + " -9223372036854775808", ' '), int64);
  EXPECT_EQ(type_of(wide + " 9223372036854775808", ' '), uint64);
  EXPECT_EQ(type_of("1 2 0.5 -7 nan 9007199254740992 1e300", ' '), float64);
  EXPECT_EQ(type_of("0.12345678901234567 1234567890123456.5 12345678901234567e3 00000000000000000001", ' '), float64);
  // A float may look like a whole number of many digits, all of which it has.
  EXPECT_EQ(type_of("-60385396592921018368 0.5", ' '), float64);
  // What no type holds is rounded, with a warning.
  for (const char* other : {"0.5", "nan", "1e3", "-18446744073709551615", "36893488147419103232"}) {
    EXPECT_EQ(type_of(wide + " " + other, ' '), rounded) << other;
    EXPECT_EQ(type_of(other + (" " + wide), ' '), rounded) << other;
  }
  EXPECT_EQ(type_of("-1 9223372036854775809", ' '), rounded);
  EXPECT_EQ(type_of("60385396592921018369", ' '), rounded);
  // Coordinates are float64 in memory.
  const auto source = open_text("4 5 1532402927647951123\n");
  EXPECT_EQ(source->info().warnings.size(), 1u);
  EXPECT_EQ(column_of(*source, "z"), std::vector<double>{1532402927647951123.0});
}

TEST(Text, DigitsWithoutEndAreReadOnce) {
  // Going back to the beginning of such a number for each part of it would take minutes.
  const std::string digits(900'000, '3');
  const auto source = open_text("1 2 0." + digits + "\n4 5 6\n");
  EXPECT_EQ(column_of(*source, "z"), (std::vector<double>{1.0 / 3, 6}));
  EXPECT_NE(refusal("1 2 " + digits + "\n", "a.xyz").find("out of range"), std::string::npos);
}

TEST(Text, ValuesFarFromTheFirstDecideToo) {
  // Blocks of text are examined apart from each other; the number is in any of them, and anywhere in its line.
  for (const int at : {0, 1, 100'000, 249'999}) {
    for (const char* name : {"a", "b"}) {
      std::string text = "a;x;y;z;b\n";
      for (int i = 0; i < 250'000; ++i) {
        const char* value = i == at ? "18446744073709551615" : "7";
        text += name[0] == 'a' ? std::string(value) + ";1;2;3;0.25\n" : std::string("0.25;1;2;3;") + value + "\n";
      }
      const auto source = open_text(text);
      const Field& field = *source->info().schema.find(name);
      ASSERT_EQ(field.type, FieldType::kUint64) << at << name;
      const std::string records = read_all(*source);
      for (int i = 0; i < 250'000; ++i) {
        const std::size_t place = static_cast<std::size_t>(i) * source->info().schema.record_bytes + field.offset;
        const std::uint64_t wanted = i == at ? ~std::uint64_t{0} : 7;
        ASSERT_EQ(std::memcmp(records.data() + place, &wanted, sizeof wanted), 0) << i;
      }
    }
  }
}

TEST(Text, LookingForLinesAndTypesLeavesNothingInMemory) {
  const TemporaryFolder folder;
  // Lines before the points, and a number that only int64 holds.
  for (const auto& [name, head, last] :
       {std::tuple{"a.xyz", "", "9007199254740993"},
        {"a.pcd", "FIELDS x y z a\nSIZE 8 8 8 8\nTYPE F F F I\nDATA ascii\n", "7"},
        {"a.ply",
         "ply\nformat ascii 1.0\nelement vertex 3000000\nproperty double x\nproperty double y\nproperty double z\n"
         "property int a\nend_header\n",
         "7"}}) {
    const std::string line = std::string("1.25 2.25 3.25 ") + last + "\n";
    std::string text = head;
    for (int i = 0; i < 3'000'000; ++i) text += line;
    write_file(folder / name, text);
    const std::uint64_t bytes = text.size();
    text = {};
    const std::uint64_t before = resident_bytes();
    const auto source = io::open_source(folder / name);
    EXPECT_LT(resident_bytes(), before + bytes / 2) << name;
    EXPECT_EQ(source->info().point_count, 3'000'000U);
  }
}

TEST(Text, WhatIsWrittenReadsBackTheSame) {
  const double values[] = {0.1,    -0.0, 5e-324, 1.7976931348623157e308, 665187.522077, 1e15, 123456789012345680.0,
                           1.0 / 3};
  std::string text = "x;y;z;c\n";
  for (const double a : values) {
    for (const double b : values) {
      char line[200];
      std::snprintf(line, sizeof line, "%.17g;%.17g;%.17g;%.17g\n", a, b, -a, b * 0.5);
      text += line;
    }
  }
  const std::string once = rewritten(text, "a.csv");
  EXPECT_EQ(points_of(once), points_of(text));
  EXPECT_EQ(rewritten(once, "a.csv"), once);
  EXPECT_TRUE(once.starts_with("x;y;z;c\n"));
  EXPECT_EQ(rewritten("//X\tY\tZ\n1\t2\t3.50\n", "a.txt"), "//X\tY\tZ\n1\t2\t3.5\n");
  EXPECT_EQ(rewritten("1 nan inf\n-inf 2 3\n", "a.xyz"), "1 nan inf\n-inf 2 3\n");
}

TEST(Text, NamesThatAreWrittenReadBackAsNames) {
  for (const std::string text :
       {"//x;y;z;a b\n1 2 3 4\n", "x,y,z,a\tb\n1,2,3,4\n", "x,y,z,\n1,2,3,4\n", "x,y,z,\"a\n1,2,3,4\n"}) {
    const std::string once = rewritten(text, "a.csv");
    EXPECT_EQ(open_text(once)->info().schema.fields.size(), 4u) << once;
    EXPECT_EQ(rewritten(once, "a.csv"), once);
  }
  // A count precedes names that alone would be the beginning of another format.
  for (const char* name : {"DATA", "VERSION", "LASF", "ply"}) {
    const std::string once = rewritten("1\n" + std::string(name) + " x y z\n1 2 3 4\n", "a.txt");
    const auto again = io::open_source_from_memory("a.txt", to_bytes(once));
    EXPECT_EQ(again->info().metadata->format(), "text") << once;
    EXPECT_EQ(column_of(*again, "z"), std::vector<double>{4}) << once;
  }
  EXPECT_EQ(open_text(rewritten(std::string("//\xef\xbb\xbf") + "7 x y z\n", "a.csv"))->info().point_count, 0u);
  EXPECT_EQ(open_text("ply x y z\n1 2 3 4\n")->info().metadata->format(), "text");
  EXPECT_TRUE(rewritten("1 2 3 4\n", "a.csv", {.fields = {"#a", "x", "y", "z"}}).starts_with("1 2"));
}

TEST(Text, ContentDecidesAndTheExtensionWhereItCannot) {
  const auto format = [](const std::string& bytes, const std::string& name) {
    return io::open_source_from_memory(name, to_bytes(bytes))->info().metadata->format();
  };
  EXPECT_EQ(format("1 2 3\n", "points.dat"), "text");
  EXPECT_EQ(format("1 2 3\n4 5 6\n", "points.bin"), "text");
  EXPECT_EQ(format(raw(1.F, 2.F, 3.F, 4.F), "points.bin"), "bin");
  EXPECT_EQ(format("FIELDS x y z\nDATA ascii\n1 2 3\n", "points.xyz"), "pcd");
  EXPECT_NE(refusal("1 2 3\n", "a.ply").find("ply"), std::string::npos);
  EXPECT_NE(refusal("1 2 3\n", "a.las").find("las"), std::string::npos);
  EXPECT_NE(refusal(raw(1.F, 2.F, 3.F, 4.F), "a.dat"), "");
}

TEST(Text, ManyLinesKeepTheirOrder) {
  std::string text;
  for (int i = 0; i < 200000; ++i) {
    text += std::to_string(i) + (i % 1000 == 0 ? " 1 2\n\n# a comment\n" : " 1 2\n");
  }
  const std::vector<double> x = column_of(*open_text(text), "x");
  ASSERT_EQ(x.size(), 200000u);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], static_cast<double>(i));
  EXPECT_NE(refusal(text + "1 2\n", "a.xyz").find("line 200401,"), std::string::npos);
}

}  // namespace
}  // namespace sluice::test
