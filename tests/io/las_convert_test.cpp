// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/las_convert.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "io/las_bytes.hpp"
#include "sluice/core/error.hpp"

namespace sluice::test {
namespace {

/// What a conversion makes of all points of a file.
struct Converted {
  CloudInfo info;
  std::string records;
  std::vector<std::string> warnings;

  [[nodiscard]] Value value(const std::string& name, std::size_t row = 0) const {
    const Field* field = info.schema.find(name);
    if (field == nullptr) {
      ADD_FAILURE() << "no field " << name;
      return Value::of_signed(-1);
    }
    return field->column(reinterpret_cast<const std::byte*>(records.data()), info.schema.record_bytes).at(row);
  }
};

Converted convert(const std::string& bytes, const io::LasTarget& target) {
  const auto source = open_bytes(bytes);
  const io::LasConverter converter(source->info(), target);
  Converted out;
  out.info = converter.info();
  out.records.resize(source->info().point_count * out.info.schema.record_bytes);
  RecordBuffer buffer;
  ChunkRange range;
  while (source->next(4, range)) {
    converter.convert(source->load(range, buffer), range.first,
                      reinterpret_cast<std::byte*>(out.records.data()) + range.first * out.info.schema.record_bytes);
  }
  out.warnings = converter.warnings();
  return out;
}

std::string refusal(const std::string& bytes, const io::LasTarget& target) {
  try {
    (void)convert(bytes, target);
  } catch (const Unsupported& error) {
    return error.what();
  }
  ADD_FAILURE() << "was converted";
  return {};
}

/// One record of a legacy format.
std::string legacy(int format, int returns, int class_byte, int angle, int extra = 0) {
  std::string out(static_cast<std::size_t>(kRecordBytes[format] + extra), '\x07');
  put<std::int32_t>(out, 0, 100);
  put<std::int32_t>(out, 4, -200);
  put<std::int32_t>(out, 8, 300);
  put<std::uint16_t>(out, 12, 4000);
  out[14] = static_cast<char>(returns);
  out[15] = static_cast<char>(class_byte);
  out[16] = static_cast<char>(angle);
  out[17] = 55;
  put<std::uint16_t>(out, 18, 60000);
  return out;
}

std::string extended(int format, int returns, int flags, int classification, int angle, int extra = 0) {
  std::string out(static_cast<std::size_t>(kRecordBytes[format] + extra), '\x07');
  put<std::int32_t>(out, 0, 100);
  put<std::int32_t>(out, 4, -200);
  put<std::int32_t>(out, 8, 300);
  put<std::uint16_t>(out, 12, 4000);
  out[14] = static_cast<char>(returns);
  out[15] = static_cast<char>(flags);
  out[16] = static_cast<char>(classification);
  out[17] = 55;
  put<std::int16_t>(out, 18, static_cast<std::int16_t>(angle));
  put<std::uint16_t>(out, 20, 60000);
  return out;
}

std::string file_of(int minor, int format, const std::string& record, std::uint64_t points = 1, int extra = 0) {
  LasBytes las{.minor = minor, .format = format, .extra = extra, .points = points};
  las.encoding = minor >= 4 ? 0x10 : 0;
  las.records = record;
  return las.build();
}

TEST(LasConvert, RaisesLegacyFields) {
  for (int flags = 0; flags < 8; ++flags) {
    for (int top = 0; top < 4; ++top) {
      const std::string bytes = file_of(2, 3, legacy(3, top << 6 | 5 << 3 | 2, flags << 5 | 9, -15, 4), 1, 4);
      const Converted out = convert(bytes, {.point_format = 8});
      EXPECT_EQ(metadata_of(out.info).header.version(), "1.4");
      EXPECT_EQ(out.info.schema.record_bytes, 42u);
      EXPECT_EQ(out.value("x").i, 100);
      EXPECT_EQ(out.value("y").i, -200);
      EXPECT_EQ(out.value("intensity").u, 4000u);
      EXPECT_EQ(out.value("return_number").u, 2u);
      EXPECT_EQ(out.value("number_of_returns").u, 5u);
      EXPECT_EQ(out.value("synthetic").u, static_cast<unsigned>(flags & 1));
      EXPECT_EQ(out.value("key_point").u, static_cast<unsigned>(flags >> 1 & 1));
      EXPECT_EQ(out.value("withheld").u, static_cast<unsigned>(flags >> 2));
      EXPECT_EQ(out.value("overlap").u, 0u);
      EXPECT_EQ(out.value("scanner_channel").u, 0u);
      EXPECT_EQ(out.value("scan_direction_flag").u, static_cast<unsigned>(top & 1));
      EXPECT_EQ(out.value("edge_of_flight_line").u, static_cast<unsigned>(top >> 1));
      EXPECT_EQ(out.value("classification").u, 9u);
      EXPECT_EQ(out.value("scan_angle").i, -2500);
      EXPECT_EQ(out.value("user_data").u, 55u);
      EXPECT_EQ(out.value("point_source_id").u, 60000u);
      EXPECT_EQ(out.value("red").u, 0x0707u);
      EXPECT_EQ(out.value("nir").u, 0u);
      EXPECT_EQ(out.records.substr(38), "\x07\x07\x07\x07");
      EXPECT_TRUE(any_contains(out.warnings, "near infrared"));

      // And back again without loss.
      const std::string raised = file_of(4, 8, out.records, 1, 4);
      const Converted back = convert(raised, {.point_format = 3});
      EXPECT_EQ(back.records, legacy(3, top << 6 | 5 << 3 | 2, flags << 5 | 9, -15, 4));
    }
  }
}

TEST(LasConvert, EveryScanRankSurvivesThereAndBack) {
  std::string records;
  for (int angle = -128; angle < 128; ++angle) records += legacy(1, 9, 2, angle);
  const Converted up = convert(file_of(2, 1, records, 256), {.point_format = 6});
  for (int angle = -128; angle < 128; ++angle) {
    const auto steps = static_cast<double>(up.value("scan_angle", static_cast<std::size_t>(angle + 128)).i);
    EXPECT_LE(std::abs(steps * 0.006 - angle), 0.00301) << angle;
  }
  const Converted down = convert(file_of(4, 6, up.records, 256), {.point_format = 1, .strict = true});
  EXPECT_EQ(down.records, records);
}

TEST(LasConvert, OverlapClassAndFlag) {
  Converted out = convert(file_of(2, 1, legacy(1, 9, 12, 0)), {.point_format = 6});
  EXPECT_EQ(out.value("classification").u, 1u);
  EXPECT_EQ(out.value("overlap").u, 1u);
  EXPECT_TRUE(any_contains(out.warnings, "1 point: class 12"));

  out = convert(file_of(4, 6, extended(6, 0x11, 0x08, 1, 0)), {.point_format = 1});
  EXPECT_EQ(out.value("classification").u, 12u);
  EXPECT_TRUE(any_contains(out.warnings, "became class 12"));
  out = convert(file_of(4, 6, extended(6, 0x11, 0x08, 2, 0)), {.point_format = 1});
  EXPECT_EQ(out.value("classification").u, 2u);
  EXPECT_TRUE(any_contains(out.warnings, "overlap flag is lost"));
  out = convert(file_of(4, 6, extended(6, 0x11, 0x00, 12, 0)), {.point_format = 1});
  EXPECT_EQ(out.value("classification").u, 12u);
  EXPECT_TRUE(any_contains(out.warnings, "now means overlap"));
  out = convert(file_of(4, 6, extended(6, 0x11, 0x08, 12, 0)), {.point_format = 1, .strict = true});
  EXPECT_EQ(out.value("classification").u, 12u);
}

TEST(LasConvert, WhatDoesNotFitIsRefusedByPointAndField) {
  const std::string fine = extended(6, 0x77, 0, 31, 0);
  const auto lowered = [&](const std::string& record) {
    return refusal(file_of(4, 6, fine + fine + fine + fine + fine + record, 6), {.point_format = 1});
  };
  EXPECT_NE(lowered(extended(6, 0x11, 0, 32, 0)).find("test.las: point 5: classification 32 does not fit"),
            std::string::npos);
  EXPECT_NE(lowered(extended(6, 0x18, 0, 2, 0)).find("return_number 8"), std::string::npos);
  EXPECT_NE(lowered(extended(6, 0x81, 0, 2, 0)).find("number_of_returns 8"), std::string::npos);
  EXPECT_NE(lowered(extended(6, 0x11, 0, 2, 21251)).find("scan_angle 127.506"), std::string::npos);
  EXPECT_NE(lowered(extended(6, 0x11, 0, 2, -32768)).find("scan_angle -196.608"), std::string::npos);
  const Converted at_the_edge = convert(file_of(4, 6, extended(6, 0x11, 0, 2, 21249)), {.point_format = 1});
  EXPECT_EQ(at_the_edge.value("scan_angle").i, 127);
  EXPECT_TRUE(any_contains(at_the_edge.warnings, "rounded to whole degrees"));
}

TEST(LasConvert, StrictRefusesEveryLoss) {
  const auto strict = [](const std::string& bytes, io::LasTarget target) {
    target.strict = true;
    return refusal(bytes, target);
  };
  EXPECT_NE(strict(file_of(2, 3, legacy(3, 9, 2, 0)), {.point_format = 1}).find("colours"), std::string::npos);
  EXPECT_NE(strict(file_of(2, 3, legacy(3, 9, 2, 0)), {.point_format = 2}).find("GPS"), std::string::npos);
  EXPECT_NE(strict(file_of(4, 8, extended(8, 17, 0, 2, 0)), {.point_format = 7}).find("infrared"), std::string::npos);
  EXPECT_NE(strict(file_of(3, 4, legacy(4, 9, 2, 0)), {.point_format = 1}).find("waveforms"), std::string::npos);
  EXPECT_NE(strict(file_of(4, 6, extended(6, 17, 0x20, 2, 0)), {.point_format = 1}).find("channel"), std::string::npos);
  EXPECT_NE(strict(file_of(4, 6, extended(6, 17, 0x08, 2, 0)), {.point_format = 1}).find("overlap"), std::string::npos);
  EXPECT_NE(strict(file_of(4, 6, extended(6, 17, 0, 2, 1)), {.point_format = 1}).find("scan angle"), std::string::npos);
  EXPECT_NE(strict(file_of(2, 1, legacy(1, 9, 2, 0)), {.scale = {{0.03, 0.01, 0.5}}}).find("rounded"),
            std::string::npos);
}

TEST(LasConvert, CoordinatesAreDividedExactly) {
  LasBytes las{.minor = 2, .format = 0, .points = 9};
  las.scale = {0.001, 0.01, 0.5};
  las.offset = {0.0, 100.0, -3.0};
  const std::int32_t raws[9] = {5, 15, 25, -5, -15, 2147483647, -2147483647, 0, 14};
  las.records.assign(9 * 20, '\0');
  for (std::size_t i = 0; i < 9; ++i) {
    put(las.records, 20 * i, raws[i]);
    put(las.records, 20 * i + 4, raws[i] / 100);
    put(las.records, 20 * i + 8, raws[i] / 100);
  }
  const Converted out = convert(las.build(), {.scale = {{0.01, 0.001, 0.5}}, .offset = {{0.0, 95.5, 0.0}}});
  EXPECT_EQ(out.info.frame.scale[0], 0.01);
  EXPECT_EQ(out.info.frame.offset[1], 95.5);
  const std::int64_t wanted[9] = {0, 2, 2, 0, -2, 214748365, -214748365, 0, 1};
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(out.value("x", i).i, wanted[i]) << raws[i];
    EXPECT_EQ(out.value("y", i).i, std::int64_t{raws[i] / 100} * 10 + 4500);
    EXPECT_EQ(out.value("z", i).i, std::int64_t{raws[i] / 100} - 6);
  }
  EXPECT_TRUE(any_contains(out.warnings, "coordinates rounded"));
}

TEST(LasConvert, RequantisingAgreesWithLongDivision) {
  // Odd decimals that need 128 bits; a long double is near enough to tell a wrong neighbour.
  LasBytes las{.minor = 2, .format = 0, .points = 200, .seed = 5};
  las.scale = {7.13160261843867e-08, 0.0000123, -0.25};
  las.offset = {-44528.753, 1234567.875, 12.5};
  const std::string bytes = las.build();
  const Converted out = convert(bytes, {.scale = {{0.0001, 0.001, 0.3}}, .offset = {{-44500.0, 1230000.0, 0.05}}});
  const std::array<long double, 3> scale{7.13160261843867e-08L, 0.0000123L, -0.25L};
  const std::array<long double, 3> offset{-44528.753L, 1234567.875L, 12.5L};
  const std::array<long double, 3> new_scale{0.0001L, 0.001L, 0.3L};
  const std::array<long double, 3> new_offset{-44500.0L, 1230000.0L, 0.05L};
  const char* axes[3] = {"x", "y", "z"};
  for (std::size_t i = 0; i < 200; ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto raw = static_cast<long double>(get<std::int32_t>(las.records, 20 * i + 4 * axis));
      const long double exact = (raw * scale[axis] + (offset[axis] - new_offset[axis])) / new_scale[axis];
      const auto got = static_cast<long double>(out.value(axes[axis], i).i);
      EXPECT_LE(std::abs(exact - got), 0.5L + 1e-6L) << axes[axis] << " " << i;
    }
  }
}

