// SPDX-License-Identifier: Apache-2.0
/// \file
/// From every format to every other: what stays the same, what is said to be lost, and what is refused.
#include "sluice/io/convert.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "io/rows.hpp"
#include "sluice/io/pcd.hpp"

namespace sluice::test {
namespace {

using io::ConvertTarget;

std::unique_ptr<ChunkSource> open_text(const std::string& text) {
  return io::open_source_from_memory("test.csv", to_bytes(text));
}

/// What a conversion makes, and what it says.
struct Converted {
  std::unique_ptr<ChunkSource> source;
  std::vector<std::string> warnings;
};

Converted convert(ChunkSource& source, const TemporaryFolder& folder, const ConvertTarget& target) {
  ConvertTarget there = target;
  there.path = folder / target.path;
  ChunkSource* const sources[] = {&source};
  const auto converter = io::make_converter(source.info(), there, [&] { return io::summarize(sources, 2); });
  const auto sink = io::create_converting_sink(there.path, converter, {.overwrite = true});
  source.rewind();
  RecordBuffer buffer;
  ChunkRange range;
  while (source.next(7, range)) {
    const std::uint64_t first = sink->reserve(range.count);
    sink->store(first, source.load(range, buffer));
    source.release(range);
  }
  sink->seal();
  sink->finish();
  return {io::open_source(there.path), sink->warnings()};
}

Converted convert(const std::string& text, const TemporaryFolder& folder, const ConvertTarget& target) {
  return convert(*open_text(text), folder, target);
}

/// Real values of a coordinate or a field.
std::vector<double> world_of(ChunkSource& source, int axis) {
  std::vector<double> out = column_of(source, std::string(1, static_cast<char>('x' + axis)));
  const CoordinateFrame& frame = source.info().frame;
  for (double& value : out) value = to_world(static_cast<std::int32_t>(value), frame.scale[axis], frame.offset[axis]);
  return out;
}

TEST(Convert, CoordinatesOfFloatsAreWithinHalfAStepOfLas) {
  struct Case {
    std::string text;
    double most_scale;
  };
  const Case cases[] = {
      {"x,y,z\n1,2,3\n1,2,3\n", 0.001},                  // one place
      {"x,y,z\n-50.123456,2,3\n49.5,2,3.25\n", 0.0001},  // flat in y
      {"x,y,z\n665171.375,5648340.5,233.5\n665187.875,5648381.9,245.9\n", 0.001},
      {"x,y,z\n1e-9,0,0\n2e-9,0,1e-9\n", 1e-14},
      {"x,y,z\n7.3,0.4,0\n7.3000000001,0.4,1e-10\n", 1e-15},
      {"x,y,z\n-1e300,0,5\n1e300,1e299,-5\n", 1e292},
      {"x,y,z\n1e15,1,1\n1000000000000001,2,2\n", 0.001},
      {"x,y,z\n-3000000,0,0\n3000000,0,0\n", 0.01},
      {"x,y,z\n-2147483.6,-1,0\n2147483.6,1,0\n", 0.01},
      {"x,y,z\n", 0.001},
  };
  const TemporaryFolder folder;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const auto source = open_text(c.text);
    const Converted las = convert(*source, folder, {.path = "out.las"});
    for (int axis = 0; axis < 3; ++axis) {
      const double scale = las.source->info().frame.scale[axis];
      EXPECT_LE(scale, c.most_scale);
      const std::vector<double> wanted = column_of(*source, std::string(1, static_cast<char>('x' + axis)));
      const std::vector<double> found = world_of(*las.source, axis);
      ASSERT_EQ(found.size(), wanted.size());
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_LE(std::abs(found[i] - wanted[i]), scale / 2 + std::abs(wanted[i]) * 1e-15);
      }
    }
  }
}

