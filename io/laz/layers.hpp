// SPDX-License-Identifier: Apache-2.0
/// \file
/// The layers of formats 6 to 10, versions 3 and 4: models of each, and how one point is coded.
///
/// A function codes point i of its layer, 1 or later, given the models and the point's control word; a field is where
/// the value goes to or comes from.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gps_time.hpp"
#include "integer_codec.hpp"
#include "median.hpp"
#include "memory.hpp"
#include "return_contexts.hpp"
#include "rgb.hpp"
#include "wave_packet.hpp"

namespace sluice::laz {

/// What the other layers need to know of a point: 16 bits that layer 0 yields.
namespace control {
SLUICE_LAZ_INLINE std::uint32_t channel(std::uint32_t word) { return word & 3U; }
SLUICE_LAZ_INLINE bool switches_channel(std::uint32_t word) { return (word & 4U) != 0; }
SLUICE_LAZ_INLINE std::uint32_t returns(std::uint32_t word) { return word >> 3 & 3U; }  ///< 2: first, 1: last
SLUICE_LAZ_INLINE std::uint32_t time_changes(std::uint32_t word) { return word >> 5 & 1U; }
inline constexpr std::uint32_t kTimeChanges = 1U << 5, kSourceChanges = 1U << 6, kAngleChanges = 1U << 7;
SLUICE_LAZ_INLINE std::uint32_t level(std::uint32_t word) { return word >> 8 & 7U; }
SLUICE_LAZ_INLINE std::uint32_t z_context(std::uint32_t word) { return word >> 11; }
}  // namespace control

/// State for each of the four scanner channels, of which a chunk rarely has more than one. A channel's state is made
/// when it first occurs, with the directly preceding point as its last.
template <class State>
struct Channels {
  State state[4];
  std::uint32_t used;

  SLUICE_LAZ_INLINE bool is_new(std::uint32_t channel) {
    const std::uint32_t bit = 1U << channel;
    const bool fresh = (used & bit) == 0;
    used |= bit;
    return fresh;
  }
};

// Layer 0: scanner channel, returns, x, y. ---------------------------------------------------------------------------

struct MainChannel {
  static constexpr std::uint32_t kMaxCoded = 40;