TEST(LasConvert, OverflowNamesAxisAndValue) {
  LasBytes las{.minor = 2, .format = 0, .points = 1};
  las.scale = {0.01, 0.01, 0.01};
  las.offset = {0.0, 0.0, 0.0};
  las.records.assign(20, '\0');
  put<std::int32_t>(las.records, 4, 769123955);
  const std::string text = refusal(las.build(), {.scale = {{0.001, 0.001, 0.001}}});
  EXPECT_NE(text.find("point 0: y 7691239.55 does not fit 32 bits with scale 0.001 and offset 0"), std::string::npos)
      << text;
  const Converted fits = convert(las.build(), {.scale = {{0.001, 0.001, 0.001}}, .offset = {{0.0, 7e6, 0.0}}});
  EXPECT_EQ(fits.value("y").i, 691239550);
  EXPECT_THROW((void)convert(las.build(), {.scale = {{1e-300, 1.0, 1.0}}}), Unsupported);
  EXPECT_THROW((void)convert(las.build(), {.scale = {{0.0, 1.0, 1.0}}}), InvalidArgument);
  EXPECT_THROW((void)convert(las.build(), {.scale = {{1e300, 1.0, 1.0}}}), InvalidArgument);
  EXPECT_THROW((void)convert(las.build(), {.offset = {{NAN, 1.0, 1.0}}}), InvalidArgument);
}

