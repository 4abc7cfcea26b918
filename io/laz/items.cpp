// SPDX-License-Identifier: Apache-2.0
#include "items.hpp"

#include <array>

namespace sluice::laz {
namespace {

struct Kind {
  ItemType type;
  const char* name;
  std::uint32_t size;  ///< 0: any
  std::uint16_t first_version;
  std::uint16_t last_version;
};

// One writer labels version 3 of the layered items and version 1 of wave packets as 2.
constexpr std::array<Kind, 10> kKinds{{
    {ItemType::kByte, "BYTE", 0, 1, 2},
    {ItemType::kPoint10, "POINT10", 20, 1, 2},
    {ItemType::kGpsTime11, "GPSTIME11", 8, 1, 2},
    {ItemType::kRgb12, "RGB12", 6, 1, 2},
    {ItemType::kWavePacket13, "WAVEPACKET13", 29, 1, 2},
    {ItemType::kPoint14, "POINT14", 30, 2, 4},
    {ItemType::kRgb14, "RGB14", 6, 2, 4},
    {ItemType::kRgbNir14, "RGBNIR14", 8, 2, 4},
    {ItemType::kWavePacket14, "WAVEPACKET14", 29, 2, 4},
    {ItemType::kByte14, "BYTE14", 0, 2, 4},
}};

const Kind* kind_of(ItemType type) {
  for (const Kind& kind : kKinds) {
    if (kind.type == type) return &kind;
  }
  return nullptr;
}

std::string number(std::uint32_t value) { return std::to_string(value); }

/// Items of a point format without extra bytes.
std::vector<ItemType> types_of(std::uint32_t point_format) {
  using enum ItemType;
  switch (point_format) {
    case 0:
      return {kPoint10};
    case 1:
      return {kPoint10, kGpsTime11};
    case 2:
      return {kPoint10, kRgb12};
    case 3:
      return {kPoint10, kGpsTime11, kRgb12};
    case 4:
      return {kPoint10, kGpsTime11, kWavePacket13};
    case 5:
      return {kPoint10, kGpsTime11, kRgb12, kWavePacket13};
    case 6:
      return {kPoint14};
    case 7:
      return {kPoint14, kRgb14};
    case 8:
      return {kPoint14, kRgbNir14};
    case 9:
      return {kPoint14, kWavePacket14};
    case 10:
      return {kPoint14, kRgbNir14, kWavePacket14};
    default:
      return {};
  }
}

}  // namespace

std::vector<Item> items_of(std::uint32_t point_format, std::uint32_t extra_bytes) {
  const bool layered = point_format > 5;
  std::vector<Item> items;
  for (const ItemType type : types_of(point_format)) {
    const std::uint16_t version = layered ? 3 : type == ItemType::kWavePacket13 ? 1 : 2;
    items.push_back({type, static_cast<std::uint16_t>(kind_of(type)->size), version});
  }
  if (extra_bytes != 0) {
    items.push_back({layered ? ItemType::kByte14 : ItemType::kByte, static_cast<std::uint16_t>(extra_bytes),
                     static_cast<std::uint16_t>(layered ? 3 : 2)});
  }
  return items;
}

std::optional<std::string> check_items(const std::vector<Item>& items, std::uint32_t record_bytes,
                                       std::optional<std::uint32_t> point_format) {
  std::uint32_t sum = 0;
  for (const Item& item : items) {
    const Kind* kind = kind_of(item.type);
    if (kind == nullptr) return "item type " + number(static_cast<std::uint32_t>(item.type)) + " is unknown";
    if (kind->size != 0 ? item.size != kind->size : item.size == 0)
      return std::string("item ") + kind->name + " of " + number(item.size) + " bytes";
    if (item.version < kind->first_version || item.version > kind->last_version)
      return std::string("item ") + kind->name + " in version " + number(item.version) + ", which is unknown";
    sum += item.size;
  }
  if (sum != record_bytes)
    return "items of " + number(sum) + " bytes for records of " + number(record_bytes) + " bytes";
  // Only the point formats' combinations exist, in this order, with extra bytes behind.
  for (std::uint32_t format = 0; format <= 10; ++format) {
    if (point_format && *point_format != format) continue;
    const std::vector<ItemType> types = types_of(format);
    const std::size_t extra = items.size() - types.size();
    if (items.size() < types.size() || extra > 1) continue;
    bool same = extra == 0 || items.back().type == (format > 5 ? ItemType::kByte14 : ItemType::kByte);
    for (std::size_t i = 0; same && i < types.size(); ++i) same = items[i].type == types[i];
    if (same) return std::nullopt;
  }
  return point_format ? "the items are not those of point format " + number(*point_format)
                      : std::string("the items are those of no point format");
}

RecordLayout layout_of(const std::vector<Item>& items) {
  RecordLayout layout;
  std::uint32_t at = 0;
  for (const Item& item : items) {
    const auto version = static_cast<std::uint8_t>(item.version);
    switch (item.type) {
      case ItemType::kPoint14:
        layout.layered = true;
        [[fallthrough]];
      case ItemType::kPoint10:
        layout.point_version = version;
        break;
      case ItemType::kGpsTime11:
        layout.gps_version = version;
        break;
      case ItemType::kRgbNir14:
        layout.nir_version = version;
        layout.nir_at = at + 6;
        [[fallthrough]];
      case ItemType::kRgb12:
      case ItemType::kRgb14:
        layout.rgb_version = version;
        layout.rgb_at = at;
        break;
      case ItemType::kWavePacket13:
      case ItemType::kWavePacket14:
        layout.wave_packet_version = version;
        layout.wave_packet_at = at;
        break;
      case ItemType::kByte:
      case ItemType::kByte14:
        layout.extra_version = version;
        layout.extra_at = at;
        layout.extra_bytes = item.size;
        break;
    }
    at += item.size;
  }
  layout.record_bytes = at;
  return layout;
}

std::string coding_of(const RecordLayout& layout) {
  if (layout.is_old()) return {};
  std::string out = layout.layered ? "layered" : "pointwise";
  const auto add = [&](const char* name, std::uint32_t bytes, std::uint32_t version) {
    if (version == 0) return;
    // Labels of one coding count as one.
    const std::uint32_t coded = layout.layered ? (version == 4 ? 4 : 3) : 2;
    out += std::string(" ") + name + ":" + number(bytes) + "/" + number(coded);
  };
  // Versions 3 and 4 differ only in the items behind this one.
  add("point", layout.layered ? 30 : 20, layout.point_version == 4 ? 3 : layout.point_version);
  add("gps", 8, layout.gps_version);
  add("rgb", 6, layout.rgb_version);
  add("nir", 2, layout.nir_version);
  add("wave", 29, layout.wave_packet_version);
  add("extra", layout.extra_bytes, layout.extra_version);
  return out;
}

}  // namespace sluice::laz
