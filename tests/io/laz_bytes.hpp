// SPDX-License-Identifier: Apache-2.0
/// \file
/// Turns LAS files into LAZ files with the codec's encoder; everything around the chunks is built here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/las_bytes.hpp"
#include "io/laz/chunk_table.hpp"
#include "io/laz/laszip_vlr.hpp"
#include "io/laz/laz_file.hpp"
#include "io/laz/point_clouds.hpp"

namespace sluice::test {

/// How a LAZ file is to be made.
struct LazBytes {
  std::uint64_t chunk_size = 50000;
  std::vector<std::uint64_t> variable{};  ///< sizes of chunks, in turn; of one size where empty
  bool one_stream = false;                ///< without chunks
  bool streamed = false;                  ///< the position of the table stands at the end of the file

  /// Set by `build`.
  std::size_t vlr_at = 0;     ///< of the LASzip record
  std::size_t points_at = 0;  ///< offset to point data
  std::size_t table_at = 0;
  std::vector<std::size_t> chunks_at{};

  std::string build(const std::string& las) {
    const std::uint32_t format = static_cast<unsigned char>(las[104]);
    const std::uint64_t length = get<std::uint16_t>(las, 105);
    const std::size_t old_points_at = get<std::uint32_t>(las, 96);
    std::uint64_t count = get<std::uint32_t>(las, 107);
    if (las[25] >= 4) count = get<std::uint64_t>(las, 247);
    const std::size_t old_end = old_points_at + count * length;

    laz::LaszipVlr laszip = laz::make_laszip_vlr(
        format, static_cast<std::uint32_t>(length) - static_cast<std::uint32_t>(kRecordBytes[format]),
        variable.empty() ? static_cast<std::uint32_t>(chunk_size) : laz::LaszipVlr::kVariable);
    if (one_stream) laszip.compressor = laz::Compressor::kOneStream;
    const std::vector<std::byte> payload = laz::serialise(laszip);
    const laz::RecordLayout layout = laz::layout_of(laszip.items);

    // The record comes first, so that gaps before the points stay where they were.
    vlr_at = get<std::uint16_t>(las, 94);
    const std::string vlr = RawRecord{laz::kLaszipUserId, laz::kLaszipRecordId,
                                      std::string(reinterpret_cast<const char*>(payload.data()), payload.size())}
                                .bytes(false);
    std::string out = las.substr(0, vlr_at) + vlr + las.substr(vlr_at, old_points_at - vlr_at);
    points_at = out.size();
    put(out, 96, static_cast<std::uint32_t>(points_at));
    put(out, 100, get<std::uint32_t>(out, 100) + 1);
    out[104] = static_cast<char>(format | 0x80U);

    if (!one_stream) out.append(8, '\xff');
    std::vector<laz::TableEntry> entries;
    std::uint64_t done = 0;
    chunks_at.clear();
    while (done < count) {
      const std::uint64_t size = one_stream         ? count
                                 : variable.empty() ? chunk_size
                                                    : variable[entries.size() % variable.size()];
      const std::uint64_t points = std::min(size, count - done);
      const auto* records = reinterpret_cast<const std::byte*>(las.data() + old_points_at + done * length);
      const std::vector<std::byte> chunk = laz::encode_chunk(layout, records, points);
      chunks_at.push_back(out.size());
      out.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
      entries.push_back(
          {static_cast<std::uint32_t>(variable.empty() ? 0 : points), static_cast<std::uint32_t>(chunk.size())});
      done += points;
    }
    table_at = out.size();
    if (!one_stream) {
      laz::Buffer table;
      laz::encode_chunk_table(entries, !variable.empty(), table);
      out.append(reinterpret_cast<const char*>(table.data()), table.size());
      if (!streamed) put<std::uint64_t>(out, points_at, table_at);
    }
    const std::size_t shift = out.size() - old_end;
    out += las.substr(old_end);
    if (las[25] >= 3 && get<std::uint64_t>(las, 227) != 0) put(out, 227, get<std::uint64_t>(las, 227) + shift);
    if (las[25] >= 4 && get<std::uint64_t>(las, 235) != 0) put(out, 235, get<std::uint64_t>(las, 235) + shift);
    if (streamed) {
      out.append(8, '\0');
      put<std::uint64_t>(out, out.size() - 8, table_at);
    }
    return out;
  }
};

/// The oldest LAS version that has a point format.
inline int minor_of(int format) { return format <= 1 ? 0 : format <= 3 ? 2 : format <= 5 ? 3 : 4; }

/// A LAS file of points as a scanner gives them.
inline LasBytes scan(int format, std::uint64_t points, int extra = 0) {
  LasBytes las;
  las.minor = std::max(2, minor_of(format));
  las.format = format;
  las.extra = extra;
  las.points = points;
  if (format > 5) las.encoding = 16;
  const laz::RecordLayout layout =
      laz::layout_of(laz::items_of(static_cast<std::uint32_t>(format), static_cast<std::uint32_t>(extra)));
  const std::vector<std::byte> records = laz::make_records(layout, laz::Kind::kScan, points, las.seed);
  las.records.assign(reinterpret_cast<const char*>(records.data()), records.size());
  return las;
}

}  // namespace sluice::test