TEST(LasConvert, VersionsFollowFormats) {
  const auto version = [](int minor, int format, const io::LasTarget& target) {
    LasBytes las{.minor = minor, .format = format, .points = 0, .encoding = 0x10};
    return metadata_of(convert(las.build(), target).info).header.version();
  };
  EXPECT_EQ(version(0, 0, {.point_format = 1}), "1.0");
  EXPECT_EQ(version(0, 0, {.point_format = 2}), "1.2");
  EXPECT_EQ(version(1, 0, {.point_format = 5}), "1.3");
  EXPECT_EQ(version(2, 3, {.point_format = 7}), "1.4");
  EXPECT_EQ(version(4, 7, {.point_format = 3}), "1.4");
  EXPECT_EQ(version(5, 7, {.point_format = 3}), "1.4");
  EXPECT_EQ(version(5, 7, {.point_format = 10}), "1.5");
  EXPECT_EQ(version(4, 7, {.version_minor = 5}), "1.5");
  EXPECT_EQ(version(4, 7, {.point_format = 3, .version_minor = 2}), "1.2");
  LasBytes las{.minor = 4, .format = 6, .points = 0, .encoding = 0x10};
  EXPECT_THROW((void)convert(las.build(), {.point_format = 11}), InvalidArgument);
  EXPECT_THROW((void)convert(las.build(), {.point_format = -1}), InvalidArgument);
  EXPECT_THROW((void)convert(las.build(), {.version_minor = 6}), InvalidArgument);
  EXPECT_THROW((void)convert(las.build(), {.version_minor = 3}), InvalidArgument);
  EXPECT_THROW((void)convert(las.build(), {.point_format = 3, .version_minor = 5}), InvalidArgument);
}

