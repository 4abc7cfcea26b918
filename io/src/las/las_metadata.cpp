// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "las_layout.hpp"
#include "sluice/core/error.hpp"
#include "sluice/io/las.hpp"

namespace sluice::io {
namespace {

/// Owned bytes behind a payload.
class OwnedBytes final : public ByteStore {
 public:
  explicit OwnedBytes(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  void release(const std::byte* /*first*/, std::uint64_t /*count*/) const noexcept override {}
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

std::string text_of(std::span<const std::byte> bytes) {
  std::string out;
  for (const std::byte b : bytes) {
    if (b == std::byte{0}) break;
    out += static_cast<char>(b);
  }
  return out;
}

std::string printable_text(std::span<const std::byte> bytes) {
  std::string out = text_of(bytes);
  for (char& c : out) {
    if (c < 0x20 || c == 0x7f) c = '?';
  }
  return out;
}

constexpr FieldType kScalarTypes[10] = {FieldType::kUint8,   FieldType::kInt8,   FieldType::kUint16, FieldType::kInt16,
                                        FieldType::kUint32,  FieldType::kInt32,  FieldType::kUint64, FieldType::kInt64,
                                        FieldType::kFloat32, FieldType::kFloat64};

int scalar_number(FieldType type) {
  for (int i = 0; i < 10; ++i) {
    if (kScalarTypes[i] == type) return i + 1;
  }
  return 0;
}

std::string identifier(const std::string& name, std::size_t number) {
  std::string out;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    out += !letter ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (out.empty()) return "extra_" + std::to_string(number);
  if (out.front() >= '0' && out.front() <= '9') out.insert(out.begin(), '_');
  return out;
}

bool usable_scale(double value) { return is_finite(value) && value != 0.0; }

}  // namespace

Payload::Payload(std::vector<std::byte> bytes) {
  auto owned = std::make_shared<const OwnedBytes>(std::move(bytes));
  bytes_ = owned->bytes();
  store_ = std::move(owned);
}

bool RecordHeader::is(std::string_view user, std::uint16_t id) const {
  const auto end = std::find(user_id.begin(), user_id.end(), '\0');
  return id == record_id && user == std::string_view(user_id.data(), static_cast<std::size_t>(end - user_id.begin()));
}
std::string RecordHeader::user_text() const { return las::printable(user_id); }
std::string RecordHeader::description_text() const { return las::printable(description); }

std::string_view name_of(GpsTimeType type) {
  switch (type) {
    case GpsTimeType::kWeek:
      return "week";
    case GpsTimeType::kAdjustedStandard:
      return "adjusted-standard";
    case GpsTimeType::kOffset:
      return "offset";
    case GpsTimeType::kNone:
      break;
  }
  return "none";
}

std::string LasMetadata::wkt() const {
  for (const Vlr& vlr : vlrs) {
    if (vlr.is(las::kProjection, las::kWktId)) return text_of(vlr.payload);
  }
  for (const Evlr& evlr : evlrs) {
    if (evlr.is(las::kProjection, las::kWktId)) return text_of(evlr.payload.bytes());
  }
  return {};
}

bool LasMetadata::has_geotiff() const {
  const auto is_keys = [](const RecordHeader& record) { return record.is(las::kProjection, las::kGeoKeysId); };
  return std::any_of(vlrs.begin(), vlrs.end(), is_keys) || std::any_of(evlrs.begin(), evlrs.end(), is_keys);
}

GpsTimeType LasMetadata::gps_time_type() const {
  if (las::kPointLayouts[header.point_format].gps_time < 0) return GpsTimeType::kNone;
  if (header.version_minor >= 5 && (header.global_encoding & LasHeader::kTimeOffset) != 0) return GpsTimeType::kOffset;
  return (header.global_encoding & LasHeader::kAdjustedGpsTime) != 0 ? GpsTimeType::kAdjustedStandard
                                                                     : GpsTimeType::kWeek;
}

std::uint16_t las_record_bytes(int point_format) {
  if (point_format < 0 || point_format > las::kNewestPointFormat) {
    throw InvalidArgument("there is no LAS point format " + std::to_string(point_format) + "; there are 0 to " +
                          std::to_string(las::kNewestPointFormat));
  }
  return las::kPointLayouts[static_cast<std::size_t>(point_format)].bytes;
}

Schema las_schema(int point_format, std::uint16_t record_length, const std::array<double, 3>& scale,
                  const std::array<double, 3>& offset, const std::vector<ExtraBytes>& extra_bytes) {
  if (record_length < las_record_bytes(point_format)) {
    throw InvalidArgument("a record of LAS point format " + std::to_string(point_format) + " has at least " +
                          std::to_string(las_record_bytes(point_format)) + " bytes, not " +
                          std::to_string(record_length));
  }
  const las::PointLayout& layout = las::kPointLayouts[static_cast<std::size_t>(point_format)];
  Schema schema;
  schema.record_bytes = record_length;
  const auto add = [&](std::string name, FieldType type, std::uint32_t at, std::string description) -> Field& {
    Field field;
    field.name = std::move(name);
    field.type = type;
    field.offset = at;
    field.description = std::move(description);
    return schema.fields.emplace_back(std::move(field));
  };
  const auto add_bits = [&](std::string name, std::uint32_t at, std::uint8_t shift, std::uint8_t count,
                            std::string description) {
    Field& field = add(std::move(name), FieldType::kUint8, at, std::move(description));
    field.bit_shift = shift;
    field.bit_count = count;
  };
  const char* axes[3] = {"x", "y", "z"};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Field& field = add(axes[axis], FieldType::kInt32, static_cast<std::uint32_t>(4 * axis), "coordinate");
    field.scaled = true;
    field.scale = scale[axis];
    field.shift = offset[axis];
  }
  add("intensity", FieldType::kUint16, 12, "strength of the pulse return");
  if (las::is_legacy(point_format)) {
    add_bits("return_number", 14, 0, 3, "which return of the pulse");
    add_bits("number_of_returns", 14, 3, 3, "returns of the pulse");
    add_bits("scan_direction_flag", 14, 6, 1, "1: the mirror moved towards the positive side");
    add_bits("edge_of_flight_line", 14, 7, 1, "1: last point of a scan line");
    add_bits("classification", 15, 0, 5, "class");
    add_bits("synthetic", 15, 5, 1, "1: not made by the sensor");
    add_bits("key_point", 15, 6, 1, "1: should survive thinning");
    add_bits("withheld", 15, 7, 1, "1: deleted");
    add("scan_angle", FieldType::kInt8, 16, "degrees, whole");
    add("user_data", FieldType::kUint8, 17, "free for users");
    add("point_source_id", FieldType::kUint16, 18, "flight line or file of origin");
  } else {
    add_bits("return_number", 14, 0, 4, "which return of the pulse");
    add_bits("number_of_returns", 14, 4, 4, "returns of the pulse");
    add_bits("synthetic", 15, 0, 1, "1: not made by the sensor");
    add_bits("key_point", 15, 1, 1, "1: should survive thinning");
    add_bits("withheld", 15, 2, 1, "1: deleted");
    add_bits("overlap", 15, 3, 1, "1: in the overlap of flight lines");
    add_bits("scanner_channel", 15, 4, 2, "which head of the scanner");
    add_bits("scan_direction_flag", 15, 6, 1, "1: the mirror moved towards the positive side");
    add_bits("edge_of_flight_line", 15, 7, 1, "1: last point of a scan line");
    add("classification", FieldType::kUint8, 16, "class");
    add("user_data", FieldType::kUint8, 17, "free for users");
    Field& angle = add("scan_angle", FieldType::kInt16, 18, "degrees, in steps of 0.006");
    angle.scaled = true;
    angle.scale = 0.006;
    add("point_source_id", FieldType::kUint16, 20, "flight line or file of origin");
  }
  const auto place = [](std::int8_t at) { return static_cast<std::uint32_t>(at); };
  if (layout.gps_time >= 0) add("gps_time", FieldType::kFloat64, place(layout.gps_time), "seconds");
  if (layout.rgb >= 0) {
    add("red", FieldType::kUint16, place(layout.rgb), "red channel");
    add("green", FieldType::kUint16, place(layout.rgb) + 2, "green channel");
    add("blue", FieldType::kUint16, place(layout.rgb) + 4, "blue channel");
  }
  if (layout.nir >= 0) add("nir", FieldType::kUint16, place(layout.nir), "near infrared channel");
  if (layout.wave >= 0) {
    const std::uint32_t at = place(layout.wave);
    add("wave_packet_index", FieldType::kUint8, at, "descriptor of the waveform packet, 0: none");
    add("wave_packet_offset", FieldType::kUint64, at + 1, "bytes from the start of the waveform data");
    add("wave_packet_size", FieldType::kUint32, at + 9, "bytes of the waveform packet");
    add("wave_return_location", FieldType::kFloat32, at + 13, "picoseconds from the first sample");
    add("wave_x_t", FieldType::kFloat32, at + 17, "x per picosecond along the pulse");
    add("wave_y_t", FieldType::kFloat32, at + 21, "y per picosecond along the pulse");
    add("wave_z_t", FieldType::kFloat32, at + 25, "z per picosecond along the pulse");
  }
  for (std::size_t i = 0; i < extra_bytes.size(); ++i) {
    const ExtraBytes& extra = extra_bytes[i];
    if (extra.type == 0 || extra.type > 30) continue;
    const FieldType type = kScalarTypes[(extra.type - 1) % 10];
    const std::size_t members = static_cast<std::size_t>((extra.type - 1) / 10) + 1;
    for (std::size_t member = 0; member < members; ++member) {
      const std::string wanted = identifier(extra.name, i);
      const std::string suffix = members > 1 ? "[" + std::to_string(member) + "]" : "";
      std::string name = wanted + suffix;
      for (int n = 2; schema.find(name) != nullptr; ++n) name = wanted + "_" + std::to_string(n) + suffix;
      Field& field = add(std::move(name), type, extra.at + static_cast<std::uint32_t>(member) * field_bytes(type),
                         extra.description);
      const bool scale_given = (extra.options & 8) != 0 && usable_scale(extra.scale[member]);
      const bool offset_given = (extra.options & 16) != 0 && is_finite(extra.offset[member]);
      field.scaled = scale_given || offset_given;
      if (scale_given) field.scale = extra.scale[member];
      if (offset_given) field.shift = extra.offset[member];
    }
  }
  return schema;
}

CloudInfo make_las_info(const LasLayout& layout) {
  const auto quoted_range = [](int low, int high) { return std::to_string(low) + " to " + std::to_string(high); };
  if (layout.version_minor < 0 || layout.version_minor > las::kNewestMinor) {
    throw InvalidArgument("there is no LAS version 1." + std::to_string(layout.version_minor) +
                          "; there are 1.0 to 1." + std::to_string(las::kNewestMinor));
  }
  (void)las_record_bytes(layout.point_format);  // refuses formats that do not exist
  if (layout.point_format < las::first_format(layout.version_minor) ||
      layout.point_format > las::last_format(layout.version_minor)) {
    throw InvalidArgument(
        "LAS 1." + std::to_string(layout.version_minor) + " has point formats " +
        quoted_range(las::first_format(layout.version_minor), las::last_format(layout.version_minor)) + ", not " +
        std::to_string(layout.point_format));
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!usable_scale(layout.scale[axis]) || !is_finite(layout.offset[axis])) {
      throw InvalidArgument("scale and offset of a LAS file must be finite, and the scale not zero");
    }
  }
  const auto check_text = [](const std::string& text, const char* what) {
    if (text.size() > 32) throw InvalidArgument(std::string(what) + " is longer than 32 bytes: " + text);
  };
  check_text(layout.system_identifier, "the system identifier");