TEST(Convert, OffsetsOfTinyCloudsAreShortDecimals) {
  const TemporaryFolder folder;
  const Converted las = convert("x,y,z\n1000.30001,0.7,5.9\n1000.30009,0.70005,5.90001\n", folder, {.path = "out.las"});
  const CoordinateFrame& frame = las.source->info().frame;
  EXPECT_EQ(frame.offset[0], 1000.30005);
  EXPECT_EQ(frame.offset[1], 0.70003);
}

TEST(Convert, ScaleAndOffsetThatWereGivenHoldOrRefuse) {
  const TemporaryFolder folder;
  io::LasTarget las;
  las.scale = {0.01, 0.01, 0.01};
  const std::string text = "x,y,z\n665171.374,5648340.5,233.5\n";
  const Converted out = convert(text, folder, {.path = "out.las", .las = las});
  EXPECT_EQ(out.source->info().frame.scale[0], 0.01);
  EXPECT_TRUE(any_contains(out.warnings, "1 point: coordinates rounded to the scale 0.01"));
  EXPECT_THROW((void)convert(text, folder, {.path = "out.las", .las = las, .strict = true}), Unsupported);
  las.offset = {0, 0, 0};
  las.scale = {1e-4, 1e-4, 1e-4};
  try {
    (void)convert(text, folder, {.path = "out.las", .las = las});
    ADD_FAILURE() << "a coordinate was clamped";
  } catch (const Unsupported& error) {
    EXPECT_NE(std::string(error.what()).find("665171.374 does not fit 32 bits with scale 1e-04"), std::string::npos)
        << error.what();
  }
  // A decimal that is a step is no rounding, whatever double it is.
  las.scale = {0.001, 0.001, 0.001};
  EXPECT_TRUE(
      convert("x,y,z\n0.1,0.7,339003.737\n", folder, {.path = "o.las", .las = las, .strict = true}).warnings.empty());
}

TEST(Convert, PointsThatAreNotFiniteFitNoLasFile) {
  const TemporaryFolder folder;
  const std::string text = "x,y,z\n1,2,3\nnan,2,3\n";
  EXPECT_THROW((void)convert(text, folder, {.path = "out.las"}), Unsupported);
  EXPECT_TRUE(std::isnan(column_of(*convert(text, folder, {.path = "out.ply"}).source, "x")[1]));
}

TEST(Convert, ClassesAboveThirtyOneRaiseThePointFormatOrRefuse) {
  const TemporaryFolder folder;
  const std::string text = "x,y,z,Classification\n1,2,3,64\n1,2,3,2\n";
  const Converted out = convert(text, folder, {.path = "out.las"});
  EXPECT_EQ(metadata_of(out.source->info()).header.point_format, 6);
  EXPECT_EQ(column_of(*out.source, "classification"), (std::vector<double>{64, 2}));
  io::LasTarget las;
  las.point_format = 1;
  EXPECT_THROW((void)convert(text, folder, {.path = "out.las", .las = las}), Unsupported);
  EXPECT_EQ(column_of(*convert("x,y,z,classification\n1,2,3,31\n", folder, {.path = "out.las", .las = las}).source,
                      "classification"),
            std::vector<double>{31});
}