TEST(LasConvert, TrailingRecordsFollowTheVersion) {
  LasBytes las{.minor = 4, .format = 4, .points = 3, .encoding = 0x12};
  las.evlrs = {
      {"small", 1, "fits a VLR"}, {"LASF_Spec", 65535, std::string(90000, 'w')}, {"large", 2, std::string(70000, 'x')}};
  las.waveform_evlr = 1;
  Converted out = convert(las.build(), {.version_minor = 3});
  const io::LasMetadata& old = metadata_of(out.info);
  EXPECT_TRUE(old.evlrs.empty());
  ASSERT_EQ(old.vlrs.size(), 1u);
  EXPECT_TRUE(old.vlrs[0].is("small", 1));
  ASSERT_TRUE(old.waveform.has_value());
  EXPECT_EQ(old.waveform->payload.size(), 90000u);
  EXPECT_TRUE(any_contains(out.warnings, "'large' 2 of 70000 bytes is lost"));
  EXPECT_EQ(old.header.global_encoding, 2);

  LasBytes lone{.minor = 3, .format = 4, .points = 3, .encoding = 2};
  lone.lone_waveform = "waves";
  out = convert(lone.build(), {.version_minor = 4});
  EXPECT_EQ(metadata_of(out.info).waveform_evlr, 0u);
  EXPECT_FALSE(metadata_of(out.info).waveform.has_value());
  out = convert(lone.build(), {.point_format = 1});
  EXPECT_FALSE(metadata_of(out.info).has_waveforms());
  EXPECT_EQ(metadata_of(out.info).header.global_encoding, 0);
}

