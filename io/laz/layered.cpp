// SPDX-License-Identifier: Apache-2.0
#include "layered.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace sluice::laz {
namespace {

static_assert(std::is_trivially_copyable_v<LayerModels>);

/// Points between two looks at the room in the output.
constexpr std::uint64_t kBlock = 512;
constexpr std::uint64_t kMaxCoded = WavePacket::kMaxCoded;
static_assert(kMaxCoded >= MainChannel::kMaxCoded && kMaxCoded >= GpsTimeModels<true>::kMaxCoded);

/// A layer of a chunk: which one, and of the extra bytes which.
struct LayerName {
  std::uint32_t kind;
  std::uint32_t extra = 0;

  [[nodiscard]] std::uint64_t bit() const { return layer::bit(kind + extra); }
};

/// The layers of a record in the order in which a chunk holds them.
template <class Body>
void for_layers(const RecordLayout& layout, const Body& body) {
  for (std::uint32_t kind = layer::kMain; kind <= layer::kGpsTime; ++kind) body(LayerName{kind});
  if (layout.rgb_version != 0) body(LayerName{layer::kRgb});
  if (layout.nir_version != 0) body(LayerName{layer::kNir});
  if (layout.wave_packet_version != 0) body(LayerName{layer::kWavePacket});
  for (std::uint32_t j = 0; j < layout.extra_bytes; ++j) body(LayerName{layer::kExtra, j});
}

/// A field and its place in a record.
template <class Byte>
struct Place {
  Field<Byte> field;
  std::uint32_t at;
  std::uint32_t bytes;
};

/// Where the values of a layer other than 0 are.
template <class Byte>
Place<Byte> place_of(const RecordLayout& layout, const LayeredFields<Byte>& f, LayerName name) {
  switch (name.kind) {
    case layer::kZ:
      return {f.z, 8, 4};
    case layer::kClassification:
      return {f.classification, 16, 1};
    case layer::kFlags:
      return {f.flags, 15, 1};
    case layer::kIntensity:
      return {f.intensity, 12, 2};
    case layer::kScanAngle:
      return {f.scan_angle, 18, 2};
    case layer::kUserData:
      return {f.user_data, 17, 1};
    case layer::kSource:
      return {f.source, 20, 2};
    case layer::kGpsTime:
      return {f.gps_time, 22, 8};
    case layer::kRgb:
      return {f.rgb, layout.rgb_at, 6};
    case layer::kNir:
      return {f.nir, layout.nir_at, 2};
    case layer::kWavePacket:
      return {f.wave_packet, layout.wave_packet_at, 29};
    default:
      return {
          {f.extra.at == nullptr ? nullptr : f.extra.at + name.extra, f.extra.stride}, layout.extra_at + name.extra, 1};
  }
}

template <class Byte>
MainFields<Byte> main_fields(const LayeredFields<Byte>& f) {
  return {f.x, f.y, f.returns, f.flags, f.scan_angle, f.source, f.gps_time};
}

/// Prepares the models of a layer.
/// \param record  the chunk's first point
void start_layer(LayerModels& m, const RecordLayout& layout, LayerName name, const std::byte* record) {
  const std::uint32_t channel = load<std::uint8_t>(record + 15) >> 4 & 3U;
  switch (name.kind) {
    case layer::kMain:
      return start(m.main, record);
    case layer::kZ:
      return start(m.z, channel, load<std::uint32_t>(record + 8));
    case layer::kClassification:
      return start(m.classification, channel, load<std::uint8_t>(record + 16));
    case layer::kFlags:
      return start(m.flags, channel, FlagsCoding::value_of(load<std::uint8_t>(record + 15)));
    case layer::kIntensity:
      return start(m.intensity, channel, load<std::uint16_t>(record + 12));
    case layer::kScanAngle:
      return start(m.scan_angle, channel, load<std::uint16_t>(record + 18));
    case layer::kUserData:
      return start(m.user_data, channel, load<std::uint8_t>(record + 17));
    case layer::kSource:
      return start(m.source, channel, load<std::uint16_t>(record + 20));
    case layer::kGpsTime:
      return start(m.gps_time, channel, load<std::uint64_t>(record + 22));
    case layer::kRgb:
      return start(m.rgb, channel, load_rgb(record + layout.rgb_at));
    case layer::kNir:
      return start(m.nir, channel, std::uint32_t{load<std::uint16_t>(record + layout.nir_at)});
    case layer::kWavePacket:
      return start(m.wave_packet, channel, load_wave_packet(record + layout.wave_packet_at));
    default:
      return start(m.extra, channel, std::uint32_t{load<std::uint8_t>(record + layout.extra_at + name.extra)});
  }
}

/// Codes a row of points in one layer.
template <class Coder>
std::uint64_t code_layer(Coder& coder, LayerModels& m, const RecordLayout& layout, std::uint16_t* control_words,
                         const LayeredFields<typename Coder::Byte>& fields, LayerName name, std::uint64_t first,
                         std::uint64_t count) {
  if (name.kind == layer::kMain)
    return code_main_layer(coder, m.main, control_words, main_fields(fields), first, count);
  const auto field = place_of(layout, fields, name).field;
  switch (name.kind) {
    case layer::kZ:
      return code_z_layer(coder, m.z, control_words, field, first, count);
    case layer::kClassification:
      return code_symbol_layer<ClassificationCoding>(coder, m.classification, control_words, field, first, count);
    case layer::kFlags:
      return code_symbol_layer<FlagsCoding>(coder, m.flags, control_words, field, first, count);
    case layer::kIntensity:
      return code_intensity_layer(coder, m.intensity, control_words, field, first, count);
    case layer::kScanAngle:
      return code_change_layer(coder, m.scan_angle, control_words, field, control::kAngleChanges, first, count);
    case layer::kUserData:
      return code_symbol_layer<UserDataCoding>(coder, m.user_data, control_words, field, first, count);
    case layer::kSource:
      return code_change_layer(coder, m.source, control_words, field, control::kSourceChanges, first, count);
    case layer::kGpsTime:
      return code_gps_time_layer(coder, m.gps_time, control_words, field, first, count);
    case layer::kRgb:
      return code_rgb_layer(coder, m.rgb, control_words, layout.rgb_version == 4, field, first, count);
    case layer::kNir:
      return code_nir_layer(coder, m.nir, control_words, layout.nir_version == 4, field, first, count);
    case layer::kWavePacket:
      return code_wave_packet_layer(coder, m.wave_packet, control_words, layout.wave_packet_version == 4, field, first,
                                    count);
    default:
      return code_byte_layer(coder, m.extra, control_words, layout.extra_version == 4, field, first, count);
  }
}

/// Control bit that promises a value in a layer, or 0.
std::uint32_t change_bit(LayerName name) {
  switch (name.kind) {
    case layer::kScanAngle:
      return control::kAngleChanges;
    case layer::kSource:
      return control::kSourceChanges;
    case layer::kGpsTime:
      return control::kTimeChanges;
    default:
      return 0;
  }
}

/// Gives all points but the first the value of the first, as a layer of no bytes means.
/// \returns false where layer 0 says that the value changes
bool repeat_first(const Place<std::byte>& place, LayerName name, const std::byte* record,
                  const std::uint16_t* control_words, std::uint64_t count) {
  if (name.kind == layer::kFlags) {
    const std::uint32_t flags = FlagsCoding::value_of(load<std::uint8_t>(record + place.at));
    for (std::uint64_t i = 1; i < count; ++i)
      store(place.field.of(i), static_cast<std::uint8_t>(FlagsCoding::byte_of(flags, control_words[i])));
    return true;
  }
  for (std::uint64_t i = 1; i < count; ++i) std::memcpy(place.field.of(i), record + place.at, place.bytes);
  const std::uint32_t change = change_bit(name);
  std::uint32_t any = 0;
  for (std::uint64_t i = 1; i < count; ++i) any |= control_words[i];
  return (any & change) == 0;
}

/// True where a layer may be left out: no point differs from the first. A colour must be grey too, or the symbols of
/// the other points would have to say that it is not.
bool is_constant(const Place<const std::byte>& place, LayerName name, std::uint64_t count) {
  const std::byte* first = place.field.of(0);
  if (name.kind == layer::kRgb && count > 1) {
    const Rgb colour = load_rgb(first);
    if (colour.green != colour.red || colour.blue != colour.red) return false;
  }
  if (name.kind == layer::kFlags) {
    const std::uint32_t flags = FlagsCoding::value_of(load<std::uint8_t>(first));
    for (std::uint64_t i = 1; i < count; ++i) {
      if (FlagsCoding::value_of(load<std::uint8_t>(place.field.of(i))) != flags) return false;
    }
    return true;
  }
  for (std::uint64_t i = 1; i < count; ++i) {
    if (std::memcmp(place.field.of(i), first, place.bytes) != 0) return false;
  }
  return true;
}

/// The first point's fields put into a record, or taken out of one.
template <class Byte, class Body>
void for_places(const RecordLayout& layout, const LayeredFields<Byte>& f, const Body& body) {
  body(Place<Byte>{f.x, 0, 4});
  body(Place<Byte>{f.y, 4, 4});
  body(Place<Byte>{f.returns, 14, 1});
  for_layers(layout, [&](LayerName name) {
    if (name.kind != layer::kMain) body(place_of(layout, f, name));
  });
}

Status worse(Status a, Status b) {
  const auto rank = [](Status s) {
    return s == Status::kCorrupt ? 3 : s == Status::kTruncated ? 2 : s == Status::kLeftOver ? 1 : 0;
  };
  return rank(a) < rank(b) ? b : a;
}

}  // namespace

