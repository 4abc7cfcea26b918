// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "io/las_bytes.hpp"
#include "sluice/core/error.hpp"
#include "sluice/io/format.hpp"

namespace sluice::test {
namespace {

/// Expects a FormatError with this offset, and field and text that contain these parts.
void expect_refused(const std::string& bytes, std::uint64_t offset, const std::string& field, const std::string& text) {
  try {
    const auto source = open_bytes(bytes);
    ADD_FAILURE() << "was read: " << field << "\n" << joined(source->info().warnings);
  } catch (const FormatError& error) {
    EXPECT_EQ(error.path(), "test.las");
    EXPECT_EQ(error.offset(), offset) << error.what();
    EXPECT_NE(error.field().find(field), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

void expect_warning(const std::string& bytes, const std::string& part) {
  const auto source = open_bytes(bytes);
  EXPECT_TRUE(any_contains(source->info().warnings, part)) << part << "\nnot in\n" << joined(source->info().warnings);
}

std::int64_t whole(const CloudInfo& info, const std::string& records, std::size_t row, const std::string& name) {
  const Field* field = info.schema.find(name);
  if (field == nullptr) {
    ADD_FAILURE() << "no field " << name;
    return -1;
  }
  const Value value =
      field->column(reinterpret_cast<const std::byte*>(records.data()), info.schema.record_bytes).at(row);
  return value.kind == Value::Kind::kReal ? static_cast<std::int64_t>(value.r) : value.i;
}

class EveryLayout : public ::testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(EveryLayout, IsReadWithoutAWord) {
  const auto [minor, format] = GetParam();
  LasBytes las{.minor = minor, .format = format};
  las.encoding = minor >= 4 ? 0x10 : 0;
  const std::string bytes = las.build();
  const auto source = open_bytes(bytes);
  const CloudInfo& info = source->info();
  EXPECT_EQ(info.point_count, 25u);
  EXPECT_EQ(read_all(*source), las.records);
  const bool known = format <= (minor <= 1 ? 1 : minor == 2 ? 3 : minor == 3 ? 5 : 10) && (minor < 5 || format >= 6);
  EXPECT_EQ(info.warnings.size(), known ? 0u : 1u) << joined(info.warnings);
  EXPECT_EQ(any_contains(info.warnings, "does not have point format"), !known);
  EXPECT_EQ(info.frame.kind, CoordinateKind::kLattice);
  EXPECT_EQ(info.frame.scale[1], 0.001);
  EXPECT_EQ(info.frame.offset[1], -20.25);
  const io::LasHeader& header = metadata_of(info).header;
  EXPECT_EQ(header.version_minor, minor);
  EXPECT_EQ(header.point_format, format);
  EXPECT_EQ(info.bounds.min[2], get<double>(bytes, 187 + 32));
  EXPECT_FALSE(io::was_recovered(*source));
  // Fields cover each byte of the record without overlap of bits.
  std::vector<int> bits(static_cast<std::size_t>(las.record_bytes()) * 8, 0);
  for (const Field& field : info.schema.fields) {
    const unsigned count = field.bit_count != 0 ? field.bit_count : 8 * field_bytes(field.type);
    for (unsigned bit = 0; bit < count; ++bit) ++bits.at(8 * field.offset + field.bit_shift + bit);
  }
  for (std::size_t bit = 0; bit < bits.size(); ++bit) EXPECT_EQ(bits[bit], 1) << "bit " << bit;
}

TEST_P(EveryLayout, EveryPrefixIsRefusedOrReadAsFarAsItGoes) {
  const auto [minor, format] = GetParam();
  LasBytes las{.minor = minor, .format = format, .extra = 3, .points = 4};
  las.vlrs = {{"LASF_Spec", 4, extra_entry(1, "one") + extra_entry(3, "two")}, {"someone", 9, "payload"}};
  if (minor >= 4) las.evlrs = {{"someone", 10, "a payload behind the points"}};
  const std::string bytes = las.build();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::string part = bytes.substr(0, length);
    // Whole points but broken EVLRs, or fewer points than counted, or no sound header: all of them are errors.
    EXPECT_THROW(open_bytes(part), Error) << length;
    try {
      const auto source = open_bytes(part, true);
      EXPECT_TRUE(io::was_recovered(*source)) << length;
      const std::string records = read_all(*source);
      EXPECT_EQ(records, las.records.substr(0, records.size()));
      const std::size_t present = std::min(length, las.points_end) - las.points_at;
      EXPECT_EQ(records.size(),
                present / static_cast<std::size_t>(las.record_bytes()) * static_cast<std::size_t>(las.record_bytes()));
      EXPECT_GE(length, las.points_at);
    } catch (const FormatError&) {
      EXPECT_LT(length, las.points_at) << "the header is whole, so points can be recovered";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Las, EveryLayout, ::testing::Combine(::testing::Range(0, 6), ::testing::Range(0, 11)),
                         [](const auto& tested) {
                           return "v1_" + std::to_string(std::get<0>(tested.param)) + "_format_" +
                                  std::to_string(std::get<1>(tested.param));
                         });

TEST(LasFields, LegacyBitsAreWhereTheyBelong) {
  LasBytes las{.minor = 2, .format = 3, .points = 1};
  las.records.assign(34, '\0');
  put<std::int32_t>(las.records, 0, -5);
  put<std::uint16_t>(las.records, 12, 65000);
  las.records[14] = static_cast<char>(0b1'0'101'011);
  las.records[15] = static_cast<char>(0b1'0'1'01001);
  las.records[16] = static_cast<char>(-17);
  las.records[17] = static_cast<char>(200);
  put<std::uint16_t>(las.records, 18, 40000);
  put<double>(las.records, 20, 123.0);
  put<std::uint16_t>(las.records, 28, 1);
  put<std::uint16_t>(las.records, 30, 2);
  put<std::uint16_t>(las.records, 32, 3);
  const auto source = open_bytes(las.build());
  const auto value = [&](const char* name) { return whole(source->info(), las.records, 0, name); };
  EXPECT_EQ(value("x"), -5);
  EXPECT_EQ(value("intensity"), 65000);
  EXPECT_EQ(value("return_number"), 3);
  EXPECT_EQ(value("number_of_returns"), 5);
  EXPECT_EQ(value("scan_direction_flag"), 0);
  EXPECT_EQ(value("edge_of_flight_line"), 1);
  EXPECT_EQ(value("classification"), 9);
  EXPECT_EQ(value("synthetic"), 1);
  EXPECT_EQ(value("key_point"), 0);
  EXPECT_EQ(value("withheld"), 1);
  EXPECT_EQ(value("scan_angle"), -17);
  EXPECT_EQ(value("user_data"), 200);
  EXPECT_EQ(value("point_source_id"), 40000);
  EXPECT_EQ(value("gps_time"), 123);
  EXPECT_EQ(value("red"), 1);
  EXPECT_EQ(value("green"), 2);
  EXPECT_EQ(value("BLUE"), 3);
  EXPECT_EQ(source->info().schema.find("overlap"), nullptr);
  EXPECT_FALSE(source->info().schema.find("scan_angle")->scaled);
}

TEST(LasFields, ExtendedBitsAreWhereTheyBelong) {
  LasBytes las{.minor = 4, .format = 10, .points = 1};
  las.records.assign(67, '\0');
  las.records[14] = static_cast<char>(0b1110'1011);
  las.records[15] = static_cast<char>(0b1'0'10'1'0'1'0);
  las.records[16] = static_cast<char>(250);
  las.records[17] = static_cast<char>(33);
  put<std::int16_t>(las.records, 18, -15000);
  put<std::uint16_t>(las.records, 20, 50000);
  put<double>(las.records, 22, 77.0);
  for (int i = 0; i < 4; ++i)
    put(las.records, static_cast<std::size_t>(30 + 2 * i), static_cast<std::uint16_t>(10 + i));
  las.records[38] = 4;
  put<std::uint64_t>(las.records, 39, 1ULL << 40);
  put<std::uint32_t>(las.records, 47, 256);
  for (int i = 0; i < 4; ++i) put(las.records, static_cast<std::size_t>(51 + 4 * i), static_cast<float>(100 + i));
  const auto source = open_bytes(las.build());
  const auto value = [&](const char* name) { return whole(source->info(), las.records, 0, name); };
  EXPECT_EQ(value("return_number"), 11);
  EXPECT_EQ(value("number_of_returns"), 14);
  EXPECT_EQ(value("synthetic"), 0);
  EXPECT_EQ(value("key_point"), 1);
  EXPECT_EQ(value("withheld"), 0);
  EXPECT_EQ(value("overlap"), 1);
  EXPECT_EQ(value("scanner_channel"), 2);
  EXPECT_EQ(value("scan_direction_flag"), 0);
  EXPECT_EQ(value("edge_of_flight_line"), 1);
  EXPECT_EQ(value("classification"), 250);
  EXPECT_EQ(value("user_data"), 33);
  EXPECT_EQ(value("scan_angle"), -15000);
  EXPECT_TRUE(source->info().schema.find("scan_angle")->scaled);
  EXPECT_EQ(source->info().schema.find("scan_angle")->scale, 0.006);
  EXPECT_EQ(value("point_source_id"), 50000);
  EXPECT_EQ(value("gps_time"), 77);
  EXPECT_EQ(value("red"), 10);
  EXPECT_EQ(value("nir"), 13);
  EXPECT_EQ(value("wave_packet_index"), 4);
  EXPECT_EQ(value("wave_packet_offset"), std::int64_t{1} << 40);
  EXPECT_EQ(value("wave_packet_size"), 256);
  EXPECT_EQ(value("wave_return_location"), 100);
  EXPECT_EQ(value("wave_x_t"), 101);
  EXPECT_EQ(value("wave_z_t"), 103);
}

TEST(LasExtraBytes, ScalarsArraysScalesAndNames) {
  LasBytes las{.minor = 4, .format = 6, .extra = 1 + 8 + 3 * 4 + 5 + 2 + 8 + 2, .points = 1, .encoding = 0x10};
  las.vlrs = {{"LASF_Spec", 4,
               extra_entry(1, "Ring") + extra_entry(8, "Tree ID", 8 | 16, {0.5}, {-3.0}) +
                   extra_entry(26, "normal", 8, {0.1, 0.2, 0.3})}};
  las.evlrs = {{"LASF_Spec", 4,
                extra_entry(0, "blob", 5) + extra_entry(4, "Ring") + extra_entry(7, "2nd-id") + extra_entry(3, "")}};
  las.records.assign(30, '\x01');
  std::string tail(38, '\0');
  tail[0] = 9;
  put<std::int64_t>(tail, 1, std::numeric_limits<std::int64_t>::min() + 1);
  put<std::int32_t>(tail, 9, 1);
  put<std::int32_t>(tail, 13, -2);
  put<std::int32_t>(tail, 17, 3);
  put<std::int16_t>(tail, 26, -300);
  put<std::uint64_t>(tail, 28, std::numeric_limits<std::uint64_t>::max() - 1);
  put<std::uint16_t>(tail, 36, 4321);
  las.records += tail;
  const auto source = open_bytes(las.build());
  const CloudInfo& info = source->info();
  const auto value = [&](const char* name) { return whole(info, las.records, 0, name); };
  EXPECT_TRUE(info.warnings.empty()) << joined(info.warnings);
  EXPECT_EQ(value("ring"), 9);
  EXPECT_EQ(info.schema.find("ring")->description, "about Ring");
  EXPECT_EQ(value("tree_id"), std::numeric_limits<std::int64_t>::min() + 1);
  EXPECT_TRUE(info.schema.find("tree_id")->scaled);
  EXPECT_EQ(info.schema.find("tree_id")->scale, 0.5);
  EXPECT_EQ(info.schema.find("tree_id")->shift, -3.0);
  EXPECT_EQ(value("normal[0]"), 1);
  EXPECT_EQ(value("normal[1]"), -2);
  EXPECT_EQ(value("normal[2]"), 3);
  EXPECT_EQ(info.schema.find("normal[2]")->scale, 0.3);
  EXPECT_EQ(info.schema.find("normal[2]")->shift, 0.0);
  EXPECT_EQ(value("ring_2"), -300);
  EXPECT_FALSE(info.schema.find("ring_2")->scaled);
  EXPECT_EQ(static_cast<std::uint64_t>(value("_2nd_id")), std::numeric_limits<std::uint64_t>::max() - 1);
  EXPECT_EQ(value("extra_6"), 4321);
  EXPECT_EQ(info.schema.find("blob"), nullptr);
  EXPECT_EQ(metadata_of(info).extra_bytes.size(), 7u);
}

TEST(LasExtraBytes, WhatDoesNotFitIsKeptWithoutAField) {
  LasBytes las{.minor = 2, .format = 0, .extra = 3};
  las.vlrs = {{"LASF_Spec", 4, extra_entry(3, "fits") + extra_entry(10, "too long") + extra_entry(1, "after")}};
  auto source = open_bytes(las.build());
  EXPECT_NE(source->info().schema.find("fits"), nullptr);
  EXPECT_EQ(source->info().schema.find("too_long"), nullptr);
  EXPECT_EQ(source->info().schema.find("after"), nullptr);
  EXPECT_TRUE(any_contains(source->info().warnings, "'too long' needs 8 bytes, the record has 1 left"));
  EXPECT_EQ(read_all(*source), las.records);

  las.vlrs[0].payload = extra_entry(31, "odd type");
  expect_warning(las.build(), "unknown type 31");
  las.vlrs[0].payload = extra_entry(1, "short");
  expect_warning(las.build(), "2 more bytes of each record are not described");
  las.vlrs.clear();
  expect_warning(las.build(), "3 bytes of each record are not described");
  las.vlrs = {{"LASF_Spec", 4, extra_entry(1, "cut") + "half an entry"}};
  expect_warning(las.build(), "no multiple of 192");
  las.vlrs = {{"LASF_Spec", 4, extra_entry(1, "zero", 8, {0.0})}};
  expect_warning(las.build(), "a scale that is zero or not finite");
  EXPECT_FALSE(open_bytes(las.build())->info().schema.find("zero")->scaled);
}

TEST(LasMetadataRead, HeaderVlrsEvlrsAndCoordinateSystem) {
  LasBytes las{.minor = 5, .format = 7, .encoding = 0x10 | 0x01 | 0x40};
  las.vendor = "vendor";
  las.vlrs = {{"LASF_Projection", 2112, std::string("LOCAL_CS[\"x\"]\0", 14)}, {"me", 3, "", "twelve chars", 0xaabb}};
  las.evlrs = {{"me", 4, std::string(70000, 'e')}};
  std::string bytes = las.build();
  put<std::uint16_t>(bytes, 391, 17);
  const auto source = open_bytes(bytes);
  const io::LasMetadata& metadata = metadata_of(source->info());
  EXPECT_EQ(metadata.format(), "las");
  EXPECT_EQ(metadata.header.version(), "1.5");
  EXPECT_EQ(metadata.header.file_source_id, 77);
  EXPECT_EQ(metadata.header.header_size, 399);
  EXPECT_EQ(metadata.header.vendor.size(), 6u);
  EXPECT_EQ(metadata.header.creation_day, 318);
  EXPECT_EQ(metadata.header.creation_year, 2023);
  EXPECT_EQ(metadata.header.count, 25u);
  EXPECT_EQ(metadata.header.time_offset, 17);
  EXPECT_EQ(metadata.header.max_gps_time, get<double>(bytes, 375));
  EXPECT_EQ(metadata.wkt(), "LOCAL_CS[\"x\"]");
  EXPECT_FALSE(metadata.has_geotiff());
  EXPECT_EQ(metadata.gps_time_type(), io::GpsTimeType::kOffset);
  ASSERT_EQ(metadata.vlrs.size(), 2u);
  EXPECT_TRUE(metadata.vlrs[1].is("me", 3));
  EXPECT_FALSE(metadata.vlrs[1].is("m", 3));
  EXPECT_EQ(metadata.vlrs[1].reserved, 0xaabb);
  EXPECT_EQ(metadata.vlrs[1].description_text(), "twelve chars");
  ASSERT_EQ(metadata.evlrs.size(), 1u);
  EXPECT_EQ(metadata.evlrs[0].payload.size(), 70000u);
  EXPECT_FALSE(metadata.has_waveforms());
  EXPECT_TRUE(source->info().warnings.empty()) << joined(source->info().warnings);
}

TEST(LasDamage, IsRefusedByOffsetAndField) {
  LasBytes las{.minor = 4, .format = 6, .encoding = 0x10};
  las.vlrs = {{"me", 1, "first"}, {"me", 2, "second"}};
  las.evlrs = {{"me", 3, "third"}, {"me", 4, "fourth"}};
  const std::string sound = las.build();
  const auto with = [&](const std::function<void(std::string&)>& change) {
    std::string out = sound;
    change(out);
    return out;
  };
  expect_refused("", 0, "signature", "empty");
  expect_refused("LAS", 0, "signature", "no known");
  expect_refused("PLYF" + sound.substr(4), 0, "signature", "no known");
  expect_refused(sound.substr(0, 226), 226, "header", "at least 227");
  expect_refused(with([](auto& b) { b[24] = 2; }), 24, "version", "2.4");
  expect_refused(with([](auto& b) { b[25] = 6; }), 24, "version", "1.6");
  expect_refused(with([](auto& b) { put<std::uint16_t>(b, 94, 374); }), 94, "header size", "has 375");
  expect_refused(with([](auto& b) { put<std::uint16_t>(b, 94, 65535); }), 94, "header size", "ends after");
  expect_refused(with([](auto& b) { put<std::uint32_t>(b, 96, 374); }), 96, "offset to point data",
                 "inside the header");
  expect_refused(with([](auto& b) { put<std::uint32_t>(b, 96, 4000000000u); }), 96, "offset to point data",
                 "behind the end");
  expect_refused(with([](auto& b) { b[104] = 11; }), 104, "point data record format", "11 is not known");
  expect_refused(with([](auto& b) { put<double>(b, 139, -1e300); }), 139, "y scale factor", "not finite");
  expect_refused(with([](auto& b) { b[104] = 63; }), 104, "point data record format", "63 is not known");
  expect_refused(with([](auto& b) { put<std::uint16_t>(b, 105, 29); }), 105, "point data record length", "needs 30");
  expect_refused(with([](auto& b) { put<std::uint16_t>(b, 105, 0); }), 105, "point data record length", "0 bytes");
  expect_refused(with([](auto& b) { put<std::uint32_t>(b, 100, 3); }), 494, "VLR 3 of 3", "begin 0 bytes on");
  expect_refused(with([](auto& b) { put<std::uint32_t>(b, 100, 0xffffffffu); }), 494, "VLR 3 of", "begin 0 bytes on");
  expect_refused(with([](auto& b) { put<std::uint16_t>(b, 375 + 20, 65535); }), 395, "VLR 1 of 2 (me 1): length",
                 "65535");
  expect_refused(with([](auto& b) { put<double>(b, 131, 0.0); }), 131, "x scale", "zero");
  expect_refused(with([](auto& b) { put<double>(b, 139, NAN); }), 139, "y scale", "finite");
  expect_refused(with([](auto& b) { put<double>(b, 147, -INFINITY); }), 147, "z scale", "finite");
  expect_refused(with([](auto& b) { put<double>(b, 171, NAN); }), 171, "z offset", "finite");
  expect_refused(with([](auto& b) { put<std::uint64_t>(b, 247, 1ULL << 63); }), 247, "number of point records",
                 "present");
  expect_refused(with([](auto& b) { put<std::uint64_t>(b, 247, ~0ULL); }), 247, "number of point records", "present");
  expect_refused(with([](auto& b) { put<std::uint64_t>(b, 247, 27); }), 235, "start of first extended",
                 "inside the point data");
  expect_refused(with([](auto& b) { put<std::uint64_t>(b, 235, 400); }), 235, "start of first extended",
                 "does not lie");
  expect_refused(with([](auto& b) { put<std::uint64_t>(b, 235, ~0ULL); }), 235, "start of first extended",
                 "does not lie");
  expect_refused(with([](auto& b) { put<std::uint32_t>(b, 243, 3); }), sound.size(), "EVLR 3 of 3", "the file ends");
  expect_refused(with([&](auto& b) { put<std::uint64_t>(b, las.evlrs_at + 20, ~0ULL); }), las.evlrs_at + 20,
                 "EVLR 1 of 2 (me 3): length", "18446744073709551615");

  LasBytes old{.minor = 2, .format = 1};
  std::string more = old.build();
  put<std::uint32_t>(more, 107, 4000000000u);
  expect_refused(more, 107, "number of point records", "4000000000 are counted, but only 25 are present");
}

TEST(LasDamage, WaveformPointersAreChecked) {
  LasBytes las{.minor = 3, .format = 4, .encoding = 2};
  las.lone_waveform = std::string(200, 'w');
  const std::string sound = las.build();
  {
    const auto source = open_bytes(sound);
    ASSERT_TRUE(metadata_of(source->info()).waveform.has_value());
    EXPECT_EQ(metadata_of(source->info()).waveform->payload.size(), 200u);
    EXPECT_TRUE(source->info().warnings.empty()) << joined(source->info().warnings);
  }
  std::string bad = sound;
  put<std::uint64_t>(bad, 227, 300);
  expect_refused(bad, 227, "start of waveform", "before the end of the point data");
  put<std::uint64_t>(bad, 227, 1ULL << 62);
  expect_refused(bad, 1ULL << 62, "waveform data packet record", "the file ends");
  bad = sound.substr(0, sound.size() - 1);
  expect_refused(bad, las.points_end + 20, "waveform data packet record", "200 bytes");
  const auto recovered = open_bytes(bad, true);
  EXPECT_TRUE(io::was_recovered(*recovered));
  EXPECT_EQ(read_all(*recovered), las.records);

  las.encoding = 4;  // in another file, but a stale pointer
  const auto external = open_bytes(las.build());
  EXPECT_EQ(metadata_of(external->info()).external_waveforms, "test.wdp");
  EXPECT_TRUE(any_contains(external->info().warnings, "is ignored"));
}

TEST(LasRecover, ReadsWhatIsSound) {
  LasBytes las{.minor = 4, .format = 6, .encoding = 0x10};
  las.vlrs = {{"me", 1, "first"}, {"me", 2, "second"}};
  las.evlrs = {{"me", 3, "third"}, {"me", 4, "fourth"}};
  const std::string sound = las.build();

  std::string counted = sound;  // the EVLRs are sound, so they bound the points
  put<std::uint64_t>(counted, 247, 27);
  auto source = open_bytes(counted, true);
  EXPECT_TRUE(io::was_recovered(*source));
  EXPECT_EQ(read_all(*source), las.records);
  EXPECT_EQ(metadata_of(source->info()).evlrs.size(), 2u);

  std::string broken_vlr = sound;
  put<std::uint16_t>(broken_vlr, 375 + 54 + 5 + 20, 9999);
  source = open_bytes(broken_vlr, true);
  EXPECT_TRUE(io::was_recovered(*source));
  EXPECT_EQ(metadata_of(source->info()).vlrs.size(), 1u);
  EXPECT_EQ(read_all(*source), las.records);

  std::string broken_evlr = sound;
  put<std::uint64_t>(broken_evlr, las.evlrs_at + 60 + 5 + 20, 9999);
  source = open_bytes(broken_evlr, true);
  EXPECT_TRUE(io::was_recovered(*source));
  EXPECT_EQ(metadata_of(source->info()).evlrs.size(), 1u);
  EXPECT_TRUE(any_contains(source->info().warnings, "left out"));

  EXPECT_FALSE(io::was_recovered(*open_bytes(sound, true)));
}

TEST(LasStrays, AreReadWithAWarning) {
  LasBytes las{.minor = 4, .format = 6, .encoding = 0x10};
  las.gap = "pad";
  expect_warning(las.build(), "3 bytes between the variable length records and the point data");
  las.gap.clear();
  las.encoding = 0;
  expect_warning(las.build(), "WKT bit");
  las.encoding = 0x10;
  std::string bytes = las.build();
  put<std::uint64_t>(bytes, 247, 20);
  expect_warning(bytes, "counts 20 points, the file has room for 25");
  {
    const auto source = open_bytes(bytes);
    EXPECT_EQ(read_all(*source), las.records.substr(0, 20 * 30));
    EXPECT_FALSE(io::was_recovered(*source));
  }
  expect_warning(las.build() + "tail", "4 bytes behind the points belong to no record");
  bytes = las.build();
  put<double>(bytes, 179, NAN);
  expect_warning(bytes, "bounds in the header are wrong");
  put<double>(bytes, 179, -1e300);
  expect_warning(bytes, "bounds in the header are wrong");
  bytes = las.build();
  put<std::uint64_t>(bytes, 255, 999);
  expect_warning(bytes, "by return add up to");
  put<std::uint64_t>(bytes, 255, ~0ULL);
  expect_warning(bytes, "by return add up to");
  {
    // Five numbers cannot count sixth returns, so less than all is no fault; more is.
    LasBytes old{.minor = 2, .format = 1};
    std::string five = old.build();
    put<std::uint32_t>(five, 111, get<std::uint32_t>(five, 111) - 1);
    EXPECT_TRUE(open_bytes(five)->info().warnings.empty());
    put<std::uint32_t>(five, 111, 26);
    expect_warning(five, "by return add up to");
  }
  bytes = las.build();
  put_text(bytes, 26, std::string(32, 's'));
  expect_warning(bytes, "do not end in a zero byte: system identifier");
  las.vlrs = {{std::string(16, 'u'), 1, ""}, {"LASF_Projection", 2112, "no zero"}};
  expect_warning(las.build(), "user id of VLR 1, WKT of VLR 2");
  las.evlrs = {{"me", 1, "x"}};
  expect_warning(las.build() + "tail", "4 bytes at the end of the file");
}

TEST(LasStrays, LegacyCountsWinOnLegacyFormatsOnly) {
  LasBytes las{.minor = 4, .format = 1};
  std::string bytes = las.build();
  put<std::uint64_t>(bytes, 247, 7);
  expect_warning(bytes, "the legacy one is used");
  EXPECT_EQ(open_bytes(bytes)->info().point_count, 25u);
  bytes = las.build();
  put<std::uint32_t>(bytes, 107, 0);  // too many for 32 bits, says the rule: the 64-bit count holds
  EXPECT_EQ(open_bytes(bytes)->info().point_count, 25u);

  las = {.minor = 4, .format = 6, .encoding = 0x10};
  bytes = las.build();
  put<std::uint32_t>(bytes, 107, 9);
  expect_warning(bytes, "the latter is used");
  EXPECT_EQ(open_bytes(bytes)->info().point_count, 25u);
}

TEST(LasStrays, SignatureOfLas10IsNoPadding) {
  LasBytes las{.minor = 0, .format = 0};
  las.gap = "\xdd\xcc";
  EXPECT_TRUE(open_bytes(las.build())->info().warnings.empty());
}

TEST(LasCompressed, IsRecognisedAndRefused) {
  LasBytes las{.minor = 2, .format = 1};
  for (const int mark : {0x80, 0x40}) {
    std::string bytes = las.build();
    bytes[104] = static_cast<char>(1 | mark);
    EXPECT_THROW(open_bytes(bytes), Unsupported);
    EXPECT_THROW(open_bytes(bytes, true), Unsupported);
  }
  las.vlrs = {{"laszip encoded", 22204, std::string(52, '\0')}};
  EXPECT_THROW(open_bytes(las.build()), Unsupported);
}

TEST(LasSource, RangesLoadsAndRewind) {
  LasBytes las{.minor = 2, .format = 1, .points = 100};
  const TemporaryFolder folder;
  write_file(folder / "a.las", las.build());
  const auto source = io::open_source(folder / "a.las");
  EXPECT_EQ(source->info().name, folder / "a.las");
  EXPECT_EQ(source->chunk_bytes(10), 280u);
  ChunkRange range;
  EXPECT_THROW(source->next(0, range), InvalidArgument);
  ASSERT_TRUE(source->next(60, range));
  EXPECT_EQ(range.first, 0u);
  EXPECT_EQ(range.count, 60u);
  ASSERT_TRUE(source->next(60, range));
  EXPECT_EQ(range.first, 60u);
  EXPECT_EQ(range.count, 40u);
  EXPECT_FALSE(source->next(60, range));
  EXPECT_EQ(range.first, 60u);
  source->rewind();
  EXPECT_EQ(read_all(*source, 1000), las.records);
  RecordBuffer buffer;
  EXPECT_THROW(source->load({100, 1, 0}, buffer), InvalidArgument);
  EXPECT_THROW(source->load({~0ULL, 2, 0}, buffer), InvalidArgument);
  // Pages that were given back come again.
  source->release({0, 100, 0});
  const PointView view = source->load({99, 1, 0}, buffer);
  EXPECT_EQ(std::memcmp(view.records, las.records.data() + 99 * 28, 28), 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      RecordBuffer own;
      for (std::uint64_t i = 0; i < 100; ++i) {
        const PointView one = source->load({i, 1, 0}, own);
        EXPECT_EQ(std::memcmp(one.records, las.records.data() + i * 28, 28), 0);
        source->release({i, 1, 0});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(LasSource, AFileThatShrinksIsAnError) {
  LasBytes las{.minor = 2, .format = 1};
  const TemporaryFolder folder;
  write_file(folder / "a.las", las.build());
  const auto source = io::open_source(folder / "a.las");
  ASSERT_EQ(::truncate((folder / "a.las").c_str(), 300), 0);
  RecordBuffer buffer;
  EXPECT_THROW(source->load({0, 5, 0}, buffer), IoError);
}

TEST(LasSource, ResidentMemoryStaysSmall) {
  const TemporaryFolder folder;
  LasBytes las{.minor = 4, .format = 6, .points = 1, .encoding = 0x10};
  std::string bytes = las.build();
  // 96 MB of written data: a hole would be read in small pages, where the kernel maps large ones as a whole.
  constexpr std::uint64_t kPoints = 3200000;
  put<std::uint64_t>(bytes, 247, kPoints);
  bytes.resize(las.points_at + kPoints * 30);
  write_file(folder / "large.las", bytes);
  bytes = std::string();
  const auto resident = [] {
    std::ifstream in("/proc/self/statm");
    std::uint64_t total = 0;
    std::uint64_t pages = 0;
    in >> total >> pages;
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  };
  const auto source = io::open_source(folder / "large.las");
  const std::uint64_t before = resident();
  std::uint64_t most = 0;
  std::uint64_t sum = 0;
  RecordBuffer buffer;
  ChunkRange range;
  while (source->next(20000, range)) {
    const PointView view = source->load(range, buffer);
    for (std::uint64_t i = 0; i < view.count; ++i) sum += static_cast<std::uint64_t>(view.records[i * view.stride]);
    most = std::max(most, resident());
    source->release(range);
  }
  EXPECT_NE(sum, 0U);  // the first record is not empty, so the pages were read
  EXPECT_LT(most - before, std::uint64_t{8} << 20);
}

TEST(LasSource, ReadsPipesAndRefusesFolders) {
  LasBytes las{.minor = 2, .format = 1};
  const std::string bytes = las.build();
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::thread writer([&] { write_file(folder / "pipe", bytes); });
  const auto source = io::open_source(folder / "pipe");
  writer.join();
  EXPECT_EQ(read_all(*source), las.records);
  EXPECT_THROW(io::open_source(folder.path().string()), IoError);
  EXPECT_THROW(io::open_source(folder / "absent.las"), IoError);
}

TEST(LasSource, ReadsStandardInputFromWhereItStands) {
  LasBytes las{.minor = 2, .format = 1};
  const TemporaryFolder folder;
  write_file(folder / "in", "skip" + las.build());
  const int saved = ::dup(STDIN_FILENO);
  const int fd = ::open((folder / "in").c_str(), O_RDONLY);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::lseek(fd, 4, SEEK_SET), 4);
  ASSERT_EQ(::dup2(fd, STDIN_FILENO), STDIN_FILENO);
  ::close(fd);
  const auto source = io::open_source("-");
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
  EXPECT_EQ(read_all(*source), las.records);
  EXPECT_EQ(source->info().name, "<standard input>");
}

TEST(LasLayouts, DifferencesAreNamed) {
  LasBytes las{.minor = 2, .format = 1, .extra = 2};
  las.vlrs = {{"LASF_Spec", 4, extra_entry(3, "a")}, {"LASF_Projection", 34735, "keys"}};
  const auto first = open_bytes(las.build());
  const auto difference = [&](LasBytes other) {
    return io::layout_difference(first->info(), open_bytes(other.build())->info()).value_or("none");
  };
  EXPECT_EQ(difference(las), "none");
  const auto changed = [&](const std::function<void(LasBytes&)>& change) {
    LasBytes other = las;
    other.records.clear();
    change(other);
    return difference(other);
  };
  EXPECT_NE(changed([](auto& o) { o.format = 0; }).find("point format"), std::string::npos);
  EXPECT_NE(changed([](auto& o) { o.extra = 3; }).find("record length"), std::string::npos);
  EXPECT_NE(changed([](auto& o) { o.vlrs[0].payload = extra_entry(3, "b"); }).find("extra bytes"), std::string::npos);
  EXPECT_NE(changed([](auto& o) { o.scale[1] = 0.5; }).find("scale of test.las is 0.01,0.5,0.5"), std::string::npos);
  EXPECT_NE(changed([](auto& o) { o.offset[0] = 0.5; }).find("offset"), std::string::npos);
  EXPECT_NE(changed([](auto& o) { o.encoding = 1; }).find("GPS time type"), std::string::npos);
  EXPECT_NE(changed([](auto& o) { o.vlrs[1].payload = "kiss"; }).find("coordinate system"), std::string::npos);
  EXPECT_EQ(changed([](auto& o) { o.points = 3; }), "none");

  // The engine, which knows no formats, asks the metadata alone.
  const auto in_metadata = [&](const std::function<void(LasBytes&)>& change) {
    LasBytes other = las;
    other.records.clear();
    change(other);
    return first->info().metadata->difference(*open_bytes(other.build())->info().metadata);
  };
  EXPECT_EQ(in_metadata([](auto& o) { o.points = 3; }), "");
  EXPECT_EQ(in_metadata([](auto& o) { o.encoding = 1; }), "the GPS time type");
  EXPECT_EQ(in_metadata([](auto& o) { o.vlrs[1].payload = "kiss"; }), "the coordinate system");
}

TEST(Formats, AreToldByContentAndExtension) {
  EXPECT_EQ(io::format_of_content(to_bytes("LASF....")), "las");
  EXPECT_EQ(io::format_of_content(to_bytes("LAS")), "");
  EXPECT_EQ(io::format_of_path("a/B.LAS"), "las");
  EXPECT_EQ(io::format_of_path("b.copc.LAZ"), "copc");
  EXPECT_EQ(io::format_of_path("copc.laz"), "laz");
  EXPECT_EQ(io::format_of_path("las"), "");
  const auto all = io::formats();
  ASSERT_FALSE(all.empty());
  EXPECT_TRUE(all[0].readable && all[0].writable);
}

}  // namespace
}  // namespace sluice::test
