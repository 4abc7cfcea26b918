// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a compressed record is made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice::laz {

enum class ItemType : std::uint16_t {
  kByte = 0,
  kPoint10 = 6,
  kGpsTime11 = 7,
  kRgb12 = 8,
  kWavePacket13 = 9,
  kPoint14 = 10,
  kRgb14 = 11,
  kRgbNir14 = 12,
  kWavePacket14 = 13,
  kByte14 = 14,
};

/// A part of the record, as the LASzip VLR lists it.
struct Item {
  ItemType type;
  std::uint16_t size;     ///< bytes
  std::uint16_t version;  ///< of its coding

  bool operator==(const Item&) const = default;
};

/// Where the parts of a record are and how each is coded; offsets are in bytes from the record's begin. Versions are 0
/// where the part is absent.
struct RecordLayout {
  std::uint32_t record_bytes = 0;
  std::uint32_t rgb_at = 0;
  std::uint32_t nir_at = 0;
  std::uint32_t wave_packet_at = 0;
  std::uint32_t extra_at = 0;
  std::uint32_t extra_bytes = 0;
  std::uint8_t point_version = 0;
  std::uint8_t gps_version = 0;  ///< of item GPSTIME11; always at 20
  std::uint8_t rgb_version = 0;
  std::uint8_t nir_version = 0;
  std::uint8_t wave_packet_version = 0;
  std::uint8_t extra_version = 0;
  bool layered = false;

  /// True where any part is of version 1 coded otherwise than in version 2.
  [[nodiscard]] bool is_old() const {
    return point_version == 1 || gps_version == 1 || rgb_version == 1 || extra_version == 1;
  }
  /// Streams of a layered chunk.
  [[nodiscard]] std::uint32_t layers() const {
    return 9U + (rgb_version != 0 ? 1U : 0U) + (nir_version != 0 ? 1U : 0U) + (wave_packet_version != 0 ? 1U : 0U) +
           extra_bytes;
  }
};

/// Items of a point format as this library writes them: version 2 (wave packets 1) for formats 0 to 5, 3 for 6 to 10.
[[nodiscard]] std::vector<Item> items_of(std::uint32_t point_format, std::uint32_t extra_bytes);

/// \returns what is wrong with a list of items, or nothing. Order, sizes and versions are checked, and, where given,
/// that the items are those of a point format.
[[nodiscard]] std::optional<std::string> check_items(const std::vector<Item>& items, std::uint32_t record_bytes,
                                                     std::optional<std::uint32_t> point_format);

/// Of items that `check_items` accepts.
[[nodiscard]] RecordLayout layout_of(const std::vector<Item>& items);

/// Names how chunks of a layout are coded: a chunk of one file can be copied into any other of the same name. Empty for
/// layouts of version 1, which are not written any more.
[[nodiscard]] std::string coding_of(const RecordLayout& layout);

}  // namespace sluice::laz
