// SPDX-License-Identifier: Apache-2.0
#include "chunk_table.hpp"

#include <algorithm>
#include <memory>

#include "decoder.hpp"
#include "encoder.hpp"
#include "integer_codec.hpp"
#include "layered.hpp"
#include "memory.hpp"
#include "pointwise.hpp"

namespace sluice::laz {
namespace {

using TableCodec = IntegerCodec<32, 2>;

constexpr std::uint64_t kHeaderBytes = 8;     ///< of the table: version, number of chunks
constexpr std::uint64_t kSmallestStream = 4;  ///< of no symbols
constexpr std::uint64_t kMaxCodedEntry = 2 * 12;

std::string number(std::uint64_t value) { return std::to_string(value); }

template <class Coder>
void code_entry(Coder& coder, TableCodec& codec, bool variable, const TableEntry& before, TableEntry& entry) {
  if (variable) entry.points = code_integer(coder, codec, 0, before.points, entry.points).value;
  entry.bytes = code_integer(coder, codec, 1, before.bytes, entry.bytes).value;
}

/// Fewest bytes of a chunk.
std::uint64_t smallest_chunk(const RecordLayout& layout) {
  return layout.layered ? layout.record_bytes + 4 + 4 * std::uint64_t{layout.layers()} + 2 * kSmallestStream
                        : layout.record_bytes + kSmallestStream;
}

/// Where the table is, by the file.
struct TablePlace {
  std::uint64_t pointer_at = 0;  ///< where the position was found
  std::uint64_t at = 0;
};

std::optional<Problem> find_table(const PointBlock& block, TablePlace& out) {
  const std::uint64_t size = block.file.size();
  const char* field = "chunk table pointer";
  if (block.offset > size || size - block.offset < kTablePointerBytes)
    return Problem{block.offset, field, "the file ends before it, at byte " + number(size)};
  out.pointer_at = block.offset;
  auto pointer = load_unaligned<std::int64_t>(block.file.data() + block.offset);
  if (pointer == -1) {
    // The writer could not seek back.
    out.pointer_at = size - 8;
    pointer = load_unaligned<std::int64_t>(block.file.data() + out.pointer_at);
  }
  if (pointer == static_cast<std::int64_t>(block.offset))
    return Problem{out.pointer_at, field, "it points to itself: the writer did not finish"};
  const std::uint64_t first = block.offset + kTablePointerBytes;
  if (pointer < static_cast<std::int64_t>(first)) {
    return Problem{out.pointer_at, field,
                   std::to_string(pointer) + ", before the first chunk at byte " + number(first)};
  }
  out.at = static_cast<std::uint64_t>(pointer);
  if (out.at > size || size - out.at < kHeaderBytes) {
    return Problem{out.pointer_at, field, number(out.at) + ", and the file ends at byte " + number(size)};
  }
  return std::nullopt;
}

/// Sizes made to fill the space between the pointer and the table.
std::optional<Problem> check_sizes(const PointBlock& block, std::uint64_t table, std::vector<TableEntry>& entries,
                                   ChunkIndex& index) {
  const std::uint64_t first = block.offset + kTablePointerBytes;
  const std::uint64_t space = table - first;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].bytes == 0) return Problem{table, "chunk table", "chunk " + number(i) + " has 0 bytes"};
    sum += entries[i].bytes;
  }
  if (!entries.empty() && sum == space + first && entries[0].bytes > first) {
    entries[0].bytes -= static_cast<std::uint32_t>(first);
    index.warnings.push_back("chunk table: the first chunk's size includes what precedes it");
    sum = space;
  }
  if (sum > space) {
    return Problem{table, "chunk table",
                   "chunks of " + number(sum) + " bytes, between the pointer and the table are " + number(space)};
  }
  if (sum < space)
    index.warnings.push_back(number(space - sum) + " bytes between the last chunk and the chunk table are ignored");
  return std::nullopt;
}

/// Points of chunk i of a file with chunks of one size, by the header.
std::uint64_t fixed_points(const PointBlock& block, std::uint64_t i) {
  const std::uint64_t size = block.vlr->chunk_size;
  const std::uint64_t before = i * size;
  return before >= block.points ? 0 : std::min(size, block.points - before);
}

/// Adds a chunk behind the others.
/// \param stored  points in it
/// \returns false where the header's count is reached already
bool add_chunk(const PointBlock& block, std::uint64_t bytes, std::uint64_t stored, ChunkIndex& index) {
  const std::uint64_t left = block.points - index.points;
  if (left == 0) return false;
  const std::uint64_t offset =
      index.chunks.empty() ? block.offset + kTablePointerBytes : index.chunks.back().offset + index.chunks.back().bytes;
  const std::uint64_t points = std::min(stored, left);
  index.chunks.push_back({offset, bytes, index.points, points, points < stored});
  index.points += points;
  return true;
}

