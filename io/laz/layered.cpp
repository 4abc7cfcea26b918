// SPDX-License-Identifier: Apache-2.0
#include "layered.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace sluice::laz {
namespace {

static_assert(std::is_trivially_copyable_v<LayerModels>);

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
  const std::uint32_t channel = load_unaligned<std::uint8_t>(record + 15) >> 4 & 3U;
  switch (name.kind) {
    case layer::kMain:
      return start(m.main, record);
    case layer::kZ:
      return start(m.z, channel, load_unaligned<std::uint32_t>(record + 8));
    case layer::kClassification:
      return start(m.classification, channel, load_unaligned<std::uint8_t>(record + 16));
    case layer::kFlags:
      return start(m.flags, channel, FlagsCoding::value_of(load_unaligned<std::uint8_t>(record + 15)));
    case layer::kIntensity:
      return start(m.intensity, channel, load_unaligned<std::uint16_t>(record + 12));
    case layer::kScanAngle:
      return start(m.scan_angle, channel, load_unaligned<std::uint16_t>(record + 18));
    case layer::kUserData:
      return start(m.user_data, channel, load_unaligned<std::uint8_t>(record + 17));
    case layer::kSource:
      return start(m.source, channel, load_unaligned<std::uint16_t>(record + 20));
    case layer::kGpsTime:
      return start(m.gps_time, channel, load_unaligned<std::uint64_t>(record + 22));
    case layer::kRgb:
      return start(m.rgb, channel, load_rgb(record + layout.rgb_at));
    case layer::kNir:
      return start(m.nir, channel, std::uint32_t{load_unaligned<std::uint16_t>(record + layout.nir_at)});
    case layer::kWavePacket:
      return start(m.wave_packet, channel, load_wave_packet(record + layout.wave_packet_at));
    default:
      return start(m.extra, channel,
                   std::uint32_t{load_unaligned<std::uint8_t>(record + layout.extra_at + name.extra)});
  }
}

/// Codes one point of any layer but the first.
template <std::uint32_t kKind, class Coder>
SLUICE_LAZ_INLINE void code_point(Coder& coder, LayerModels& m, const RecordLayout& layout, std::uint32_t word,
                                  Field<typename Coder::Byte> field, std::uint64_t i) {
  if constexpr (kKind == layer::kZ) {
    code_z(coder, m.z, word, field, i);
  } else if constexpr (kKind == layer::kClassification) {
    code_symbol<ClassificationCoding>(coder, m.classification, word, field, i);
  } else if constexpr (kKind == layer::kFlags) {
    code_symbol<FlagsCoding>(coder, m.flags, word, field, i);
  } else if constexpr (kKind == layer::kIntensity) {
    code_intensity(coder, m.intensity, word, field, i);
  } else if constexpr (kKind == layer::kScanAngle) {
    code_if_changed(coder, m.scan_angle, word, field, control::kAngleChanges, i);
  } else if constexpr (kKind == layer::kUserData) {
    code_symbol<UserDataCoding>(coder, m.user_data, word, field, i);
  } else if constexpr (kKind == layer::kSource) {
    code_if_changed(coder, m.source, word, field, control::kSourceChanges, i);
  } else if constexpr (kKind == layer::kGpsTime) {
    code_time(coder, m.gps_time, word, field, i);
  } else if constexpr (kKind == layer::kRgb) {
    code_rgb_point(coder, m.rgb, word, layout.rgb_version == 4, field, i);
  } else if constexpr (kKind == layer::kNir) {
    code_nir_point(coder, m.nir, word, layout.nir_version == 4, field, i);
  } else if constexpr (kKind == layer::kWavePacket) {
    code_wave_packet_point(coder, m.wave_packet, word, layout.wave_packet_version == 4, field, i);
  } else {
    static_assert(kKind == layer::kExtra);
    code_extra(coder, m.extra, word, layout.extra_version == 4, field, i);
  }
}

/// Encodes a row of points in one layer. Layer 0 writes control words, the others read them.
template <std::uint32_t kKind>
void encode_points(Encoder& state, LayerModels& m, const RecordLayout& layout, std::uint16_t* control_words,
                   const LayeredFields<const std::byte>& fields, LayerName name, std::uint64_t first,
                   std::uint64_t count) {
  Encoder coder = state;
  if constexpr (kKind == layer::kMain) {
    const auto main = main_fields(fields);
    for (std::uint64_t i = first; i < first + count; ++i)
      control_words[i] = static_cast<std::uint16_t>(code_main(coder, m.main, main, i));
  } else {
    const auto field = place_of(layout, fields, name).field;
    for (std::uint64_t i = first; i < first + count; ++i)
      code_point<kKind>(coder, m, layout, control_words[i], field, i);
  }
  state = coder;
}

