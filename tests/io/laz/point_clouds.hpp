// SPDX-License-Identifier: Apache-2.0
/// \file
/// Records of every point format, made up to exercise the codec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "io/laz/items.hpp"
#include "io/laz/memory.hpp"

namespace sluice::laz {

enum class Kind {
  kScan,      ///< lines of an airborne scanner: small steps, several returns, rarely another channel
  kChannels,  ///< the same with scanner channels changing all the time
  kExtreme,   ///< all bits of all fields at random, with runs of equal ones
  kConstant,  ///< one point over and over
  kTimeJumps  ///< gps times from a few clocks far apart, steps of many multiples, special floating-point values
};

inline const std::vector<Kind>& all_kinds() {
  static const std::vector<Kind> kinds{Kind::kScan, Kind::kChannels, Kind::kExtreme, Kind::kConstant, Kind::kTimeJumps};
  return kinds;
}

inline std::vector<std::byte> make_records(const RecordLayout& layout, Kind kind, std::uint64_t count,
                                           std::uint32_t seed) {
  std::mt19937_64 random(seed);
  const auto draw = [&random](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
  const std::uint64_t bytes = layout.record_bytes;
  std::vector<std::byte> records(count * bytes);
  const std::uint32_t gps_at = layout.layered ? 22 : layout.gps_version != 0 ? 20 : 0;
  std::uint32_t x = 1000000;
  std::uint32_t y = 2000000;
  std::uint64_t clocks[5] = {0x4100000000000000U, 0x4100000100000000U, 0xC100000000000000U, 0, 0x41E0000000000000U};
  std::uint64_t time = clocks[0];
  std::uint64_t step = 1000;
  std::uint64_t offset = 60;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::byte* p = records.data() + i * bytes;
    const std::byte* before = i == 0 ? nullptr : p - bytes;
    if (kind == Kind::kExtreme) {
      for (std::uint64_t k = 0; k < bytes; ++k) p[k] = static_cast<std::byte>(draw(256));
      if (before != nullptr) {
        // Keep some fields, or nothing would ever be predicted.
        const std::uint64_t keep = random();
        for (std::uint64_t k = 0; k < bytes; ++k) {
          if ((keep >> (k / 4 % 64) & 1U) != 0) p[k] = before[k];
        }
      }
      if (draw(8) == 0) store_unaligned(p, draw(2) == 0 ? 0x7FFFFFFFU : 0x80000000U);
      continue;
    }
    if (kind == Kind::kConstant && before != nullptr) {
      std::memcpy(p, before, bytes);
      continue;
    }
    x += draw(4) == 0 ? draw(1000) : 25 + draw(3);
    if (draw(500) == 0) {
      x -= 90000;
      y += 500;
    }
    y += draw(40) - 20;
    store_unaligned(p, x);
    store_unaligned(p + 4, y);
    store_unaligned(p + 8, 5000 + (draw(5) == 0 ? draw(3000) : draw(30)));
    store_unaligned(p + 12, static_cast<std::uint16_t>(draw(10) * 100));
    const std::uint32_t n = 1 + draw(3) * draw(2);
    const std::uint32_t r = 1 + draw(n);
    const std::uint32_t channel = kind == Kind::kChannels ? draw(4) : draw(1000) == 0 ? draw(4) : 0;
    const std::uint32_t classification = draw(20) == 0 ? draw(32) : 2;
    if (layout.layered) {
      store_unaligned(p + 14, static_cast<std::uint8_t>(r | n << 4));
      store_unaligned(p + 15, static_cast<std::uint8_t>((draw(50) == 0 ? 5U : 0U) | channel << 4 | (i / 300 % 2) << 6));
      store_unaligned(p + 16, static_cast<std::uint8_t>(classification));
      store_unaligned(p + 17, static_cast<std::uint8_t>(i / 100 % 3));
      store_unaligned(p + 18, static_cast<std::uint16_t>(i / 40 % 2000 - 1000));
      store_unaligned(p + 20, static_cast<std::uint16_t>(i / 5000 + 7));
    } else {
      store_unaligned(p + 14, static_cast<std::uint8_t>(r | n << 3 | (i / 300 % 2) << 6));
      store_unaligned(p + 15, static_cast<std::uint8_t>(classification));
      store_unaligned(p + 16, static_cast<std::uint8_t>(i / 40 % 30));
      store_unaligned(p + 17, static_cast<std::uint8_t>(i / 100 % 3));
      store_unaligned(p + 18, static_cast<std::uint16_t>(i / 5000 + 7));
    }
    if (kind == Kind::kTimeJumps) {
      const std::uint32_t what = draw(12);
      if (what == 0) step = draw(3) == 0 ? random() % 5000 : random() % 3 - 1;
      if (what == 1) time = clocks[draw(5)] + draw(50);
      if (what == 2) time = random();
      if (what == 3) time += step * draw(700);
      if (what == 4) time -= step * draw(20);
      if (what == 5) time = draw(2) == 0 ? 0x7FF8000000000001U : 0x8000000000000000U;
      if (what > 6) time += step;
    } else if (r == 1 || draw(50) == 0) {
      time += 200000 + draw(3);
    }
    if (gps_at != 0) store_unaligned(p + gps_at, time);
    if (layout.rgb_version != 0) {
      const std::uint32_t grey = (x / 7 + draw(9)) & 0xFFU;
      const bool is_grey = i / 1000 % 2 == 1;
      for (std::uint32_t c = 0; c < 3; ++c)
        store_unaligned(p + layout.rgb_at + 2 * c,
                        static_cast<std::uint16_t>(is_grey ? grey << 8 : (grey + draw(20)) * 257));
    }
    if (layout.nir_version != 0) store_unaligned(p + layout.nir_at, static_cast<std::uint16_t>(draw(3) * 300));
    if (layout.wave_packet_version != 0) {
      std::byte* w = p + layout.wave_packet_at;
      store_unaligned(w, static_cast<std::uint8_t>(draw(3)));
      offset += draw(4) == 0 ? 0 : draw(20) == 0 ? random() : 256;
      store_unaligned(w + 1, offset);
      store_unaligned(w + 9, draw(30) == 0 ? draw(1000) : 256U);
      for (std::uint32_t k = 0; k < 4; ++k) store_unaligned(w + 13 + 4 * k, static_cast<float>(draw(100)) * 0.25F);
    }
    for (std::uint32_t j = 0; j < layout.extra_bytes; ++j)
      store_unaligned(p + layout.extra_at + j, static_cast<std::uint8_t>(j == 1 ? 9 : draw(2 + 20 * j)));
  }
  return records;
}

/// Layouts of all point formats with and without extra bytes; the layered ones in versions 3 and 4.
inline std::vector<RecordLayout> all_layouts() {
  std::vector<RecordLayout> out;
  for (std::uint32_t format = 0; format <= 10; ++format) {
    for (const std::uint32_t extra : {0U, 3U}) {
      for (const std::uint16_t version : {std::uint16_t{3}, std::uint16_t{4}}) {
        auto items = items_of(format, extra);
        if (format < 6 && version == 4) continue;
        if (format > 5) {
          for (Item& item : items) item.version = version;
        }
        out.push_back(layout_of(items));
      }
    }
  }
  return out;
}

inline std::string name_of(const RecordLayout& layout) {
  return std::to_string(layout.record_bytes) + " bytes, " + std::to_string(layout.extra_bytes) + " extra, version " +
         std::to_string(layout.point_version);
}

}  // namespace sluice::laz
