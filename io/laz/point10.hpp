// SPDX-License-Identifier: Apache-2.0
/// \file
/// Item POINT10, version 2: what points of formats 0 to 5 have in common.
#pragma once

#include <cstdint>

#include "integer_codec.hpp"
#include "median.hpp"
#include "memory.hpp"
#include "return_contexts.hpp"

namespace sluice::laz {

struct Point10 {
  static constexpr std::uint32_t kBytes = 20;
  /// Most bytes that the encoder adds for a point.
  static constexpr std::uint32_t kMaxCoded = 64;

  std::uint32_t x, y, z;
  std::uint32_t intensity;
  std::uint32_t bits;  ///< return number, number of returns, scan direction, edge
  std::uint32_t classification;
  std::uint32_t scan_angle;
  std::uint32_t user_data;
  std::uint32_t source;

  [[nodiscard]] SLUICE_LAZ_INLINE std::uint32_t return_number() const { return bits & 7U; }
  [[nodiscard]] SLUICE_LAZ_INLINE std::uint32_t returns() const { return bits >> 3 & 7U; }
};

SLUICE_LAZ_INLINE Point10 load_point10(const std::byte* item) {
  return {load_unaligned<std::uint32_t>(item),     load_unaligned<std::uint32_t>(item + 4),
          load_unaligned<std::uint32_t>(item + 8), load_unaligned<std::uint16_t>(item + 12),
          load_unaligned<std::uint8_t>(item + 14), load_unaligned<std::uint8_t>(item + 15),
          load_unaligned<std::uint8_t>(item + 16), load_unaligned<std::uint8_t>(item + 17),
          load_unaligned<std::uint16_t>(item + 18)};
}

SLUICE_LAZ_INLINE void store_point10(std::byte* item, const Point10& p) {
  store_unaligned(item, p.x);
  store_unaligned(item + 4, p.y);
  store_unaligned(item + 8, p.z);
  store_unaligned(item + 12, p.intensity | p.bits << 16 | p.classification << 24);
  store_unaligned(item + 16, p.scan_angle | p.user_data << 8 | p.source << 16);
}

struct Point10Models {
  Alphabet<64> changed;
  Bank<256, 256> bits, classification, user_data;
  Bank<256, 2> scan_angle;
  IntegerCodec<16, 4> intensity;
  IntegerCodec<16, 1> source;
  IntegerCodec<32, 2> dx;
  IntegerCodec<32, 22> dy;
  IntegerCodec<32, 20> z;
  Median median_dx[16], median_dy[16];
  std::uint32_t last_intensity[16];
  std::uint32_t last_z[8];
  Point10 last;
};

/// \param item  the chunk's first point, as it stands in the record
SLUICE_HD void start(Point10Models& m, const std::byte* item) {
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
  for (int i = 0; i < 16; ++i) {
    start(m.median_dx[i]);
    start(m.median_dy[i]);
    m.last_intensity[i] = 0;
  }
  // Zero, unlike in the layered formats.
  for (std::uint32_t& z : m.last_z) z = 0;
  m.last = load_point10(item);
}

template <class Coder>
SLUICE_LAZ_INLINE void code_point10(Coder& coder, Point10Models& m, typename Coder::Byte* item) {
  constexpr bool kEncodes = Coder::kEncodes;
  Point10& last = m.last;
  Point10 now = last;
  std::uint32_t changed = 0;
  if constexpr (kEncodes) {
    now = load_point10(item);
    const std::uint32_t context = returns_context_8(now.returns(), now.return_number());
    changed = (now.bits != last.bits ? 32U : 0U) | (now.intensity != m.last_intensity[context] ? 16U : 0U) |
              (now.classification != last.classification ? 8U : 0U) | (now.scan_angle != last.scan_angle ? 4U : 0U) |
              (now.user_data != last.user_data ? 2U : 0U) | (now.source != last.source ? 1U : 0U);
  }
  changed = coder.symbol(m.changed, changed);
  if ((changed & 32U) != 0) now.bits = coder.symbol(m.bits.at(last.bits), now.bits);
  const std::uint32_t n = now.returns();
  const std::uint32_t r = now.return_number();
  const std::uint32_t context = returns_context_8(n, r);
  const std::uint32_t level = n > r ? n - r : r - n;
  if ((changed & 16U) != 0) {
    now.intensity =
        code_integer(coder, m.intensity, context < 3 ? context : 3, m.last_intensity[context], now.intensity).value;
    m.last_intensity[context] = now.intensity;
  } else {
    now.intensity = m.last_intensity[context];
  }
  if ((changed & 8U) != 0)
    now.classification = coder.symbol(m.classification.at(last.classification), now.classification);
  if ((changed & 4U) != 0) {
    const std::uint32_t step =
        coder.symbol(m.scan_angle.at(now.bits >> 6 & 1U), (now.scan_angle - last.scan_angle) & 255U);
    now.scan_angle = (last.scan_angle + step) & 255U;
  }
  if ((changed & 2U) != 0) now.user_data = coder.symbol(m.user_data.at(last.user_data), now.user_data);
  if ((changed & 1U) != 0) now.source = code_integer(coder, m.source, 0, last.source, now.source).value;

  const std::uint32_t single = n == 1 ? 1 : 0;
  const CodedInteger dx = code_integer(coder, m.dx, single, m.median_dx[context].middle(), now.x - last.x);
  m.median_dx[context].add(dx.value);
  now.x = last.x + dx.value;
  const CodedInteger dy = code_integer(coder, m.dy, single + (dx.interval < 20 ? dx.interval & ~1U : 20),
                                       m.median_dy[context].middle(), now.y - last.y);
  m.median_dy[context].add(dy.value);
  now.y = last.y + dy.value;
  const std::uint32_t kz = (dx.interval + dy.interval) / 2;
  now.z = code_integer(coder, m.z, single + (kz < 18 ? kz & ~1U : 18), m.last_z[level], now.z).value;
  m.last_z[level] = now.z;
  last = now;
  if constexpr (!kEncodes) store_point10(item, now);
}

}  // namespace sluice::laz