TEST(Convert, ColoursOfBytesBecomeSixteenBits) {
  const TemporaryFolder folder;
  const Converted small = convert("x,y,z,R,red,green,blue\n1,2,3,9,255,128,0\n", folder, {.path = "out.las"});
  EXPECT_EQ(metadata_of(small.source->info()).header.point_format, 7);
  EXPECT_EQ(column_of(*small.source, "red"), std::vector<double>{65280});
  EXPECT_EQ(column_of(*small.source, "green"), std::vector<double>{32768});
  EXPECT_EQ(column_of(*small.source, "r"), std::vector<double>{9});
  const Converted large = convert("x,y,z,red,green,blue\n1,2,3,255,256,0\n", folder, {.path = "out.las"});
  EXPECT_EQ(column_of(*large.source, "red"), std::vector<double>{255});
  // Two bytes say themselves that they are not one.
  const auto sixteen = io::open_source_from_memory(
      "a.ply",
      to_bytes("ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float "
               "z\nproperty ushort red\nproperty ushort green\nproperty ushort blue\nend_header\n1 2 3 4 5 6\n"));
  EXPECT_EQ(column_of(*convert(*sixteen, folder, {.path = "out.las"}).source, "blue"), std::vector<double>{6});
  const auto packed = io::open_source_from_memory(
      "a.pcd", to_bytes("FIELDS x y z rgb\nSIZE 4 4 4 4\nTYPE F F F U\nWIDTH 1\nDATA ascii\n1 2 3 16909060\n"));
  const Converted unpacked = convert(*packed, folder, {.path = "out.las"});
  EXPECT_EQ(column_of(*unpacked.source, "red"), std::vector<double>{0x02 * 256});
  EXPECT_EQ(column_of(*unpacked.source, "green"), std::vector<double>{0x03 * 256});
  EXPECT_EQ(column_of(*unpacked.source, "blue"), std::vector<double>{0x04 * 256});
  // Fractions are no colours of LAS; they are kept as they are.
  const Converted fractions = convert("x,y,z,red,green,blue\n1,2,3,0.5,0,1\n", folder, {.path = "out.las"});
  EXPECT_EQ(metadata_of(fractions.source->info()).header.point_format, 6);
  EXPECT_EQ(column_of(*fractions.source, "red"), std::vector<double>{0.5});
}

TEST(Convert, WhatNoFieldOfLasHoldsIsAnExtraDimension) {
  const TemporaryFolder folder;
  const std::string bytes = raw(1.F, 2.F, 3.F, 0.25F, 4.F, 5.F, 6.F, 1.F);
  const auto kitti = io::open_source_from_memory("a.bin", to_bytes(bytes));
  const Converted las = convert(*kitti, folder, {.path = "out.laz"});
  EXPECT_EQ(column_of(*las.source, "intensity_2"), (std::vector<double>{0.25, 1}));
  EXPECT_TRUE(any_contains(las.warnings, "intensity has values"));
  EXPECT_EQ(column_of(*las.source, "return_number"), (std::vector<double>{1, 1}));
  EXPECT_EQ(column_of(*convert("x,y,z,Intensity\n1,2,3,65535\n", folder, {.path = "a.las"}).source, "intensity"),
            std::vector<double>{65535});
}

TEST(Convert, WholeNumbersBeyondFloat64AreNoTimesOfLas) {
  const TemporaryFolder folder;
  const std::int64_t stamp = 1532402927647951123;
  const auto rows = io::open_source_from_memory(
      "a.pcd", to_bytes("FIELDS x y z gps_time\nSIZE 4 4 4 8\nTYPE F F F I\nWIDTH 1\nDATA binary\n" +
                        raw(1.F, 2.F, 3.F, stamp)));
  const Converted out = convert(*rows, folder, {.path = "out.las", .strict = true});
  const Field* kept = out.source->info().schema.find("gps_time_2");
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(kept->type, FieldType::kInt64);
  EXPECT_EQ(read_all(*out.source).substr(kept->offset, 8), raw(stamp));
  EXPECT_TRUE(any_contains(out.warnings, "it is the extra dimension gps_time_2"));
  EXPECT_EQ(
      column_of(*convert("x,y,z,gps_time\n1,2,3,9007199254740991\n", folder, {.path = "b.las"}).source, "gps_time"),
      std::vector<double>{9007199254740991});
}