  Bank<128, 8> changed;
  Alphabet<3> channel;
  Bank<16, 16> returns, return_number;
  Alphabet<13> return_same_time;
  IntegerCodec<32, 2> dx;
  IntegerCodec<32, 22> dy;
  Median median_dx[12], median_dy[12];
  std::uint32_t x, y;
  std::uint32_t r, n;
  std::uint32_t time_changed;  ///< at the last point
  // The encoder alone looks at these.
  std::uint32_t scan_angle, source;
  std::uint64_t time;
};

struct MainLayer {
  Channels<MainChannel> channels;
  std::uint32_t current;
};

SLUICE_HD void start_models(MainChannel& q) {
  start(q.changed);
  start(q.channel);
  start(q.returns);
  start(q.return_number);
  start(q.return_same_time);
  start(q.dx);
  start(q.dy);
  for (int i = 0; i < 12; ++i) {
    start(q.median_dx[i]);
    start(q.median_dy[i]);
  }
  q.time_changed = 0;
}

/// \param record  the chunk's first point
SLUICE_HD void start(MainLayer& m, const std::byte* record) {
  m.current = load_unaligned<std::uint8_t>(record + 15) >> 4 & 3U;
  m.channels.used = 1U << m.current;
  MainChannel& q = m.channels.state[m.current];
  start_models(q);
  q.x = load_unaligned<std::uint32_t>(record);
  q.y = load_unaligned<std::uint32_t>(record + 4);
  q.r = load_unaligned<std::uint8_t>(record + 14) & 15U;
  q.n = load_unaligned<std::uint8_t>(record + 14) >> 4;
  q.scan_angle = load_unaligned<std::uint16_t>(record + 18);
  q.source = load_unaligned<std::uint16_t>(record + 20);
  q.time = load_unaligned<std::uint64_t>(record + 22);
}

/// A channel that occurs for the first time.
SLUICE_LAZ_COLD inline void begin_channel(MainChannel& q, const MainChannel& before) {
  start_models(q);
  q.x = before.x;
  q.y = before.y;
  q.r = before.r;
  q.n = before.n;
  q.scan_angle = before.scan_angle;
  q.source = before.source;
  q.time = before.time;
}

template <class Byte>
struct MainFields {
  Field<Byte> x, y, returns, flags;
  Field<Byte> scan_angle, source, gps_time;  ///< the encoder alone looks at these
};

/// A decoder writes bits 4 and 5 of the flags and clears the others.
/// \returns the point's control word
template <class Coder>
SLUICE_LAZ_INLINE std::uint32_t code_main(Coder& coder, MainLayer& m, const MainFields<typename Coder::Byte>& fields,
                                          std::uint64_t i) {
  constexpr bool kEncodes = Coder::kEncodes;
  enum : std::uint32_t { kSame, kNext, kPrevious, kOther };
  std::uint32_t channel = m.current;
  MainChannel* p = &m.channels.state[channel];
  const std::uint32_t context = (p->r == 1 ? 1U : 0U) + (p->r >= p->n ? 2U : 0U) + (p->time_changed != 0 ? 4U : 0U);
  std::uint32_t changed = 0;
  std::uint32_t new_channel = channel;
  std::uint32_t n = 0;
  std::uint32_t r = 0;
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  if constexpr (kEncodes) {
    new_channel = load_unaligned<std::uint8_t>(fields.flags.of(i)) >> 4 & 3U;
    r = load_unaligned<std::uint8_t>(fields.returns.of(i)) & 15U;
    n = load_unaligned<std::uint8_t>(fields.returns.of(i)) >> 4;
    x = load_unaligned<std::uint32_t>(fields.x.of(i));
    y = load_unaligned<std::uint32_t>(fields.y.of(i));
    const MainChannel& last = (m.channels.used >> new_channel & 1U) != 0 ? m.channels.state[new_channel] : *p;
    const std::uint32_t step = (r - last.r) & 15U;
    changed = (new_channel != channel ? 64U : 0U) |
              (load_unaligned<std::uint16_t>(fields.source.of(i)) != last.source ? 32U : 0U) |
              (load_unaligned<std::uint64_t>(fields.gps_time.of(i)) != last.time ? 16U : 0U) |
              (load_unaligned<std::uint16_t>(fields.scan_angle.of(i)) != last.scan_angle ? 8U : 0U) |
              (n != last.n ? 4U : 0U) |
              (step == 0    ? kSame
               : step == 1  ? kNext
               : step == 15 ? kPrevious
                            : kOther);
  }
  changed = coder.symbol(p->changed.at(context), changed);
  if ((changed & 64U) != 0) {
    const std::uint32_t step = coder.symbol(p->channel, (new_channel - channel - 1) & 3U);
    channel = (channel + step + 1) & 3U;
    MainChannel* q = &m.channels.state[channel];
    if (m.channels.is_new(channel)) begin_channel(*q, *p);
    m.current = channel;
    p = q;
  }
  MainChannel& q = *p;
  n = (changed & 4U) != 0 ? coder.symbol(q.returns.at(q.n), n) : q.n;
  const bool time_changes = (changed & 16U) != 0;
  switch (changed & 3U) {
    case kSame:
      r = q.r;
      break;
    case kNext:
      r = (q.r + 1) & 15U;
      break;
    case kPrevious:
      r = (q.r - 1) & 15U;
      break;
    default:
      r = time_changes ? coder.symbol(q.return_number.at(q.r), r)
                       : (coder.symbol(q.return_same_time, (r - q.r - 2) & 15U) + q.r + 2) & 15U;
  }
  const std::uint32_t time_bit = time_changes ? 1 : 0;
  const std::uint32_t median = 2 * returns_context_16(n, r) + time_bit;
  const std::uint32_t difference = n > r ? n - r : r - n;
  const std::uint32_t level = difference < 7 ? difference : 7;
  const std::uint32_t single = n == 1 ? 1 : 0;
  const CodedInteger dx = code_integer(coder, q.dx, single, q.median_dx[median].middle(), x - q.x);
  q.median_dx[median].add(dx.value);
  const CodedInteger dy = code_integer(coder, q.dy, single + (dx.interval < 20 ? dx.interval & ~1U : 20),
                                       q.median_dy[median].middle(), y - q.y);
  q.median_dy[median].add(dy.value);
  q.x += dx.value;
  q.y += dy.value;
  q.r = r;
  q.n = n;
  q.time_changed = time_bit;
  const std::uint32_t kz = (dx.interval + dy.interval) / 2;
  if constexpr (kEncodes) {
    q.scan_angle = load_unaligned<std::uint16_t>(fields.scan_angle.of(i));
    q.source = load_unaligned<std::uint16_t>(fields.source.of(i));
    q.time = load_unaligned<std::uint64_t>(fields.gps_time.of(i));
  } else {
    store_unaligned(fields.x.of(i), q.x);
    store_unaligned(fields.y.of(i), q.y);
    store_unaligned(fields.returns.of(i), static_cast<std::uint8_t>(n << 4 | r));
    store_unaligned(fields.flags.of(i), static_cast<std::uint8_t>(channel << 4));
  }
  return channel | (changed >> 4 & 4U) | (r == 1 ? 16U : 0U) | (r >= n ? 8U : 0U) | time_bit << 5 |
         (changed & 32U) << 1 | (changed & 8U) << 4 | level << 8 | (single + (kz < 18 ? kz & ~1U : 18)) << 11;
}

// Layers 1 to 8: the rest of POINT14. --------------------------------------------------------------------------------

/// A field whose symbols have up to 64 contexts: classification, flags, user data.
template <std::uint32_t kSymbols>
struct SymbolLayer {
  static constexpr std::uint32_t kMaxCoded = 2;
  struct Channel {
    Bank<kSymbols, 64> models;
    std::uint32_t last;
  };
  Channels<Channel> channels;
  std::uint32_t last;  ///< of the directly preceding point
};

template <std::uint32_t kSymbols>
SLUICE_HD void start(SymbolLayer<kSymbols>& m, std::uint32_t channel, std::uint32_t value) {
  m.channels.used = 1U << channel;
  start(m.channels.state[channel].models);
  m.channels.state[channel].last = m.last = value;
}

/// How a field of one byte is modelled.
struct ClassificationCoding {
  static SLUICE_LAZ_INLINE std::uint32_t context(std::uint32_t last, std::uint32_t word) {
    return 2 * (last & 31U) + (control::returns(word) == 3 ? 1U : 0U);
  }
  static SLUICE_LAZ_INLINE std::uint32_t value_of(std::uint32_t byte) { return byte; }
  static SLUICE_LAZ_INLINE std::uint32_t byte_of(std::uint32_t value, std::uint32_t /*word*/) { return value; }
};
struct UserDataCoding {
  static SLUICE_LAZ_INLINE std::uint32_t context(std::uint32_t last, std::uint32_t /*word*/) { return last >> 2; }
  static SLUICE_LAZ_INLINE std::uint32_t value_of(std::uint32_t byte) { return byte; }
  static SLUICE_LAZ_INLINE std::uint32_t byte_of(std::uint32_t value, std::uint32_t /*word*/) { return value; }
};
/// Class flags, scan direction and edge. The scanner channel, in the same byte, is known from layer 0.
struct FlagsCoding {
  static SLUICE_LAZ_INLINE std::uint32_t context(std::uint32_t last, std::uint32_t /*word*/) { return last; }
  static SLUICE_LAZ_INLINE std::uint32_t value_of(std::uint32_t byte) { return (byte & 15U) | (byte >> 6 << 4); }
  static SLUICE_LAZ_INLINE std::uint32_t byte_of(std::uint32_t value, std::uint32_t word) {
    return (value & 15U) | control::channel(word) << 4 | value >> 4 << 6;
  }
};

template <class Coding, class Coder, std::uint32_t kSymbols>
SLUICE_LAZ_INLINE void code_symbol(Coder& coder, SymbolLayer<kSymbols>& m, std::uint32_t word,
                                   Field<typename Coder::Byte> field, std::uint64_t i) {
  auto& q = m.channels.state[control::channel(word)];
  if (m.channels.is_new(control::channel(word))) {
    start(q.models);
    q.last = m.last;
  }
  std::uint32_t value = 0;
  if constexpr (Coder::kEncodes) value = Coding::value_of(load_unaligned<std::uint8_t>(field.of(i)));
  value = coder.symbol(q.models.at(Coding::context(q.last, word)), value);
  q.last = m.last = value;
  if constexpr (!Coder::kEncodes) store_unaligned(field.of(i), static_cast<std::uint8_t>(Coding::byte_of(value, word)));
}

/// Z or intensity: predicted by the last value in the same of eight situations.
template <std::uint32_t kBits, std::uint32_t kContexts>
struct LevelLayer {
  static constexpr std::uint32_t kMaxCoded = 12;
  struct Channel {
    IntegerCodec<kBits, kContexts> codec;
    std::uint32_t last[8];
  };
  Channels<Channel> channels;
  std::uint32_t last;  ///< of the directly preceding point
};
using ZLayer = LevelLayer<32, 20>;
using IntensityLayer = LevelLayer<16, 4>;

template <std::uint32_t kBits, std::uint32_t kContexts>
SLUICE_HD void begin_channel(LevelLayer<kBits, kContexts>& m, std::uint32_t channel) {
  auto& q = m.channels.state[channel];
  start(q.codec);
  for (std::uint32_t& last : q.last) last = m.last;
}

template <std::uint32_t kBits, std::uint32_t kContexts>
SLUICE_HD void start(LevelLayer<kBits, kContexts>& m, std::uint32_t channel, std::uint32_t value) {
  m.channels.used = 1U << channel;
  m.last = value;
  begin_channel(m, channel);
}

template <class Coder>
SLUICE_LAZ_INLINE void code_z(Coder& coder, ZLayer& m, std::uint32_t word, Field<typename Coder::Byte> field,
                              std::uint64_t i) {
  auto& q = m.channels.state[control::channel(word)];
  if (m.channels.is_new(control::channel(word))) begin_channel(m, control::channel(word));
  std::uint32_t& last = q.last[control::level(word)];
  std::uint32_t z = 0;
  if constexpr (Coder::kEncodes) z = load_unaligned<std::uint32_t>(field.of(i));
  last = m.last = code_integer(coder, q.codec, control::z_context(word), last, z).value;
  if constexpr (!Coder::kEncodes) store_unaligned(field.of(i), m.last);
}

template <class Coder>
SLUICE_LAZ_INLINE void code_intensity(Coder& coder, IntensityLayer& m, std::uint32_t word,
                                      Field<typename Coder::Byte> field, std::uint64_t i) {
  auto& q = m.channels.state[control::channel(word)];
  if (m.channels.is_new(control::channel(word))) begin_channel(m, control::channel(word));
  const std::uint32_t returns = control::returns(word);
  std::uint32_t& last = q.last[2 * returns + control::time_changes(word)];
  std::uint32_t intensity = 0;
  if constexpr (Coder::kEncodes) intensity = load_unaligned<std::uint16_t>(field.of(i));
  last = m.last = code_integer(coder, q.codec, returns, last, intensity).value;
  if constexpr (!Coder::kEncodes) store_unaligned(field.of(i), static_cast<std::uint16_t>(m.last));
}

/// Scan angle or point source: coded only where layer 0 says that it changes.
template <std::uint32_t kContexts>
struct ChangeLayer {
  static constexpr std::uint32_t kMaxCoded = 8;
  struct Channel {
    IntegerCodec<16, kContexts> codec;
    std::uint32_t last;
  };
  Channels<Channel> channels;
  std::uint32_t last;  ///< of the directly preceding point
};
using ScanAngleLayer = ChangeLayer<2>;
using SourceLayer = ChangeLayer<1>;

template <std::uint32_t kContexts>
SLUICE_HD void start(ChangeLayer<kContexts>& m, std::uint32_t channel, std::uint32_t value) {
  m.channels.used = 1U << channel;
  start(m.channels.state[channel].codec);
  m.channels.state[channel].last = m.last = value;
}

/// \param change   bit of the control word that says that the value changes
template <class Coder, std::uint32_t kContexts>
SLUICE_LAZ_INLINE void code_if_changed(Coder& coder, ChangeLayer<kContexts>& m, std::uint32_t word,
                                       Field<typename Coder::Byte> field, std::uint32_t change, std::uint64_t i) {
  auto& q = m.channels.state[control::channel(word)];
  if (m.channels.is_new(control::channel(word))) {
    start(q.codec);
    q.last = m.last;
  }
  if ((word & change) != 0) {
    std::uint32_t value = 0;
    if constexpr (Coder::kEncodes) value = load_unaligned<std::uint16_t>(field.of(i));
    const std::uint32_t context = kContexts == 1 ? 0 : control::time_changes(word);
    q.last = code_integer(coder, q.codec, context, q.last, value).value;
  }
  m.last = q.last;
  if constexpr (!Coder::kEncodes) store_unaligned(field.of(i), static_cast<std::uint16_t>(m.last));
}

struct GpsTimeLayer {
  Channels<GpsTimeModels<true>> channels;
  std::uint64_t last;  ///< of the directly preceding point
};

SLUICE_HD void start(GpsTimeLayer& m, std::uint32_t channel, std::uint64_t time) {
  m.channels.used = 1U << channel;
  m.last = time;
  start(m.channels.state[channel], time);
}

template <class Coder>
SLUICE_LAZ_INLINE void code_time(Coder& coder, GpsTimeLayer& m, std::uint32_t word, Field<typename Coder::Byte> field,
                                 std::uint64_t i) {
  auto& q = m.channels.state[control::channel(word)];
  if (m.channels.is_new(control::channel(word))) start(q, m.last);
  if ((word & control::kTimeChanges) != 0) {
    std::uint64_t time = 0;
    if constexpr (Coder::kEncodes) time = load_unaligned<std::uint64_t>(field.of(i));
    m.last = code_gps_time(coder, q, time);
  } else {
    m.last = q.last();
  }
  if constexpr (!Coder::kEncodes) store_unaligned(field.of(i), m.last);
}

// Layers of the items behind POINT14. --------------------------------------------------------------------------------

/// State of an item's layer in up to four contexts. Version 3 froze two accidents: the context is the scanner channel
/// only where that differs from the point before, else 0; and the last item of the context left behind stays in use.
template <class Models, class Value>
struct ItemLayer {
  Models models[4];
  Value last[4];
  std::uint32_t current;
  std::uint32_t used;

