// SPDX-License-Identifier: Apache-2.0
/// \file
/// Items WAVEPACKET13 and WAVEPACKET14: where a point's waveform lies.
#pragma once

#include <cstdint>

#include "integer_codec.hpp"
#include "memory.hpp"

namespace sluice::laz {

struct WavePacket {
  static constexpr std::uint32_t kBytes = 29;
  static constexpr std::uint32_t kMaxCoded = 72;

  std::uint32_t descriptor;
  std::uint64_t offset;
  std::uint32_t size;
  std::uint32_t location;      ///< bits of a float, as are the next
  std::uint32_t direction[3];  ///< x, y, z
};

SLUICE_LAZ_INLINE WavePacket load_wave_packet(const std::byte* item) {
  return {load_unaligned<std::uint8_t>(item),
          load_unaligned<std::uint64_t>(item + 1),
          load_unaligned<std::uint32_t>(item + 9),
          load_unaligned<std::uint32_t>(item + 13),
          {load_unaligned<std::uint32_t>(item + 17), load_unaligned<std::uint32_t>(item + 21),
           load_unaligned<std::uint32_t>(item + 25)}};
}

SLUICE_LAZ_INLINE void store_wave_packet(std::byte* item, const WavePacket& p) {
  store_unaligned(item, static_cast<std::uint8_t>(p.descriptor));
  store_unaligned(item + 1, p.offset);
  store_unaligned(item + 9, p.size);
  store_unaligned(item + 13, p.location);
  for (std::uint32_t i = 0; i < 3; ++i) store_unaligned(item + 17 + 4 * i, p.direction[i]);
}

struct WavePacketModels {
  Alphabet<256> descriptor;
  Bank<4, 4> offset_case;
  IntegerCodec<32, 1> offset, size, location;
  IntegerCodec<32, 3> direction;
  std::uint32_t last_case;
  std::uint32_t last_difference;
};

SLUICE_HD void start(WavePacketModels& m) {
  start(m.descriptor);
  start(m.offset_case);
  start(m.offset);
  start(m.size);
  start(m.location);
  start(m.direction);
  m.last_case = 0;
  m.last_difference = 0;
}

template <class Coder>
SLUICE_LAZ_INLINE WavePacket code_wave_packet(Coder& coder, WavePacketModels& m, const WavePacket& last,
                                              const WavePacket& packet) {
  enum : std::uint32_t { kSame, kFollows, kNear, kFar };
  WavePacket now = packet;
  now.descriptor = coder.symbol(m.descriptor, now.descriptor);
  std::uint32_t which = kSame;
  std::uint32_t difference = 0;
  if constexpr (Coder::kEncodes) {
    const auto wide = static_cast<std::int64_t>(now.offset - last.offset);
    difference = static_cast<std::uint32_t>(wide);
    if (wide != static_cast<std::int32_t>(wide)) {
      which = kFar;
    } else if (wide != 0) {
      which = wide == static_cast<std::int64_t>(last.size) ? kFollows : kNear;
    }
  }
  which = coder.symbol(m.offset_case.at(m.last_case), which);
  m.last_case = which;
  if (which == kSame) {
    now.offset = last.offset;
  } else if (which == kFollows) {
    now.offset = last.offset + last.size;
  } else if (which == kNear) {
    m.last_difference = code_integer(coder, m.offset, 0, m.last_difference, difference).value;
    now.offset = last.offset + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(m.last_difference)});
  } else {
    const std::uint32_t low = coder.raw(32, static_cast<std::uint32_t>(now.offset));
    const std::uint32_t high = coder.raw(32, static_cast<std::uint32_t>(now.offset >> 32));
    now.offset = std::uint64_t{high} << 32 | low;
  }
  now.size = code_integer(coder, m.size, 0, last.size, now.size).value;
  now.location = code_integer(coder, m.location, 0, last.location, now.location).value;
  for (std::uint32_t i = 0; i < 3; ++i)
    now.direction[i] = code_integer(coder, m.direction, i, last.direction[i], now.direction[i]).value;
  return now;
}

}  // namespace sluice::laz
