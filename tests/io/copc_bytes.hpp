// SPDX-License-Identifier: Apache-2.0
/// \file
/// Makes COPC files: points at random places of a cube, chunk by chunk of an octree.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/laz_bytes.hpp"
#include "sluice/core/random.hpp"

namespace sluice::test {

/// How a COPC file is to be made.
struct CopcBytes {
  using Key = std::array<std::int32_t, 4>;  ///< level, x, y, z

  int format = 7;
  std::uint64_t points = 3000;
  std::int32_t levels = 4;
  std::int32_t levels_per_page = 2;
  std::array<double, 3> scale{0.01, 0.01, 0.01};
  std::uint64_t seed = 1;
  /// The cube from 0 to 200 around it; lattice numbers are those of the coordinates.
  static constexpr double kHalf = 100.0;

  /// Set by `build`.
  std::string las{};  ///< the same points, in the same order
  std::map<Key, std::uint64_t> nodes{};
  std::vector<std::uint64_t> chunk_points{};
  std::vector<std::size_t> entries_at{};  ///< of the hierarchy, page by page from the root on
  std::size_t pages = 0;
  std::size_t chunk_count = 0;

  static constexpr std::size_t kInfoAt = 375 + 54;

  std::string build() {
    LasBytes plain = scan(format, points);
    plain.scale = scale;
    plain.offset = {0.0, 0.0, 0.0};
    const auto record_bytes = static_cast<std::size_t>(plain.record_bytes());
    // Points by node, in an order that is not the tree's.
    std::map<std::pair<std::uint64_t, Key>, std::string> by_node;
    nodes.clear();
    std::uint64_t dice = 0;
    for (std::uint64_t i = 0; i < points; ++i) {
      std::string record = plain.records.substr(i * record_bytes, record_bytes);
      Key key{static_cast<std::int32_t>(counter_random(seed, dice++) % static_cast<std::uint64_t>(levels)), 0, 0, 0};
      for (std::size_t d = 0; d < 3; ++d) {
        const double place = 2.0 * kHalf * static_cast<double>(counter_random(seed, dice++) >> 11) * 0x1p-53;
        key[d + 1] = static_cast<std::int32_t>(std::floor(std::ldexp(place / (2.0 * kHalf), key[0])));
        put(record, 4 * d, static_cast<std::int32_t>(std::lround(place / scale[d])));
      }
      by_node[{counter_random(seed + 1, hash(key)), key}] += record;
    }
    LazBytes way;
    plain.records.clear();
    std::vector<Key> order;
    for (const auto& [key, records] : by_node) {
      order.push_back(key.second);
      nodes[key.second] = records.size() / record_bytes;
      way.variable.push_back(records.size() / record_bytes);
      plain.records += records;
      // Ancestors without points are nodes too.
      for (Key up = key.second; up[0] > 0;) {
        up = {up[0] - 1, up[1] / 2, up[2] / 2, up[3] / 2};
        nodes.emplace(up, 0);
      }
    }
    chunk_points = way.variable;
    chunk_count = order.size();
    las = plain.build();
    std::string out = way.build(las);

    // The record about the octree goes in front of all others.
    const std::string info = RawRecord{"copc", 1, std::string(160, '\0')}.bytes(false);
    out.insert(375, info);
    put(out, 96, get<std::uint32_t>(out, 96) + static_cast<std::uint32_t>(info.size()));
    put(out, 100, get<std::uint32_t>(out, 100) + 1);
    const std::size_t points_at = way.points_at + info.size();
    put<std::uint64_t>(out, points_at, way.table_at + info.size());
    std::map<Key, Chunk> chunks;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t end = i + 1 < order.size() ? way.chunks_at[i + 1] : way.table_at;
      chunks[order[i]] = {way.chunks_at[i] + info.size(), end - way.chunks_at[i]};
    }

    const std::size_t evlr_at = out.size();
    put<std::uint64_t>(out, 235, evlr_at);
    put<std::uint32_t>(out, 243, 1);
    out += RawRecord{"copc", 1000}.bytes(true);
    entries_at.clear();
    pages = 0;
    const Place root = append_page({0, 0, 0, 0}, chunks, out);
    put<std::uint64_t>(out, evlr_at + 20, out.size() - evlr_at - 60);
    for (std::size_t d = 0; d < 4; ++d) put(out, kInfoAt + 8 * d, kHalf);
    put(out, kInfoAt + 32, 6.25);
    put(out, kInfoAt + 40, root.offset);
    put(out, kInfoAt + 48, root.bytes);
    put(out, kInfoAt + 56, 1.5);
    put(out, kInfoAt + 64, 2.5);
    return out;
  }

 private:
  struct Place {
    std::uint64_t offset, bytes;
  };
  using Chunk = Place;

  static std::uint64_t hash(const Key& key) {
    std::uint64_t out = 0;
    for (const std::int32_t k : key) out = out * 1000 + static_cast<std::uint64_t>(k);
    return out;
  }

  /// Writes the page of a node, then those below it.
  Place append_page(const Key& top, const std::map<Key, Chunk>& chunks, std::string& out) {
    struct Entry {
      Key key;
      Chunk chunk;
      std::int32_t points;
    };
    std::vector<Entry> entries;
    for (const auto& [key, count] : nodes) {
      const std::int32_t down = key[0] - top[0];
      if (down < 0 || key[1] >> down != top[1] || key[2] >> down != top[2] || key[3] >> down != top[3]) continue;
      if (down > levels_per_page) continue;
      if (down == levels_per_page) {
        entries.push_back({key, {0, 0}, -1});
      } else if (count == 0) {
        entries.push_back({key, {0, 0}, 0});
      } else {
        entries.push_back({key, chunks.at(key), static_cast<std::int32_t>(count)});
      }
    }
    std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
      return counter_random(seed + 2, hash(a.key)) < counter_random(seed + 2, hash(b.key));
    });
    ++pages;
    const Place place{out.size(), 32 * entries.size()};
    out.append(place.bytes, '\0');
    for (std::size_t i = 0; i < entries.size(); ++i) entries_at.push_back(place.offset + 32 * i);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      Entry& entry = entries[i];
      if (entry.points < 0) entry.chunk = append_page(entry.key, chunks, out);
      const std::size_t at = place.offset + 32 * i;
      for (std::size_t d = 0; d < 4; ++d) put(out, at + 4 * d, entry.key[d]);
      put(out, at + 16, entry.chunk.offset);
      put(out, at + 24, static_cast<std::int32_t>(entry.chunk.bytes));
      put(out, at + 28, entry.points);
    }
    return place;
  }
};

}  // namespace sluice::test