TEST(Convert, AnglesBetweenTheStepsOfLasAreSaidOrRefused) {
  const TemporaryFolder folder;
  const std::string text = "x,y,z,scan_angle\n1,2,3,12.3456\n1,2,3,-0.006\n";
  const Converted out = convert(text, folder, {.path = "out.las"});
  EXPECT_EQ(column_of(*out.source, "scan_angle")[1], -1.0);
  EXPECT_TRUE(any_contains(out.warnings, "1 point: scan_angle rounded to steps of 0.006")) << joined(out.warnings);
  EXPECT_THROW((void)convert(text, folder, {.path = "out.las", .strict = true}), Unsupported);
  EXPECT_TRUE(convert("x,y,z,scan_angle\n1,2,3,12.348\n", folder, {.path = "b.las", .strict = true}).warnings.empty());
  // What is no number is no angle of LAS, and is kept.
  for (const char* value : {"nan", "inf"}) {
    const Converted kept =
        convert(std::string("x,y,z,scan_angle\n1,2,3,1.5\n1,2,3,") + value + "\n", folder, {.path = "c.las"});
    EXPECT_FALSE(std::isfinite(column_of(*kept.source, "scan_angle_2")[1])) << value;
  }
}

TEST(Convert, ExtraDimensionsHaveNamesOfTheirOwn) {
  const TemporaryFolder folder;
  const std::string name = "a_name_of_more_than_thirty_two_bytes";
  const Converted out =
      convert("x,y,z,Intensity,a,A,x," + name + "1," + name + "2\n1,2,3,0.5,4,5,6,7,8\n", folder, {.path = "o.las"});
  std::vector<std::string> names;
  for (const io::ExtraBytes& extra : metadata_of(out.source->info()).extra_bytes) names.push_back(extra.name);
  EXPECT_EQ(names, (std::vector<std::string>{"Intensity_2", "a", "A_2", "x_2", "a_name_of_more_than_thirty_two_b",
                                             "a_name_of_more_than_thirty_two_2"}));
  EXPECT_EQ(column_of(*out.source, "a_name_of_more_than_thirty_two_2"), std::vector<double>{8});
  const auto wide = io::open_source_from_memory(
      "a.pcd", to_bytes("FIELDS x y z h\nSIZE 4 4 4 4\nTYPE F F F F\nCOUNT 1 1 1 342\nPOINTS 0\nDATA ascii\n"));
  EXPECT_THROW((void)convert(*wide, folder, {.path = "b.las"}), Unsupported);
}

TEST(Convert, PointsThatNoLasFileSpansAreRefused) {
  const TemporaryFolder folder;
  EXPECT_THROW((void)convert("x,y,z\n-1.7e308,0,0\n1.7e308,0,0\n", folder, {.path = "a.las"}), Unsupported);
}

TEST(Convert, TextsLookAsTheirExtensionSays) {
  const TemporaryFolder folder;
  const auto text_of = [&](const std::string& name, const std::string& text, const std::string& path) {
    (void)convert(*io::open_source_from_memory(name, to_bytes(text)), folder, {.path = path});
    return read_file(folder / path);
  };
  EXPECT_EQ(text_of("a.csv", "x,y,z\n1,2,3\n", "a.xyz"), "1 2 3\n");
  EXPECT_EQ(text_of("a.txt", "x;y;z;w\n1;2;3;4\n", "b.XYZ"), "//x y z w\n1 2 3 4\n");
  EXPECT_EQ(text_of("a.xyz", "1 2 3\n", "c.csv"), "x,y,z\n1,2,3\n");
  EXPECT_EQ(text_of("a.csv", "x;y;z\n1;2;3\n", "d.csv"), "x;y;z\n1;2;3\n");
  EXPECT_EQ(text_of("a.xyz", "1;2;3\n", "e.xyz"), "1;2;3\n");
  EXPECT_EQ(text_of("a.csv", "x,y,z\n1,2,3\n", "f.txt"), "x,y,z\n1,2,3\n");
  const auto keeps = [](const char* name, const char* path) {
    return io::keeps_format(io::open_source_from_memory(name, to_bytes("1 2 3\n"))->info(), path);
  };
  EXPECT_TRUE(keeps("a.csv", "b.CSV"));
  EXPECT_TRUE(keeps("a.xyz", "b.txt"));
  EXPECT_TRUE(keeps("a.xyz", "-"));
  EXPECT_FALSE(keeps("a.xyz", "b.csv"));
  EXPECT_FALSE(keeps("a.csv", "b.xyz"));
}