void say_surplus(ChunkIndex& index) { index.warnings.push_back(surplus_text(index.points)); }

Problem missing_points(const PointBlock& block, std::uint64_t at, const ChunkIndex& index) {
  return {at, "number of point records", number(block.points) + ", and the chunks hold " + number(index.points)};
}

}  // namespace

Status decode_table_entries(std::span<const std::byte> bytes, bool variable, std::span<TableEntry> out,
                            std::uint64_t& consumed) {
  const auto codec = std::make_unique_for_overwrite<TableCodec>();
  start(*codec);
  Decoder coder;
  coder.start(bytes.data(), bytes.size());
  TableEntry before{0, 0};
  for (TableEntry& entry : out) {
    entry = {0, 0};
    code_entry(coder, *codec, variable, before, entry);
    if (coder.starved()) break;
    before = entry;
  }
  consumed = coder.consumed();
  if (coder.starved()) return Status::kTruncated;
  return coder.corrupt() ? Status::kCorrupt : Status::kOk;
}

void encode_chunk_table(std::span<const TableEntry> entries, bool variable, Buffer& out) {
  const auto count = static_cast<std::uint32_t>(entries.size());
  const std::uint32_t header[2] = {0, count};
  out.append(reinterpret_cast<const std::byte*>(header), sizeof(header));
  if (count == 0) return;
  const auto codec = std::make_unique_for_overwrite<TableCodec>();
  start(*codec);
  out.reserve(kMaxCodedEntry * count + Encoder::kSlack);
  Encoder coder;
  coder.start(out.data() + out.size());
  TableEntry before{0, 0};
  for (TableEntry entry : entries) {
    code_entry(coder, *codec, variable, before, entry);
    before = entry;
  }
  out.resize(out.size() + coder.finish());
}

ChunkIndex read_chunk_table(const PointBlock& block) {
  ChunkIndex index;
  TablePlace place;
  if ((index.problem = find_table(block, place))) return index;
  const std::byte* table = block.file.data() + place.at;
  const auto version = load_unaligned<std::uint32_t>(table);
  const std::uint64_t count = load_unaligned<std::uint32_t>(table + 4);
  if (version != 0) {
    index.problem = Problem{place.at, "chunk table version", number(version) + ", known is 0"};
    return index;
  }
  // Nothing that the table says is believed before the chunks are known to fit in front of it.
  const std::uint64_t room = (place.at - block.offset - kTablePointerBytes) / smallest_chunk(block.layout);
  if (count > std::max<std::uint64_t>(room, 1)) {
    index.problem = Problem{place.at + 4, "number of chunks",
                            number(count) + ", and there is room for " + number(room) + " in front of the table"};
    return index;
  }
  const bool variable = block.vlr->has_variable_chunks();
  std::vector<TableEntry> entries(count);
  index.end = place.at + kHeaderBytes;
  if (count != 0) {
    std::uint64_t consumed = 0;
    const Status status =
        decode_table_entries(block.file.subspan(place.at + kHeaderBytes), variable, entries, consumed);
    if (status != Status::kOk) {
      index.problem = Problem{place.at, "chunk table", std::string("it ") + text_of(status)};
      return index;
    }
    index.end += consumed;
  }
  if (place.pointer_at != block.offset) index.end = std::max<std::uint64_t>(index.end, place.pointer_at + 8);
  // A file without points may have an entry of no bytes.
  if (block.points == 0 && count == 1 && entries[0].bytes == 0) entries.clear();
  if ((index.problem = check_sizes(block, place.at, entries, index))) return index;

  bool surplus = false;
  for (std::size_t i = 0; i < entries.size() && !surplus; ++i) {
    std::uint64_t stored = variable ? entries[i].points : fixed_points(block, i);
    if (variable && stored == 0) {
      index.problem = Problem{place.at, "chunk table", "chunk " + number(i) + " has 0 points"};
      index.chunks.clear();
      index.points = 0;
      return index;
    }
    surplus = !add_chunk(block, entries[i].bytes, stored, index);
  }
  // Which points the last chunk of a file with chunks of one size holds, only the header says.
  if (surplus || (!index.chunks.empty() && index.chunks.back().surplus)) say_surplus(index);
  if (index.points < block.points) index.problem = missing_points(block, place.at, index);
  return index;
}