using EncodePoints = decltype(&encode_points<layer::kMain>);

EncodePoints encode_points_of(std::uint32_t kind) {
  static constexpr EncodePoints kFunctions[] = {
      encode_points<layer::kMain>,     encode_points<layer::kZ>,         encode_points<layer::kClassification>,
      encode_points<layer::kFlags>,    encode_points<layer::kIntensity>, encode_points<layer::kScanAngle>,
      encode_points<layer::kUserData>, encode_points<layer::kSource>,    encode_points<layer::kGpsTime>,
      encode_points<layer::kRgb>,      encode_points<layer::kNir>,       encode_points<layer::kWavePacket>,
      encode_points<layer::kExtra>};
  return kFunctions[kind];
}

/// A layer while it is decoded.
struct Stream {
  Decoder coder;
  Field<std::byte> field;
  std::uint64_t size = 0;   ///< bytes by the chunk's header
  std::uint64_t sound = 1;  ///< points so far
  bool is_on = false;       ///< wanted, present and sound so far
};

/// All layers of a chunk while they are decoded; extra bytes use one place one after the other.
struct Streams {
  LayerModels& models;
  const RecordLayout& layout;
  std::uint16_t* control_words;
  MainFields<std::byte> main;
  Stream of[layer::kExtra + 1];
};

/// \returns false where bytes are missing or a value cannot be
template <std::uint32_t kKind>
SLUICE_LAZ_INLINE bool decode_point(Decoder& coder, Streams& streams, std::uint64_t i) {
  if constexpr (kKind == layer::kMain) {
    streams.control_words[i] = static_cast<std::uint16_t>(code_main(coder, streams.models.main, streams.main, i));
  } else {
    code_point<kKind>(coder, streams.models, streams.layout, streams.control_words[i], streams.of[kKind].field, i);
  }
  return !coder.starved() && !coder.corrupt();
}

/// Decodes one layer up to point `count`. Layer 0 writes control words, the others read them.
template <std::uint32_t kKind>
void decode_points(Streams& streams, std::uint64_t count) {
  Stream& stream = streams.of[kKind];
  if (!stream.is_on) return;
  Decoder coder = stream.coder;
  std::uint64_t i = stream.sound;
  while (i < count && decode_point<kKind>(coder, streams, i)) ++i;
  stream.coder = coder;
  stream.sound = i;
}