TEST(Convert, TheCaseOfAnExtensionDoesNotMatter) {
  const TemporaryFolder folder;
  (void)convert("x y z ring\n1 2 3 4\n", folder, {.path = "A.CSV"});
  EXPECT_EQ(read_file(folder / "A.CSV"), "x,y,z,ring\n1,2,3,4\n");
  const Converted rows = convert("x y z ring\n1 2 3 4\n", folder, {.path = "A.PCD.BIN"});
  EXPECT_EQ(column_of(*rows.source, "ring"), std::vector<double>{4});
}

TEST(Convert, LasComesBackFromColumns) {
  LasBytes las{.minor = 4, .format = 8, .extra = 0, .points = 40};
  las.encoding = 0x11;
  const TemporaryFolder folder;
  write_file(folder / "in.las", las.build());
  for (const char* path : {"out.pcd", "out.ply", "out.csv", "out.xyz"}) {
    SCOPED_TRACE(path);
    const auto source = io::open_source(folder / "in.las");
    const Converted columns = convert(*source, folder, {.path = path});
    EXPECT_EQ(field_names(columns.source->info()), field_names(source->info()));
    io::LasTarget target;
    const CoordinateFrame& frame = source->info().frame;
    target.point_format = 8;
    target.scale = {frame.scale[0], frame.scale[1], frame.scale[2]};
    target.offset = {frame.offset[0], frame.offset[1], frame.offset[2]};
    const Converted back = convert(*columns.source, folder, {.path = "back.las", .las = target});
    for (const Field& field : source->info().schema.fields) {
      // Colours of a text that no point has above 255 would be bytes; those here are larger.
      EXPECT_EQ(column_of(*back.source, field.name), column_of(*source, field.name)) << field.name;
    }
  }
}

TEST(Convert, WhatIsLostIsSaidOrRefused) {
  LasBytes las{.minor = 4, .format = 6, .points = 3};
  las.encoding = 0x10;
  las.vlrs = {{"LASF_Projection", 2112, std::string("LOCAL_CS[\"a\"]\0", 14)}};
  const TemporaryFolder folder;
  write_file(folder / "in.las", las.build());
  const auto source = io::open_source(folder / "in.las");
  const Converted out = convert(*source, folder, {.path = "out.pcd"});
  EXPECT_TRUE(any_contains(out.warnings, "coordinate system is not kept"));
  EXPECT_THROW((void)convert(*source, folder, {.path = "out.pcd", .strict = true}), Unsupported);

  const auto rows = io::open_source_from_memory(
      "a.pcd", to_bytes("FIELDS x y z ring\nSIZE 8 8 8 8\nTYPE F F F U\nVIEWPOINT 1 0 0 1 0 0 0\nWIDTH 1\nHEIGHT 2\n"
                        "DATA ascii\n0.1 0 0 1\n0.5 0 0 18446744073709551615\n"));
  const Converted ply = convert(*rows, folder, {.path = "out.ply"});
  EXPECT_EQ(ply.warnings.size(), 3u) << joined(ply.warnings);
  EXPECT_TRUE(any_contains(ply.warnings, "2 rows of 1"));
  EXPECT_TRUE(any_contains(ply.warnings, "viewpoint 1 0 0 1 0 0 0"));
  EXPECT_TRUE(any_contains(ply.warnings, "1 point: ring rounded to float64"));
  const Converted bin = convert(*rows, folder, {.path = "out.bin"});
  EXPECT_TRUE(any_contains(bin.warnings, "not kept: ring"));
  EXPECT_TRUE(any_contains(bin.warnings, "intensity is unknown"));
  EXPECT_TRUE(any_contains(bin.warnings, "1 point: x rounded to float32"));
  EXPECT_EQ(column_of(*bin.source, "intensity"), (std::vector<double>{0, 0}));
  for (const char* path : {"out.ply", "out.bin", "out.csv"}) {
    EXPECT_THROW((void)convert(*rows, folder, {.path = path, .strict = true}), Unsupported) << path;
  }
  EXPECT_TRUE(
      convert(*rows, folder, {.path = "again.pcd", .data = "binary_compressed", .strict = true}).warnings.empty());
}