namespace {

/// Whether layered chunks may have so many points: as the header and the chunk size say, or more in the last one.
bool is_plausible(const PointBlock& block, std::uint64_t chunk, std::uint64_t points) {
  if (points == 0) return false;
  if (block.vlr->has_variable_chunks()) return true;
  const std::uint64_t expected = fixed_points(block, chunk);
  return points == expected || (points > expected && points <= block.vlr->chunk_size) ||
         (points < expected && fixed_points(block, chunk + 1) == 0);
}

void walk_layered(const PointBlock& block, ChunkIndex& index) {
  std::uint64_t at = block.offset + kTablePointerBytes;
  while (index.points < block.points) {
    const auto rest = block.file.subspan(at);
    LayeredHeader header;
    const std::string name = "chunk " + number(index.chunks.size());
    if (read_layered_header(block.layout, rest, header) != Status::kOk) {
      if (rest.size() >= block.layout.record_bytes) add_chunk(block, rest.size(), 1, index);
      index.problem = Problem{at, name, "the file ends in it"};
      return;
    }
    if (!is_plausible(block, index.chunks.size(), header.points)) {
      index.problem = Problem{at + block.layout.record_bytes, name, "it claims " + number(header.points) + " points"};
      return;
    }
    const std::uint64_t bytes = std::min<std::uint64_t>(header.bytes, rest.size());
    add_chunk(block, bytes, header.points, index);
    if (header.bytes > rest.size()) {
      index.problem = Problem{
          at, name, "it needs " + number(header.bytes) + " bytes, and the file has " + number(rest.size()) + " more"};
      return;
    }
    at += bytes;
  }
}

void walk_pointwise(const PointBlock& block, ChunkIndex& index) {
  constexpr std::uint64_t kPart = 1024;
  PointwiseWorkspace workspace;
  std::vector<std::byte> records(kPart * block.layout.record_bytes);
  std::uint64_t at = block.offset + kTablePointerBytes;
  while (index.points < block.points) {
    const std::uint64_t count = fixed_points(block, index.chunks.size());
    PointwiseDecoder decoder(workspace, block.layout, block.file.subspan(at));
    PointwiseResult result;
    std::uint64_t sound = 0;
    while (sound < count && result.status == Status::kOk) {
      result = decoder.decode(records.data(), block.layout.record_bytes, std::min(kPart, count - sound));
      sound += result.points;
    }
    if (result.status != Status::kOk) {
      if (sound != 0) add_chunk(block, block.file.size() - at, sound, index);
      index.problem = Problem{at, "chunk " + number(index.chunks.size() - (sound != 0 ? 1 : 0)),
                              std::string("it ") + text_of(result.status) + " behind " + number(sound) + " points"};
      return;
    }
    add_chunk(block, result.consumed, count, index);
    at += result.consumed;
  }
}

}  // namespace

ChunkIndex walk_chunks(const PointBlock& block) {
  ChunkIndex index;
  const std::uint64_t size = block.file.size();
  index.end = std::min(size, block.offset + kTablePointerBytes);
  if (block.offset > size || size - block.offset < kTablePointerBytes) {
    index.problem = Problem{block.offset, "point data", "the file ends before it, at byte " + number(size)};
    return index;
  }
  if (block.layout.layered) {
    walk_layered(block, index);
  } else if (!block.vlr->has_variable_chunks()) {
    walk_pointwise(block, index);
  } else if (block.points != 0) {
    index.problem = Problem{block.offset, "chunk table",
                            "without it, chunks of variable size that are not layered cannot be found"};
  }
  if (!index.chunks.empty()) {
    index.end = index.chunks.back().offset + index.chunks.back().bytes;
    if (index.chunks.back().surplus) say_surplus(index);
  }
  if (!index.problem && index.points < block.points) index.problem = missing_points(block, index.end, index);
  return index;
}

std::string surplus_text(std::uint64_t counted) {
  return "more points are stored than the header counts (" + number(counted) + "); the rest is ignored";
}

ChunkIndex whole_block(const PointBlock& block) {
  ChunkIndex index;
  const std::uint64_t size = block.file.size();
  if (block.points == 0) {
    index.end = std::min(size, block.offset);
  } else if (block.offset >= size) {
    index.problem = Problem{block.offset, "point data", "the file ends before it, at byte " + number(size)};
    index.end = size;
  } else {
    index.chunks.push_back({block.offset, size - block.offset, 0, block.points, false});
    index.points = block.points;
    index.end = size;
  }
  return index;
}

}  // namespace sluice::laz