/// The same for two layers side by side: neither waits for the other, so the processor works on both at once.
template <std::uint32_t kA, std::uint32_t kB>
void decode_points(Streams& streams, std::uint64_t count) {
  Stream& a = streams.of[kA];
  Stream& b = streams.of[kB];
  if (a.is_on && b.is_on) {
    Decoder coder_a = a.coder;
    Decoder coder_b = b.coder;
    std::uint64_t i = 1;
    for (; i < count; ++i) {
      a.is_on = decode_point<kA>(coder_a, streams, i);
      b.is_on = decode_point<kB>(coder_b, streams, i);
      if (!a.is_on || !b.is_on) break;
    }
    a.coder = coder_a;
    b.coder = coder_b;
    a.sound = i + (i < count && a.is_on ? 1 : 0);
    b.sound = i + (i < count && b.is_on ? 1 : 0);
  }
  // Where the other one is absent or has stopped.
  decode_points<kA>(streams, count);
  decode_points<kB>(streams, count);
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

/// True for a layer of no bytes, whose points all have the first one's value. Layer 0 and z are never left out.
bool is_absent(const Stream& stream, LayerName name) {
  return stream.size == 0 && name.kind != layer::kMain && name.kind != layer::kZ;
}

/// Gives all points but the first the value of the first, as a layer of no bytes means.
/// \returns false where layer 0 says that the value changes
bool repeat_first(const Place<std::byte>& place, LayerName name, const std::byte* record,
                  const std::uint16_t* control_words, std::uint64_t count) {
  if (name.kind == layer::kFlags) {
    const std::uint32_t flags = FlagsCoding::value_of(load_unaligned<std::uint8_t>(record + place.at));
    for (std::uint64_t i = 1; i < count; ++i)
      store_unaligned(place.field.of(i), static_cast<std::uint8_t>(FlagsCoding::byte_of(flags, control_words[i])));
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
    const std::uint32_t flags = FlagsCoding::value_of(load_unaligned<std::uint8_t>(first));
    for (std::uint64_t i = 1; i < count; ++i) {
      if (FlagsCoding::value_of(load_unaligned<std::uint8_t>(place.field.of(i))) != flags) return false;
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

/// Whether layer 0 is decoded, or its control words are known.
enum class Pass : std::uint8_t { kFirst, kFurther };

/// Decodes the layers of a chunk whose header has been read.
class LayersDecoder {
 public:
  LayersDecoder(LayerModels& models, const RecordLayout& layout, std::span<const std::byte> bytes, std::uint64_t wanted,
                const LayeredFields<std::byte>& fields, std::uint64_t points, bool complete, Pass pass,
                std::uint16_t* control_words)
      : layout_(layout),
        bytes_(bytes),
        wanted_(wanted),
        fields_(fields),
        points_(points),
        complete_(complete),
        pass_(pass),
        sizes_(bytes.data() + layout.record_bytes + 4),
        at_(layout.record_bytes + 4 + 4 * std::uint64_t{layout.layers()}),
        streams_{models, layout, control_words, main_fields(fields), {}} {}

  /// \param result  its status is made worse where a layer is not sound; points and damage are set
  void decode(LayeredResult& result) {
    std::uint64_t begun = 0;
    for_layers(layout_, [&](LayerName name) {
      if (name.kind != layer::kExtra && begin(name)) begun |= name.bit();
    });
    decode_points<layer::kMain>(streams_, points_);
    const std::uint64_t count = pass_ == Pass::kFirst ? streams_.of[layer::kMain].sound : points_;
    result.points = result.main = count;
    decode_points<layer::kZ, layer::kIntensity>(streams_, count);
    decode_points<layer::kGpsTime, layer::kRgb>(streams_, count);
    decode_points<layer::kClassification>(streams_, count);
    decode_points<layer::kFlags>(streams_, count);
    decode_points<layer::kScanAngle>(streams_, count);
    decode_points<layer::kUserData>(streams_, count);
    decode_points<layer::kSource>(streams_, count);
    decode_points<layer::kNir>(streams_, count);
    decode_points<layer::kWavePacket>(streams_, count);
    for_layers(layout_, [&](LayerName name) {
      if (name.kind == layer::kExtra) {
        if (!begin(name)) return;
        decode_points<layer::kExtra>(streams_, count);
      } else if ((begun & name.bit()) == 0) {
        return;
      }
      end(name, result);
    });
  }

 private:
  /// Prepares the next layer.
  /// \returns false where it is not wanted
  bool begin(LayerName name) {
    Stream& stream = streams_.of[name.kind];
    stream.size = load_unaligned<std::uint32_t>(sizes_);
    sizes_ += 4;
    const std::uint64_t from = std::min<std::uint64_t>(at_, bytes_.size());
    at_ += stream.size;
    if (name.kind == layer::kMain) {
      if (pass_ == Pass::kFurther) return false;
    } else {
      stream.field = place_of(layout_, fields_, name).field;
      if ((wanted_ & name.bit()) == 0 || stream.field.at == nullptr) return false;
    }
    stream.coder.start(bytes_.data() + from, std::min<std::uint64_t>(stream.size, bytes_.size() - from));
    stream.sound = 1;
    stream.is_on = !is_absent(stream, name);
    if (stream.is_on) start_layer(streams_.models, layout_, name, bytes_.data());
    return true;
  }

  /// Sees how a layer's decoding ended.
  void end(LayerName name, LayeredResult& result) {
    const Stream& stream = streams_.of[name.kind];
    Status status = Status::kOk;
    std::uint64_t sound = stream.sound;
    if (is_absent(stream, name)) {
      sound = result.main;
      if (!repeat_first(place_of(layout_, fields_, name), name, bytes_.data(), streams_.control_words, sound)) {
        status = Status::kCorrupt;
        sound = 1;
      }
    } else if (stream.coder.starved()) {
      status = Status::kTruncated;
    } else if (stream.coder.corrupt()) {
      status = Status::kCorrupt;
    } else if (complete_ && result.main == points_ && stream.coder.consumed() != stream.size) {
      status = Status::kLeftOver;
    }
    if (status != Status::kOk) result.damaged |= name.bit();
    result.status = worse(result.status, status);
    result.points = std::min(result.points, sound);
  }

  const RecordLayout& layout_;
  std::span<const std::byte> bytes_;
  std::uint64_t wanted_;
  const LayeredFields<std::byte>& fields_;
  std::uint64_t points_;
  bool complete_;  ///< all points of the chunk are decoded
  Pass pass_;
  const std::byte* sizes_;  ///< of the next layer
  std::uint64_t at_;        ///< of the next layer
  Streams streams_;
};

/// Decodes layers of a chunk in one pass.
LayeredResult decode_layers(LayeredWorkspace& workspace, const RecordLayout& layout, std::span<const std::byte> bytes,
                            std::uint64_t wanted, const LayeredFields<std::byte>& fields, std::uint64_t count,
                            Pass pass, std::uint16_t* control_words) {
  LayeredResult result;
  const std::byte* record = bytes.data();
  if (bytes.size() < layout.record_bytes) {
    result.status = Status::kTruncated;
    return result;
  }
  if (pass == Pass::kFirst) {
    // The flags come from layer 0 at first, with nothing but the scanner channel.
    store_unaligned(fields.flags.of(0), static_cast<std::uint8_t>(load_unaligned<std::uint8_t>(record + 15) & 0x30U));
    std::memcpy(fields.x.of(0), record, 4);
    std::memcpy(fields.y.of(0), record + 4, 4);
    std::memcpy(fields.returns.of(0), record + 14, 1);
  }
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
  if (control_words == nullptr) control_words = workspace.control(points);
  LayersDecoder decoder(workspace.models(), layout, bytes, wanted, fields, points, points == header.points, pass,
                        control_words);
  decoder.decode(result);
  if (header.bytes < bytes.size()) result.status = worse(result.status, Status::kLeftOver);
  return result;
}

}  // namespace

LayerModels& LayeredWorkspace::models() {
  if (!models_) models_ = std::make_unique_for_overwrite<LayerModels>();
  return *models_;
}

std::uint16_t* LayeredWorkspace::control(std::uint64_t points) {
  if (points > points_) {
    control_ = std::make_unique_for_overwrite<std::uint16_t[]>(points);
    points_ = points;
  }
  return control_.get();
}

Status read_layered_header(const RecordLayout& layout, std::span<const std::byte> bytes, LayeredHeader& out) {
  const std::uint64_t layers = layout.layers();
  const std::uint64_t fixed = layout.record_bytes + 4 + 4 * layers;
  if (bytes.size() < fixed) return Status::kTruncated;
  const std::byte* at = bytes.data() + layout.record_bytes;
  out.points = load_unaligned<std::uint32_t>(at);
  out.bytes = fixed;
  for (std::uint64_t i = 0; i < layers; ++i) out.bytes += load_unaligned<std::uint32_t>(at + 4 + 4 * i);
  return Status::kOk;
}

std::uint64_t layers_of(const RecordLayout& layout, std::uint64_t at, std::uint64_t bytes) {
  std::uint64_t mask = 0;
  for_layers(layout, [&](LayerName name) {
    if (name.kind == layer::kMain) return;
    const auto place = place_of(layout, LayeredFields<std::byte>{}, name);
    if (place.at < at + bytes && at < place.at + place.bytes) mask |= name.bit();
  });
  return mask;
}

LayeredResult decode_layered_chunk(LayeredWorkspace& workspace, const RecordLayout& layout,
                                   std::span<const std::byte> bytes, std::uint64_t wanted,
                                   const LayeredFields<std::byte>& fields, std::uint64_t count,
                                   std::uint16_t* control_words) {
  return decode_layers(workspace, layout, bytes, wanted, fields, count, Pass::kFirst, control_words);
}

LayeredResult decode_further_layers(LayeredWorkspace& workspace, const RecordLayout& layout,
                                    std::span<const std::byte> bytes, std::uint64_t wanted,
                                    const LayeredFields<std::byte>& fields, std::uint64_t count,
                                    std::uint16_t* control_words) {
  return decode_layers(workspace, layout, bytes, wanted, fields, count, Pass::kFurther, control_words);
}

void encode_layered_chunk(LayeredWorkspace& workspace, const RecordLayout& layout,
                          const LayeredFields<const std::byte>& fields, std::uint64_t count, Buffer& out) {
  LayerModels& models = workspace.models();
  std::uint16_t* control_words = workspace.control(count);
  const std::uint64_t begin = out.size();
  const std::uint64_t sizes_at = begin + layout.record_bytes + 4;
  const std::uint64_t layers_at = sizes_at + 4 * std::uint64_t{layout.layers()};
  out.reserve(layers_at - begin);
  out.resize(layers_at);
  for_places(layout, fields, [&](const Place<const std::byte>& place) {
    std::memcpy(out.data() + begin + place.at, place.field.of(0), place.bytes);
  });
  store_unaligned(out.data() + sizes_at - 4, static_cast<std::uint32_t>(count));

  std::uint64_t size_at = sizes_at;
  for_layers(layout, [&](LayerName name) {
    const std::uint64_t stream = out.size();
    const bool optional = name.kind != layer::kMain && name.kind != layer::kZ;
    if (!optional || !is_constant(place_of(layout, fields, name), name, count)) {
      start_layer(models, layout, name, out.data() + begin);
      const EncodePoints encode = encode_points_of(name.kind);
      encode_stream(out, count, kMaxCoded, [&](Encoder& coder, std::uint64_t first, std::uint64_t block) {
        encode(coder, models, layout, control_words, fields, name, first, block);
      });
    }
    store_unaligned(out.data() + size_at, static_cast<std::uint32_t>(out.size() - stream));
    size_at += 4;
  });
}

}  // namespace sluice::laz