TEST(Convert, IntegersOfEightBytesComeBackFromTexts) {
  const TemporaryFolder folder;
  const std::string head = "FIELDS x y z u i\nSIZE 4 4 4 8 8\nTYPE F F F U I\nWIDTH 3\nDATA binary\n";
  const std::string body = raw(1.F, 2.F, 3.F, std::uint64_t{1}, std::int64_t{-1}) +
                           raw(1.F, 2.F, 3.F, ~std::uint64_t{0}, std::numeric_limits<std::int64_t>::min()) +
                           raw(1.F, 2.F, 3.F, std::uint64_t{0}, std::numeric_limits<std::int64_t>::max());
  const auto source = io::open_source_from_memory("a.pcd", to_bytes(head + body));
  for (const char* path : {"out.csv", "out.txt", "out.xyz"}) {
    const Converted text = convert(*source, folder, {.path = path, .strict = true});
    const Converted back = convert(*text.source, folder, {.path = "back.pcd", .strict = true});
    const std::string records = read_all(*back.source);
    ASSERT_EQ(records.size(), 3u * 40u) << path;
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(records.substr(40 * i + 24, 16), body.substr(28 * i + 12, 16)) << path << i;
    }
  }
}

TEST(Convert, NumbersOfATextThatNoTypeHoldsAreLost) {
  const TemporaryFolder folder;
  const std::string text = "x,y,z,a\n1,2,3,9007199254740993\n1,2,3,0.5\n";
  EXPECT_EQ(column_of(*convert(text, folder, {.path = "a.pcd"}).source, "a"),
            (std::vector<double>{9007199254740992, 0.5}));
  EXPECT_THROW((void)convert(text, folder, {.path = "a.pcd", .strict = true}), Unsupported);
}

TEST(Convert, WhatAPlyFileHasBesideItsPointsIsLost) {
  const TemporaryFolder folder;
  const std::string head =
      "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n";
  const std::string list = "property list uchar int l\n";
  const std::string face = "element face 1\nproperty list uchar int i\n";
  const auto open = [](const std::string& text) { return io::open_source_from_memory("a.ply", to_bytes(text)); };
  for (const char* path : {"out.ply", "out.pcd", "out.las"}) {
    EXPECT_NO_THROW((void)convert(*open(head + "end_header\n1 2 3\n"), folder, {.path = path, .strict = true})) << path;
    EXPECT_THROW((void)convert(*open(head + list + "end_header\n1 2 3 0\n"), folder, {.path = path, .strict = true}),
                 Unsupported)
        << path;
    EXPECT_THROW((void)convert(*open(head + face + "end_header\n1 2 3\n1 0\n"), folder, {.path = path, .strict = true}),
                 Unsupported)
        << path;
    const Converted out = convert(*open(head + face + "end_header\n1 2 3\n1 0\n"), folder, {.path = path});
    EXPECT_EQ(out.source->info().point_count, 1u) << path;
  }
}

