// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any bytes at all as a chunk, as chunks with a table, and as the record about compression. What decodes as sound must
/// survive encoding.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "io/laz/chunk_table.hpp"
#include "io/laz/layered.hpp"
#include "io/laz/memory.hpp"
#include "io/laz/pointwise.hpp"

namespace {

using namespace sluice::laz;
using sluice::load_unaligned, sluice::store_unaligned;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "property violated: %s\n", what);
  std::abort();
}

using Bytes = std::span<const std::byte>;

/// Takes a byte off the front; zeros follow the end.
std::uint32_t take(Bytes& input) {
  if (input.empty()) return 0;
  const auto byte = static_cast<std::uint32_t>(input.front());
  input = input.subspan(1);
  return byte;
}

std::vector<Item> some_items(Bytes& input) {
  const std::uint32_t format = take(input) % 11;
  const std::uint32_t choice = take(input);
  std::vector<Item> items = items_of(format, choice % 4);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if ((choice >> (2 + i) & 1U) == 0) continue;
    items[i].version = format > 5 ? 4 : 1;
  }
  require(!check_items(items, layout_of(items_of(format, 0)).record_bytes + choice % 4, format), "items are accepted");
  return items;
}

Status decode(const RecordLayout& layout, Bytes chunk, std::vector<std::byte>& records, std::uint64_t count) {
  static PointwiseWorkspace pointwise;
  static LayeredWorkspace layered;
  records.assign(count * layout.record_bytes, std::byte{0});
  if (layout.layered) {
    const auto result = decode_layered_chunk(layered, layout, chunk, layer::kAll,
                                             fields_of_records(layout, records.data(), layout.record_bytes), count);
    require(result.points <= result.main && result.main <= count, "no more points than asked for");
    require(result.status != Status::kOk || result.points == count, "a sound chunk has all points");
    return result.status;
  }
  const auto result = decode_pointwise_chunk(pointwise, layout, chunk, records.data(), layout.record_bytes, count);
  require(result.points <= count, "no more points than asked for");
  require(result.status != Status::kOk || result.points == count, "a sound chunk has all points");
  return result.status;
}

/// Layers decoded one part after the other are sound where all at once are, and the same.
void exercise_layers(const RecordLayout& layout, Bytes chunk, std::uint64_t count, std::uint64_t mask, Status status,
                     const std::vector<std::byte>& records) {
  static LayeredWorkspace workspace;
  std::vector<std::byte> parts(count * layout.record_bytes);
  std::vector<std::uint16_t> words(count);
  const auto fields = fields_of_records(layout, parts.data(), layout.record_bytes);
  auto result = decode_layered_chunk(workspace, layout, chunk, mask, fields, count, words.data());
  if (result.status == Status::kOk)
    result = decode_further_layers(workspace, layout, chunk, ~mask, fields, count, words.data());
  require((result.status == Status::kOk) == (status == Status::kOk), "parts are as sound as the whole");
  require(status != Status::kOk || parts == records, "parts make up the whole");
}

void exercise_chunk(Bytes input) {
  const RecordLayout layout = layout_of(some_items(input));
  const std::uint64_t count = 1 + take(input) * 3;
  std::vector<std::byte> records;
  // A layered chunk whose count does not agree would never be sound.
  std::vector<std::byte> chunk(input.begin(), input.end());
  if (layout.layered && chunk.size() >= layout.record_bytes + 4)
    store_unaligned(chunk.data() + layout.record_bytes, static_cast<std::uint32_t>(count));
  const Status status = decode(layout, chunk, records, count);
  // Any mask will do that the input determines.
  if (layout.layered) exercise_layers(layout, chunk, count, chunk.size() * 0x9E3779B97F4A7C15U, status, records);
  if (status != Status::kOk || layout.is_old()) return;

  Buffer again;
  if (layout.layered) {
    LayeredWorkspace workspace;
    const std::byte* from = records.data();
    encode_layered_chunk(workspace, layout, fields_of_records(layout, from, layout.record_bytes), count, again);
  } else {
    PointwiseWorkspace workspace;
    encode_pointwise_chunk(workspace, layout, records.data(), layout.record_bytes, count, again);
  }
  std::vector<std::byte> back;
  require(decode(layout, again.bytes(), back, count) == Status::kOk, "what was encoded is sound");
  require(back == records, "records survive encoding");
}

void exercise_table(Bytes input) {
  LaszipVlr vlr;
  vlr.items = some_items(input);
  const std::uint32_t choice = take(input);
  vlr.chunk_size = (choice & 1U) != 0 ? LaszipVlr::kVariable : 1 + choice;
  PointBlock block;
  block.layout = layout_of(vlr.items);
  block.vlr = &vlr;
  block.points = take(input) * 5;
  std::vector<std::byte> file(input.begin(), input.end());
  // The pointer is the table's place more often than chance would have it.
  if ((choice & 2U) != 0 && file.size() >= 8) {
    const std::uint64_t place = load_unaligned<std::uint16_t>(file.data()) % file.size();
    store_unaligned(file.data(), place);
  }
  block.file = file;
  for (const ChunkIndex& index : {read_chunk_table(block), walk_chunks(block), whole_block(block)}) {
    std::uint64_t points = 0;
    for (const Chunk& chunk : index.chunks) {
      require(chunk.offset <= file.size() && chunk.bytes <= file.size() - chunk.offset, "chunks lie in the file");
      require(chunk.first == points, "points follow each other");
      points += chunk.points;
    }
    require(points == index.points && points <= block.points, "points add up");
    require(index.problem || points == block.points, "missing points are a problem");
    require(index.end <= file.size(), "the end lies in the file");
  }
}

void exercise_record(Bytes input) {
  LaszipVlr vlr;
  if (parse_laszip_vlr(input, vlr)) return;
  const auto bytes = serialise(vlr);
  require(std::ranges::equal(bytes, input.first(bytes.size())), "the record survives writing");
  for (std::uint32_t format = 0; format <= 10; ++format) {
    std::uint32_t sum = 0;
    for (const Item& item : vlr.items) sum += item.size;
    if (!check_laszip_vlr(vlr, format, sum)) require(layout_of(vlr.items).record_bytes == sum, "items add up");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes input = std::as_bytes(std::span(data, size));
  switch (take(input) % 3) {
    case 0:
      exercise_chunk(input);
      break;
    case 1:
      exercise_table(input);
      break;
    default:
      exercise_record(input);
  }
  return 0;
}