  auto metadata = std::make_shared<LasMetadata>();
  LasHeader& header = metadata->header;
  header.version_minor = static_cast<std::uint8_t>(layout.version_minor);
  header.point_format = static_cast<std::uint8_t>(layout.point_format);
  header.scale = layout.scale;
  header.offset = layout.offset;
  las::set_text(header.system_identifier, layout.system_identifier);
  if (layout.version_minor >= 2 && layout.adjusted_gps_time) header.global_encoding |= LasHeader::kAdjustedGpsTime;
  if (layout.version_minor >= 4 && (!las::is_legacy(layout.point_format) || !layout.wkt.empty())) {
    header.global_encoding |= LasHeader::kWkt;
  }

  std::uint64_t length = las_record_bytes(layout.point_format);
  if (!layout.extra.empty()) {
    Vlr vlr;
    std::memcpy(vlr.user_id.data(), las::kSpec.data(), las::kSpec.size());
    vlr.record_id = las::kExtraBytesId;
    las::set_text(vlr.description, "Extra Bytes");
    vlr.payload.resize(layout.extra.size() * las::kExtraBytesEntry);
    if (vlr.payload.size() > 65535) throw InvalidArgument("a LAS file has at most 341 extra dimensions in one record");
    for (std::size_t i = 0; i < layout.extra.size(); ++i) {
      const ExtraDimension& extra = layout.extra[i];
      check_text(extra.name, "the name of an extra dimension");
      check_text(extra.description, "the description of an extra dimension");
      std::byte* entry = vlr.payload.data() + i * las::kExtraBytesEntry;
      las::put(entry, 2, static_cast<std::uint8_t>(scalar_number(extra.type)));
      las::put(entry, 3, static_cast<std::uint8_t>((extra.scale ? 8 : 0) | (extra.offset ? 16 : 0)));
      std::memcpy(entry + 4, extra.name.data(), extra.name.size());
      if (extra.scale) las::put(entry, 112, *extra.scale);
      if (extra.offset) las::put(entry, 136, *extra.offset);
      std::memcpy(entry + 160, extra.description.data(), extra.description.size());
      length += field_bytes(extra.type);
    }
    metadata->vlrs.push_back(std::move(vlr));
  }
  if (length > 65535)
    throw InvalidArgument("a LAS record of " + std::to_string(length) + " bytes is longer than 65535");
  header.record_length = static_cast<std::uint16_t>(length);
  if (!layout.wkt.empty()) {
    if (layout.wkt.size() >= 65535) throw InvalidArgument("the coordinate system does not fit a VLR of 65535 bytes");
    Vlr vlr;
    std::memcpy(vlr.user_id.data(), las::kProjection.data(), las::kProjection.size());
    vlr.record_id = las::kWktId;
    las::set_text(vlr.description, "OGC WKT coordinate system");
    vlr.payload.resize(layout.wkt.size() + 1);
    std::memcpy(vlr.payload.data(), layout.wkt.data(), layout.wkt.size());
    metadata->vlrs.push_back(std::move(vlr));
  }
  // LAS 1.0 marks the start of the points.
  if (layout.version_minor == 0) metadata->gap = Payload({std::byte{0xdd}, std::byte{0xcc}});
  header.header_size = las::header_bytes(layout.version_minor);
  header.vlr_count = static_cast<std::uint32_t>(metadata->vlrs.size());
  std::uint64_t front = header.header_size + metadata->gap.size();
  for (const Vlr& vlr : metadata->vlrs) front += las::kVlrHeaderBytes + vlr.payload.size();
  header.offset_to_points = static_cast<std::uint32_t>(front);
  CloudInfo info;
  metadata->extra_bytes = las::decode_extra_bytes(*metadata, info.warnings);
  las::describe_records(*metadata, info);
  info.metadata = std::move(metadata);
  return info;
}

namespace las {

std::vector<ExtraBytes> decode_extra_bytes(const LasMetadata& metadata, std::vector<std::string>& warnings) {
  std::vector<ExtraBytes> out;
  const std::uint32_t end = metadata.header.record_length;
  std::uint32_t at = kPointLayouts[metadata.header.point_format].bytes;
  bool any = false;
  bool readable = true;
  const auto decode = [&](std::span<const std::byte> payload) {
    any = true;
    if (payload.size() % kExtraBytesEntry != 0) {
      warnings.push_back("the extra bytes record (LASF_Spec 4) has " + std::to_string(payload.size()) +
                         " bytes, which is no multiple of " + std::to_string(kExtraBytesEntry) +
                         "; its last entry is ignored");
    }
    for (std::uint64_t entry_at = 0; readable && entry_at + kExtraBytesEntry <= payload.size();
         entry_at += kExtraBytesEntry) {
      const std::byte* entry = payload.data() + entry_at;
      ExtraBytes extra;
      extra.type = get<std::uint8_t>(entry, 2);
      extra.options = get<std::uint8_t>(entry, 3);
      extra.name = printable_text(payload.subspan(entry_at + 4, 32));
      extra.description = printable_text(payload.subspan(entry_at + 160, 32));
      extra.at = at;
      if (extra.type > 30) {
        warnings.push_back("extra dimension '" + extra.name + "' has the unknown type " + std::to_string(extra.type) +
                           "; it and what follows is kept but has no field");
        readable = false;
        break;
      }
      extra.bytes = extra.type == 0 ? extra.options
                                    : field_bytes(kScalarTypes[(extra.type - 1) % 10]) *
                                          ((static_cast<std::uint32_t>(extra.type) - 1) / 10 + 1);
      if (extra.bytes > end - at) {
        warnings.push_back("extra dimension '" + extra.name + "' needs " + std::to_string(extra.bytes) +
                           " bytes, the record has " + std::to_string(end - at) +
                           " left; it and what follows has no field");
        readable = false;
        break;
      }
      const std::uint32_t members = extra.type == 0 ? 0 : (static_cast<std::uint32_t>(extra.type) - 1) / 10 + 1;
      for (std::uint32_t i = 0; i < members; ++i) {
        std::memcpy(extra.no_data[i].data(), entry + 40 + 8 * i, 8);
        extra.scale[i] = get<double>(entry, 112 + 8 * i);
        extra.offset[i] = get<double>(entry, 136 + 8 * i);
        if ((extra.options & 8) != 0 && !usable_scale(extra.scale[i])) {
          warnings.push_back("extra dimension '" + extra.name +
                             "' has a scale that is zero or not finite; it is ignored");
        }
        if ((extra.options & 16) != 0 && !is_finite(extra.offset[i])) {
          warnings.push_back("extra dimension '" + extra.name + "' has an offset that is not finite; it is ignored");
        }
      }
      at += extra.bytes;
      out.push_back(std::move(extra));
    }
  };
  for (const Vlr& vlr : metadata.vlrs) {
    if (vlr.is(kSpec, kExtraBytesId)) decode(vlr.payload);
  }
  for (const Evlr& evlr : metadata.evlrs) {
    if (evlr.is(kSpec, kExtraBytesId)) decode(evlr.payload.bytes());
  }
  if (readable && at < end) {
    warnings.push_back(std::to_string(end - at) + (any ? " more bytes" : " bytes") +
                       " of each record are not described; they are kept but have no field");
  }
  return out;
}

void describe_records(const LasMetadata& metadata, CloudInfo& info) {
  const LasHeader& header = metadata.header;
  info.schema =
      las_schema(header.point_format, header.record_length, header.scale, header.offset, metadata.extra_bytes);
  info.frame.kind = CoordinateKind::kLattice;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    info.frame.scale[axis] = header.scale[axis];
    info.frame.offset[axis] = header.offset[axis];
    info.frame.at[axis] = static_cast<std::uint32_t>(4 * axis);
  }
}

}  // namespace las
}  // namespace sluice::io
