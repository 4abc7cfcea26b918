// SPDX-License-Identifier: Apache-2.0
/// \file
/// Items of version 1, which old files hold. Decoded only, so the coder is always a decoder.
#pragma once

#include <cstdint>

#include "decoder.hpp"
#include "integer_codec.hpp"
#include "memory.hpp"
#include "point10.hpp"
#include "rgb.hpp"

namespace sluice::laz {

/// The last three values, of which the middle one predicts the next.
struct MedianOfThree {
  std::int32_t values[3];
  std::uint32_t oldest;

  [[nodiscard]] SLUICE_HD std::uint32_t middle() const {
    const std::int32_t low = values[0] < values[1] ? values[0] : values[1];
    const std::int32_t high = values[0] < values[1] ? values[1] : values[0];
    return static_cast<std::uint32_t>(values[2] < low ? low : values[2] > high ? high : values[2]);
  }
  SLUICE_HD void add(std::uint32_t value) {
    values[oldest] = static_cast<std::int32_t>(value);
    oldest = oldest == 2 ? 0 : oldest + 1;
  }
};

struct Point10OldModels {
  Alphabet<64> changed;
  Bank<256, 256> bits, classification, user_data;
  IntegerCodec<8, 2> scan_angle;
  IntegerCodec<16, 1> intensity, source;
  IntegerCodec<32, 1> dx;
  IntegerCodec<32, 20> dy, z;
  MedianOfThree median_dx, median_dy;
  Point10 last;
};

SLUICE_HD void start(Point10OldModels& m, const std::byte* item) {
  start(m.changed);
  start(m.bits);
  start(m.classification);
  start(m.user_data);
  start(m.scan_angle);
  start(m.intensity);
  start(m.source);
  start(m.dx);
  start(m.dy);
  start(m.z);
  m.median_dx = m.median_dy = {{0, 0, 0}, 0};
  m.last = load_point10(item);
}

SLUICE_HD void decode_point10_old(Decoder& coder, Point10OldModels& m, std::byte* item) {
  Point10& p = m.last;
  const CodedInteger dx = code_integer(coder, m.dx, 0, m.median_dx.middle(), 0);
  m.median_dx.add(dx.value);
  p.x += dx.value;
  const CodedInteger dy = code_integer(coder, m.dy, dx.interval < 19 ? dx.interval : 19, m.median_dy.middle(), 0);
  m.median_dy.add(dy.value);
  p.y += dy.value;
  const std::uint32_t kz = (dx.interval + dy.interval) / 2;
  p.z = code_integer(coder, m.z, kz < 19 ? kz : 19, p.z, 0).value;
  const std::uint32_t changed = coder.symbol(m.changed, 0);
  if ((changed & 32U) != 0) p.intensity = code_integer(coder, m.intensity, 0, p.intensity, 0).value;
  if ((changed & 16U) != 0) p.bits = coder.symbol(m.bits.at(p.bits), 0);
  if ((changed & 8U) != 0) p.classification = coder.symbol(m.classification.at(p.classification), 0);
  if ((changed & 4U) != 0) p.scan_angle = code_integer(coder, m.scan_angle, kz < 3 ? 1 : 0, p.scan_angle, 0).value;
  if ((changed & 2U) != 0) p.user_data = coder.symbol(m.user_data.at(p.user_data), 0);
  if ((changed & 1U) != 0) p.source = code_integer(coder, m.source, 0, p.source, 0).value;
  store_point10(item, p);
}

struct GpsTimeOldModels {
  Alphabet<3> zero;
  Alphabet<512> multi;
  IntegerCodec<32, 6> step;
  std::uint64_t time;
  std::uint32_t delta;
  std::uint32_t misses;
};

SLUICE_HD void start(GpsTimeOldModels& m, std::uint64_t first) {
  start(m.zero);
  start(m.multi);
  start(m.step);
  m.time = first;
  m.delta = 0;
  m.misses = 0;
}

SLUICE_HD std::uint64_t decode_raw64(Decoder& coder) {
  const std::uint32_t low = coder.raw(32, 0);
  return std::uint64_t{coder.raw(32, 0)} << 32 | low;
}

SLUICE_HD std::uint64_t decode_gps_time_old(Decoder& coder, GpsTimeOldModels& m) {
  const auto advance = [&m](std::uint32_t step) {
    m.time += static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(step)});
  };
  if (m.delta == 0) {
    const std::uint32_t s = coder.symbol(m.zero, 0);
    if (s == 1) {
      m.delta = code_integer(coder, m.step, 0, 0, 0).value;
      advance(m.delta);
    } else if (s == 2) {
      m.time = decode_raw64(coder);
    }
    return m.time;
  }
  const std::uint32_t s = coder.symbol(m.multi, 0);
  if (s == 511) return m.time;
  if (s == 510) {
    m.time = decode_raw64(coder);
    return m.time;
  }
  std::uint32_t step = 0;
  if (s == 1) {
    step = code_integer(coder, m.step, 1, m.delta, 0).value;
    m.delta = step;
    m.misses = 0;
  } else if (s == 0) {
    const std::int32_t quarter = static_cast<std::int32_t>(m.delta) / 4;
    step = code_integer(coder, m.step, 2, static_cast<std::uint32_t>(quarter), 0).value;
  } else {
    step = code_integer(coder, m.step, s < 10 ? 3 : s < 50 ? 4 : 5, s * m.delta, 0).value;
  }
  if ((s == 0 || s == 509) && ++m.misses > 3) {
    m.delta = step;
    m.misses = 0;
  }
  advance(step);
  return m.time;
}

struct RgbOldModels {
  Alphabet<64> used;
  IntegerCodec<8, 6> value;
};

SLUICE_HD void start(RgbOldModels& m) {
  start(m.used);
  start(m.value);
}

/// \param last  six bytes of the last colour; \param item  receives the new ones
SLUICE_HD void decode_rgb_old(Decoder& coder, RgbOldModels& m, const std::byte* last, std::byte* item) {
  const std::uint32_t used = coder.symbol(m.used, 0);
  for (std::uint32_t j = 0; j < 6; ++j) {
    std::uint32_t value = load_unaligned<std::uint8_t>(last + j);
    if ((used >> j & 1U) != 0) value = code_integer(coder, m.value, j, value, 0).value;
    store_unaligned(item + j, static_cast<std::uint8_t>(value));
  }
}

}  // namespace sluice::laz