TEST(Convert, ColoursInTheBitsOfAFloatSurviveTexts) {
  const TemporaryFolder folder;
  // Opaque and light: the bits of NaN.
  const std::string body = raw(1.F, 2.F, 3.F, 0xffc08040U, 4.F, 5.F, 6.F, 0x00102030U);
  const std::string head = "FIELDS x y z rgb\nSIZE 4 4 4 4\nTYPE F F F F\nWIDTH 2\nDATA binary\n";
  const auto source = io::open_source_from_memory("a.pcd", to_bytes(head + body));
  for (const auto& [path, data] : {std::pair{"out.pcd", "ascii"}, {"out.ply", "ascii"}, {"out.csv", ""}}) {
    const Converted out = convert(*source, folder, {.path = path, .data = data, .strict = true});
    EXPECT_EQ(column_of(*out.source, "rgb"), (std::vector<double>{0xffc08040U, 0x00102030U})) << path;
  }
  const Converted text = convert(*source, folder, {.path = "text.pcd", .data = "ascii"});
  const Converted back = convert(*text.source, folder, {.path = "back.pcd", .data = "binary"});
  EXPECT_EQ(read_all(*back.source), body);
  const Converted packed = convert(*source, folder, {.path = "packed.pcd", .data = "binary_compressed"});
  EXPECT_EQ(packed.source->info().schema.find("rgb")->type, FieldType::kFloat32);
  EXPECT_EQ(read_all(*packed.source), body);
}

TEST(Convert, ColumnsKeepNamesAndTypes) {
  const TemporaryFolder folder;
  const std::string head =
      "FIELDS x y z _ Normal ring t\nSIZE 4 4 4 1 4 2 8\nTYPE F F F U F U U\nCOUNT 1 1 1 3 2 1 1\nWIDTH 1\n";
  const auto source = io::open_source_from_memory(
      "a.pcd", to_bytes(head + "DATA ascii\n0.1 2 3 7 8 9 0.25 0.75 65535 18446744073709551615\n"));
  for (const char* data : {"binary", "binary_compressed", "ascii"}) {
    const Converted same = convert(*source, folder, {.path = "a.pcd", .data = data});
    EXPECT_EQ(io::name_of(dynamic_cast<const io::PcdMetadata&>(*same.source->info().metadata).data), data);
    EXPECT_EQ(column_of(*same.source, "normal[1]"), std::vector<double>{0.75}) << data;
  }
  const Converted csv = convert(*source, folder, {.path = "a.csv"});
  EXPECT_EQ(read_file(folder / "a.csv"),
            "x,y,z,Normal_0,Normal_1,ring,t\n0.1,2,3,0.25,0.75,65535,18446744073709551615\n");
  const Converted back = convert(*csv.source, folder, {.path = "b.pcd"});
  EXPECT_EQ(field_names(back.source->info()),
            (std::vector<std::string>{"x", "y", "z", "normal_0", "normal_1", "ring", "t"}));
  const Converted names = convert("x,y,z,\"Point ID\",,7\n1,2,3,4,5,6\n", folder, {.path = "c.ply"});
  EXPECT_EQ(field_names(names.source->info()), (std::vector<std::string>{"x", "y", "z", "point_id", "c5", "c_7"}));
  EXPECT_EQ((convert("1 2 3\n", folder, {.path = "d.xyz"}), read_file(folder / "d.xyz")), "1 2 3\n");
}

TEST(Convert, OptionsOfOtherFormatsAreRefused) {
  const TemporaryFolder folder;
  io::LasTarget las;
  las.point_format = 6;
  EXPECT_THROW((void)convert("1,2,3\n", folder, {.path = "a.pcd", .las = las}), InvalidArgument);
  EXPECT_THROW((void)convert("1,2,3\n", folder, {.path = "a.pcd", .data = "zip"}), InvalidArgument);
  EXPECT_THROW((void)convert("1,2,3\n", folder, {.path = "a.las", .data = "binary"}), InvalidArgument);
  EXPECT_THROW((void)convert("1,2,3\n", folder, {.path = "a.obj"}), Unsupported);
}

}  // namespace
}  // namespace sluice::test