void LayeredWorkspace::reserve(std::uint64_t points) {
  if (!models_) models_ = std::make_unique_for_overwrite<LayerModels>();
  if (points > points_) {
    control_ = std::make_unique_for_overwrite<std::uint16_t[]>(points);
    points_ = points;
  }
}

Status read_layered_header(const RecordLayout& layout, std::span<const std::byte> bytes, LayeredHeader& out) {
  const std::uint64_t layers = layout.layers();
  const std::uint64_t fixed = layout.record_bytes + 4 + 4 * layers;
  if (bytes.size() < fixed) return Status::kTruncated;
  const std::byte* at = bytes.data() + layout.record_bytes;
  out.points = load<std::uint32_t>(at);
  out.bytes = fixed;
  for (std::uint64_t i = 0; i < layers; ++i) out.bytes += load<std::uint32_t>(at + 4 + 4 * i);
  return Status::kOk;
}

LayeredResult decode_layered_chunk(LayeredWorkspace& workspace, const RecordLayout& layout,
                                   std::span<const std::byte> bytes, std::uint64_t wanted,
                                   const LayeredFields<std::byte>& fields, std::uint64_t count) {
  LayeredResult result;
  const std::byte* record = bytes.data();
  if (bytes.size() < layout.record_bytes) {
    result.status = Status::kTruncated;
    return result;
  }
  // The flags come from layer 0 at first, with nothing but the scanner channel.
  store(fields.flags.of(0), static_cast<std::uint8_t>(load<std::uint8_t>(record + 15) & 0x30U));
  std::memcpy(fields.x.of(0), record, 4);
  std::memcpy(fields.y.of(0), record + 4, 4);
  std::memcpy(fields.returns.of(0), record + 14, 1);
  for_layers(layout, [&](LayerName name) {
    const auto place = place_of(layout, fields, name);
    if (name.kind == layer::kMain || (wanted & name.bit()) == 0 || place.field.at == nullptr) return;
    std::memcpy(place.field.of(0), record + place.at, place.bytes);
  });
  result.points = result.main = 1;

  LayeredHeader header;
  result.status = read_layered_header(layout, bytes, header);
  if (result.status != Status::kOk) return result;
  result.stored = header.points;
  if (header.points < count) result.status = Status::kCorrupt;
  if (header.points == 0) return result;
  const std::uint64_t points = std::min(count, header.points);
  const bool complete = points == header.points;
  workspace.reserve(points);
  LayerModels& models = workspace.models();
  std::uint16_t* control_words = workspace.control();
  control_words[0] = static_cast<std::uint16_t>(load<std::uint8_t>(record + 15) >> 4 & 3U);

  const std::byte* sizes = record + layout.record_bytes + 4;
  std::uint64_t at = layout.record_bytes + 4 + 4 * std::uint64_t{layout.layers()};
  for_layers(layout, [&](LayerName name) {
    const std::uint64_t size = load<std::uint32_t>(sizes);
    sizes += 4;
    const std::uint64_t begin = std::min<std::uint64_t>(at, bytes.size());
    at += size;
    const bool main = name.kind == layer::kMain;
    if (!main && ((wanted & name.bit()) == 0 || place_of(layout, fields, name).field.at == nullptr)) return;
    const std::uint64_t target = main ? points : result.main;
    Status status = Status::kOk;
    std::uint64_t sound = target;
    if (size == 0 && !main && name.kind != layer::kZ) {
      if (!repeat_first(place_of(layout, fields, name), name, record, control_words, target)) {
        status = Status::kCorrupt;
        sound = 1;
      }
    } else {
      Decoder coder;
      coder.start(record + begin, std::min<std::uint64_t>(size, bytes.size() - begin));
      start_layer(models, layout, name, record);
      sound = 1 + code_layer(coder, models, layout, control_words, fields, name, 1, target - 1);
      if (coder.starved()) {
        status = Status::kTruncated;
      } else if (coder.corrupt()) {
        status = Status::kCorrupt;
      } else if (complete && coder.consumed() != size && sound == points) {
        status = Status::kLeftOver;
      }
    }
    if (main) {
      result.main = result.points = sound;
    } else {
      result.points = std::min(result.points, sound);
    }
    if (status != Status::kOk) result.damaged |= name.bit();
    result.status = worse(result.status, status);
  });
  if (header.bytes < bytes.size()) result.status = worse(result.status, Status::kLeftOver);
  return result;
}

