// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where the bytes of LAS headers, VLRs and point records are.
#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/core/types.hpp"
#include "sluice/io/las.hpp"

namespace sluice::io::las {

static_assert(std::endian::native == std::endian::little, "LAS is little-endian and records are read in place");

constexpr int kNewestMinor = 5;
constexpr int kNewestPointFormat = 10;
constexpr std::uint64_t kVlrHeaderBytes = 54;
constexpr std::uint64_t kEvlrHeaderBytes = 60;
constexpr std::uint64_t kExtraBytesEntry = 192;
constexpr std::uint64_t kMaxLegacyCount = 0xffffffffULL;
/// Of the header's point format: set by LASzip.
constexpr unsigned kCompressedBit = 0x80;
constexpr std::string_view kSpec = "LASF_Spec";
constexpr std::string_view kProjection = "LASF_Projection";
constexpr std::uint16_t kExtraBytesId = 4;
constexpr std::uint16_t kWktId = 2112;
constexpr std::uint16_t kGeoKeysId = 34735;
constexpr std::uint16_t kGeoDoublesId = 34736;
constexpr std::uint16_t kGeoAsciiId = 34737;
constexpr std::uint16_t kWaveformId = 65535;
constexpr std::uint16_t kFirstWaveformDescriptorId = 100;
constexpr std::uint16_t kLastWaveformDescriptorId = 354;

/// Byte offsets of header fields.
namespace at {
constexpr std::uint64_t kFileSourceId = 4, kGlobalEncoding = 6, kProjectId = 8, kVersionMajor = 24, kVersionMinor = 25,
                        kSystemIdentifier = 26, kGeneratingSoftware = 58, kCreationDay = 90, kCreationYear = 92,
                        kHeaderSize = 94, kOffsetToPoints = 96, kVlrCount = 100, kPointFormat = 104,
                        kRecordLength = 105, kLegacyCount = 107, kLegacyByReturn = 111, kScale = 131, kOffset = 155,
                        kBounds = 179, kWaveformStart = 227, kEvlrStart = 235, kEvlrCount = 243, kCount = 247,
                        kByReturn = 255, kMaxGpsTime = 375, kMinGpsTime = 383, kTimeOffset = 391;
}  // namespace at

/// Bytes of the header that version 1.`minor` defines.
constexpr std::uint16_t header_bytes(int minor) { return minor <= 2 ? 227 : minor == 3 ? 235 : minor == 4 ? 375 : 393; }

/// First and last point format that version 1.`minor` knows.
constexpr int first_format(int minor) { return minor >= 5 ? 6 : 0; }
constexpr int last_format(int minor) { return minor <= 1 ? 1 : minor == 2 ? 3 : minor == 3 ? 5 : 10; }

/// Byte offsets of the optional groups of fields of a point format; -1 where it lacks them.
struct PointLayout {
  std::uint16_t bytes;
  std::int8_t gps_time;
  std::int8_t rgb;
  std::int8_t nir;
  std::int8_t wave;
};
constexpr std::array<PointLayout, 11> kPointLayouts{{
    {20, -1, -1, -1, -1},
    {28, 20, -1, -1, -1},
    {26, -1, 20, -1, -1},
    {34, 20, 28, -1, -1},
    {57, 20, -1, -1, 28},
    {63, 20, 28, -1, 34},
    {30, 22, -1, -1, -1},
    {36, 22, 30, -1, -1},
    {38, 22, 30, 36, -1},
    {59, 22, -1, -1, 30},
    {67, 22, 30, 36, 38},
}};
constexpr std::uint32_t kWaveBytes = 29;

/// True for the formats whose returns have three bits and whose classes have five.
constexpr bool is_legacy(int point_format) { return point_format <= 5; }

template <typename T>
T get(const std::byte* base, std::uint64_t offset) {
  return load_unaligned<T>(base + offset);
}
template <typename T>
void put(std::byte* base, std::uint64_t offset, T value) {
  store_unaligned(base + offset, value);
}

/// A fixed text field up to its terminator, with every byte that is not printable ASCII as '?'.
template <std::size_t kSize>
std::string printable(const std::array<char, kSize>& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\0') break;
    out += c >= 0x20 && c < 0x7f ? c : '?';
  }
  return out;
}

/// Copies a text into a fixed field, padded with zeros, cut where it is too long.
template <std::size_t kSize>
void set_text(std::array<char, kSize>& field, std::string_view text) {
  field.fill('\0');
  std::memcpy(field.data(), text.data(), text.size() < kSize ? text.size() : kSize);
}

/// Whether every number that a record can hold is a finite coordinate.
inline bool holds_coordinates(double scale, double offset) {
  return is_finite(scale * 2147483648.0 + offset) && is_finite(scale * -2147483648.0 + offset);
}

/// The shortest decimal that reads back as the same double.
inline std::string shortest(double value) {
  char text[40];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

/// Decodes the entries of all LASF_Spec/4 records as far as they fit between the point format's own bytes and the
/// record length.
std::vector<ExtraBytes> decode_extra_bytes(const LasMetadata& metadata, std::vector<std::string>& warnings);

/// Sets schema and frame of a cloud from its metadata.
void describe_records(const LasMetadata& metadata, CloudInfo& info);

/// The LAS metadata of a cloud, or null.
inline const LasMetadata* metadata_of(const CloudInfo& info) {
  return dynamic_cast<const LasMetadata*>(info.metadata.get());
}

}  // namespace sluice::io::las
