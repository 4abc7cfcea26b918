// SPDX-License-Identifier: Apache-2.0
/// \file
/// GPS times: item GPSTIME11 version 2 and, without the symbols for "unchanged", the time layer of POINT14.
#pragma once

#include <cstdint>

#include "integer_codec.hpp"
#include "memory.hpp"

namespace sluice::laz {

/// Four sequences of times; each expects its next step to be a small multiple of an earlier one. Times are the 64 bits
/// of the double.
///
/// Symbols of the layered form are those of the pointwise form with "unchanged" taken out and the rest moved down.
template <bool kLayered>
struct GpsTimeModels {
  static constexpr std::uint32_t kBytes = 8;
  static constexpr std::uint32_t kMaxCoded = 48;
  static constexpr std::uint32_t kShift = kLayered ? 1 : 0;

  Alphabet<6 - kShift> zero;
  Alphabet<516 - kShift> multi;
  IntegerCodec<32, 9> step;
  std::uint64_t time[4];
  std::uint32_t delta[4];
  std::uint32_t misses[4];
  std::uint32_t current;
  std::uint32_t newest;

  [[nodiscard]] SLUICE_LAZ_INLINE std::uint64_t last() const { return time[current]; }
};

/// \param first  time of the chunk's first point, or of the point before the first one of this scanner channel
template <bool kLayered>
SLUICE_HD void start(GpsTimeModels<kLayered>& m, std::uint64_t first) {
  start(m.zero);
  start(m.multi);
  start(m.step);
  for (int i = 0; i < 4; ++i) {
    m.time[i] = 0;
    m.delta[i] = 0;
    m.misses[i] = 0;
  }
  m.time[0] = first;
  m.current = 0;
  m.newest = 0;
}

namespace gps_symbol {
// Pointwise form.
inline constexpr std::uint32_t kZeroUnchanged = 0, kZeroStep = 1, kZeroNew = 2;
inline constexpr std::uint32_t kMultiUnchanged = 511, kMultiNew = 512;
inline constexpr std::uint32_t kMultiMax = 500, kMultiMin = 510;
}  // namespace gps_symbol

/// Multiple of the last step that comes nearest to a difference, as symbol. Any choice can be decoded; this one,
/// rounded in single precision, gives the bytes that other writers give.
SLUICE_HD std::uint32_t gps_multiple(std::int32_t difference, std::int32_t delta) {
  const float quotient = static_cast<float>(difference) / static_cast<float>(delta);
  // Half away from zero; the quotient has 24 bits, so adding a half is exact in double.
  const double exact = static_cast<double>(quotient);
  const double rounded = exact < 0 ? exact - 0.5 : exact + 0.5;
  if (rounded >= 2147483648.0) return gps_symbol::kMultiMin;  // the conversion of other writers yields -2^31 here
  if (rounded <= -10.0) return gps_symbol::kMultiMin;
  const auto multiple = static_cast<std::int32_t>(rounded);
  if (multiple >= 500) return gps_symbol::kMultiMax;
  return static_cast<std::uint32_t>(multiple < 0 ? 500 - multiple : multiple);
}

/// Where a time lies from the sequence i places after the current one.
template <bool kLayered>
SLUICE_LAZ_INLINE bool gps_near(const GpsTimeModels<kLayered>& m, std::uint32_t i, std::uint64_t time) {
  const auto difference = static_cast<std::int64_t>(time - m.time[(m.current + i) & 3U]);
  return difference == static_cast<std::int32_t>(difference);
}

/// Codes one time; in the layered form, one that is said to have changed.
template <class Coder, bool kLayered>
SLUICE_LAZ_INLINE std::uint64_t code_gps_time(Coder& coder, GpsTimeModels<kLayered>& m, std::uint64_t time) {
  using namespace gps_symbol;
  constexpr std::uint32_t kShift = GpsTimeModels<kLayered>::kShift;
  // Sound data switches the sequence once at most; damaged data might go on for ever.
  for (int round = 0; round < 8; ++round) {
    const bool zero = m.delta[m.current] == 0;
    const std::uint32_t fresh = zero ? kZeroNew : kMultiNew;
    std::uint32_t s = 0;
    std::uint32_t difference = 0;
    if constexpr (Coder::kEncodes) {
      difference = static_cast<std::uint32_t>(time - m.last());
      if (!kLayered && time == m.last()) {
        s = zero ? kZeroUnchanged : kMultiUnchanged;
      } else if (gps_near(m, 0, time)) {
        s = zero ? kZeroStep
                 : gps_multiple(static_cast<std::int32_t>(difference), static_cast<std::int32_t>(m.delta[m.current]));
      } else {
        s = gps_near(m, 1, time) ? 1 : gps_near(m, 2, time) ? 2 : gps_near(m, 3, time) ? 3 : 0;
        s += fresh;
      }
    }
    if (zero) {
      s = coder.symbol(m.zero, s - kShift) + kShift;
    } else {
      s = coder.symbol(m.multi, s > kMultiMin ? s - kShift : s);
      if (s > kMultiMin) s += kShift;
    }
    if (!kLayered && s == (zero ? kZeroUnchanged : kMultiUnchanged)) return m.last();
    if (s < fresh) {
      const std::uint32_t current = m.current;
      const std::uint32_t delta = m.delta[current];
      std::uint32_t pred = 0;
      std::uint32_t context = 0;
      bool learn = zero;  // the step becomes the delta at once
      bool miss = false;
      bool hit = false;
      if (!zero) {
        if (s == 1) {
          pred = delta;
          context = 1;
          hit = true;
        } else if (s == 0) {
          context = 7;
          miss = true;
        } else if (s < kMultiMax) {
          pred = s * delta;
          context = s < 10 ? 2 : 3;
        } else if (s == kMultiMax) {
          pred = kMultiMax * delta;
          context = 4;
          miss = true;
        } else {
          pred = (kMultiMax - s) * delta;
          context = s < kMultiMin ? 5 : 6;
          miss = s == kMultiMin;
        }
      }
      const std::uint32_t step = code_integer(coder, m.step, context, pred, difference).value;
      if (miss && ++m.misses[current] > 3) learn = true;
      if (learn) m.delta[current] = step;
      if (learn || hit) m.misses[current] = 0;
      m.time[current] += static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(step)});
      return m.time[current];
    }
    if (s == fresh) {
      const auto high = code_integer(coder, m.step, 8, static_cast<std::uint32_t>(m.last() >> 32),
                                     static_cast<std::uint32_t>(time >> 32))
                            .value;
      const std::uint32_t low = coder.raw(32, static_cast<std::uint32_t>(time));
      m.newest = (m.newest + 1) & 3U;
      m.current = m.newest;
      m.time[m.current] = std::uint64_t{high} << 32 | low;
      m.delta[m.current] = 0;
      m.misses[m.current] = 0;
      return m.last();
    }
    m.current = (m.current + s - fresh) & 3U;
  }
  if constexpr (!Coder::kEncodes) coder.mark_corrupt();
  return m.last();
}

}  // namespace sluice::laz