void encode_layered_chunk(LayeredWorkspace& workspace, const RecordLayout& layout,
                          const LayeredFields<const std::byte>& fields, std::uint64_t count, Buffer& out) {
  workspace.reserve(count);
  LayerModels& models = workspace.models();
  std::uint16_t* control_words = workspace.control();
  const std::uint64_t begin = out.size();
  const std::uint64_t sizes_at = begin + layout.record_bytes + 4;
  const std::uint64_t layers_at = sizes_at + 4 * std::uint64_t{layout.layers()};
  const std::uint64_t room = kBlock * kMaxCoded + Encoder::kSlack;
  out.reserve(layers_at - begin + room);
  out.resize(layers_at);
  for_places(layout, fields, [&](const Place<const std::byte>& place) {
    std::memcpy(out.data() + begin + place.at, place.field.of(0), place.bytes);
  });
  store(out.data() + sizes_at - 4, static_cast<std::uint32_t>(count));

  std::uint64_t size_at = sizes_at;
  for_layers(layout, [&](LayerName name) {
    const std::uint64_t stream = out.size();
    const bool optional = name.kind != layer::kMain && name.kind != layer::kZ;
    if (!optional || !is_constant(place_of(layout, fields, name), name, count)) {
      start_layer(models, layout, name, out.data() + begin);
      out.reserve(room);
      Encoder coder;
      coder.start(out.data() + stream);
      for (std::uint64_t i = 1; i < count; i += kBlock) {
        out.resize(stream + coder.written());
        out.reserve(room);
        coder.rebase(out.data() + stream);
        code_layer(coder, models, layout, control_words, fields, name, i, std::min(kBlock, count - i));
      }
      out.resize(stream + coder.finish());
    }
    store(out.data() + size_at, static_cast<std::uint32_t>(out.size() - stream));
    size_at += 4;
  });
}

}  // namespace sluice::laz