TEST(LasConvert, CoordinateSystemAndTimeMarks) {
  LasBytes las{.minor = 2, .format = 1, .points = 1, .encoding = 1};
  las.vlrs = {{"LASF_Projection", 34735, "keys"}};
  Converted out = convert(las.build(), {.point_format = 6});
  EXPECT_TRUE(any_contains(out.warnings, "GeoTIFF keys only"));
  EXPECT_EQ(metadata_of(out.info).header.global_encoding, 1);
  EXPECT_NE(refusal(las.build(), {.point_format = 6, .strict = true}).find("GeoTIFF keys only"), std::string::npos);
  las.vlrs.push_back({"LASF_Projection", 2112, std::string("WKT\0", 4)});
  out = convert(las.build(), {.point_format = 6});
  EXPECT_FALSE(any_contains(out.warnings, "GeoTIFF"));
  EXPECT_EQ(metadata_of(out.info).header.global_encoding, 0x11);
  out = convert(las.build(), {.version_minor = 1});
  EXPECT_TRUE(any_contains(out.warnings, "adjusted standard times is lost"));
  EXPECT_EQ(metadata_of(out.info).header.global_encoding, 0);

  LasBytes newest{.minor = 5, .format = 6, .points = 1, .encoding = 0x50};
  out = convert(newest.build(), {.version_minor = 4});
  EXPECT_TRUE(any_contains(out.warnings, "time offset is lost"));
  EXPECT_EQ(metadata_of(out.info).header.global_encoding, 0x10);
}