  /// Makes the context of a point current.
  /// \returns whose last item predicts this one, and is replaced by it
  SLUICE_LAZ_INLINE std::uint32_t enter(std::uint32_t word, bool version4) {
    const std::uint32_t context = version4 || control::switches_channel(word) ? control::channel(word) : 0;
    std::uint32_t from = current;
    if (context != current) {
      current = context;
      if ((used >> context & 1U) == 0) {
        used |= 1U << context;
        start(models[context]);
        last[context] = last[from];
        from = context;
      }
      if (version4) from = context;
    }
    return from;
  }
};

template <class Models, class Value>
SLUICE_HD void start(ItemLayer<Models, Value>& m, std::uint32_t channel, const Value& first) {
  m.current = channel;
  m.used = 1U << channel;
  start(m.models[channel]);
  m.last[channel] = first;
}

using RgbLayer = ItemLayer<RgbModels, Rgb>;
using NirLayer = ItemLayer<NirModels, std::uint32_t>;
using WavePacketLayer = ItemLayer<WavePacketModels, WavePacket>;
using ByteLayer = ItemLayer<Bank<256, 1>, std::uint32_t>;

template <class Coder>
SLUICE_LAZ_INLINE void code_rgb_point(Coder& coder, RgbLayer& m, std::uint32_t word, bool version4,
                                      Field<typename Coder::Byte> field, std::uint64_t i) {
  Rgb& last = m.last[m.enter(word, version4)];
  Rgb colour{};
  if constexpr (Coder::kEncodes) colour = load_rgb(field.of(i));
  last = code_rgb(coder, m.models[m.current], last, colour);
  if constexpr (!Coder::kEncodes) store_rgb(field.of(i), last);
}

template <class Coder>
SLUICE_LAZ_INLINE void code_nir_point(Coder& coder, NirLayer& m, std::uint32_t word, bool version4,
                                      Field<typename Coder::Byte> field, std::uint64_t i) {
  std::uint32_t& last = m.last[m.enter(word, version4)];
  std::uint32_t value = 0;
  if constexpr (Coder::kEncodes) value = load_unaligned<std::uint16_t>(field.of(i));
  last = code_nir(coder, m.models[m.current], last, value);
  if constexpr (!Coder::kEncodes) store_unaligned(field.of(i), static_cast<std::uint16_t>(last));
}

template <class Coder>
SLUICE_LAZ_INLINE void code_wave_packet_point(Coder& coder, WavePacketLayer& m, std::uint32_t word, bool version4,
                                              Field<typename Coder::Byte> field, std::uint64_t i) {
  WavePacket& last = m.last[m.enter(word, version4)];
  WavePacket packet{};
  if constexpr (Coder::kEncodes) packet = load_wave_packet(field.of(i));
  last = code_wave_packet(coder, m.models[m.current], last, packet);
  if constexpr (!Coder::kEncodes) store_wave_packet(field.of(i), last);
}

template <class Coder>
SLUICE_LAZ_INLINE void code_extra(Coder& coder, ByteLayer& m, std::uint32_t word, bool version4,
                                  Field<typename Coder::Byte> field, std::uint64_t i) {
  std::uint32_t& last = m.last[m.enter(word, version4)];
  std::uint32_t value = 0;
  if constexpr (Coder::kEncodes) value = load_unaligned<std::uint8_t>(field.of(i));
  last = (last + coder.symbol(m.models[m.current].at(0), (value - last) & 255U)) & 255U;
  if constexpr (!Coder::kEncodes) store_unaligned(field.of(i), static_cast<std::uint8_t>(last));
}

/// All layers; extra bytes use theirs one after the other.
struct LayerModels {
  MainLayer main;
  ZLayer z;
  SymbolLayer<256> classification;
  SymbolLayer<64> flags;
  IntensityLayer intensity;
  ScanAngleLayer scan_angle;
  SymbolLayer<256> user_data;
  SourceLayer source;
  GpsTimeLayer gps_time;
  RgbLayer rgb;
  NirLayer nir;
  WavePacketLayer wave_packet;
  ByteLayer extra;
};

}  // namespace sluice::laz