TEST(LasConvert, NothingAskedChangesNothing) {
  ::setenv("SOURCE_DATE_EPOCH", kEpoch, 1);
  const TemporaryFolder folder;
  for (int minor = 0; minor <= 5; ++minor) {
    for (int format = minor < 5 ? 0 : 6; format <= (minor <= 1 ? 1 : minor == 2 ? 3 : minor == 3 ? 5 : 10); ++format) {
      LasBytes las{.minor = minor, .format = format, .extra = 2, .points = 10};
      las.encoding = minor >= 4 ? 0x10 : 0;
      las.gap = minor == 0 ? "\xdd\xcc" : "";
      las.vlrs = {{"me", 1, "kept"}};
      const std::string bytes = las.build();
      const Converted out = convert(bytes, {.strict = true});
      EXPECT_TRUE(out.warnings.empty()) << joined(out.warnings);
      const auto sink = io::create_sink(folder / "out.las", out.info, {.overwrite = true, .generator = kGenerator});
      EXPECT_EQ(sink->reserve(10), 0u);
      sink->store(0, {reinterpret_cast<const std::byte*>(out.records.data()), 10, out.info.schema.record_bytes});
      sink->seal();
      sink->finish();
      EXPECT_EQ(read_file(folder / "out.las"), bytes) << minor << " " << format;
    }
  }
}

TEST(LasConvert, EveryPairOfFormatsGivesAReadableFile) {
  const TemporaryFolder folder;
  for (int from = 0; from <= 10; ++from) {
    for (int to = 0; to <= 10; ++to) {
      LasBytes las{.minor = 4, .format = from, .extra = 5, .points = 4, .encoding = 0x10};
      const std::string record = from <= 5 ? legacy(from, 9, 2, 12, 5) : extended(from, 0x21, 0, 2, 2000, 5);
      las.records = record + record + record + record;
      const Converted out = convert(las.build(), {.point_format = to});
      const auto sink = io::create_sink(folder / "out.las", out.info, {.overwrite = true});
      EXPECT_EQ(sink->reserve(4), 0u);
      sink->store(0, {reinterpret_cast<const std::byte*>(out.records.data()), 4, out.info.schema.record_bytes});
      sink->seal();
      sink->finish();
      const auto again = io::open_source(folder / "out.las");
      EXPECT_EQ(read_all(*again), out.records);
      EXPECT_EQ(metadata_of(again->info()).header.point_format, to);
      EXPECT_EQ(out.value("classification").u, 2u);
      EXPECT_EQ(out.value("point_source_id", 3).u, 60000u);
      EXPECT_EQ(out.value("return_number").u, 1u);
      EXPECT_EQ(out.records.substr(out.records.size() - 5), "\x07\x07\x07\x07\x07");
      // Groups that both sides have keep their bytes.
      for (const char* name : {"gps_time", "red", "blue", "nir", "wave_packet_offset", "wave_z_t"}) {
        const auto source = open_bytes(las.build());
        const Field* before = source->info().schema.find(name);
        const Field* after = out.info.schema.find(name);
        if (after == nullptr) continue;
        const std::uint64_t bits = before == nullptr ? 0 : 0x0707070707070707ULL;
        std::uint64_t got = 0;
        std::memcpy(&got, out.records.data() + after->offset, field_bytes(after->type));
        std::uint64_t wanted = 0;
        std::memcpy(&wanted, &bits, field_bytes(after->type));
        EXPECT_EQ(got, wanted) << name << " " << from << " to " << to;
      }
    }
  }
}

}  // namespace
}  // namespace sluice::test
