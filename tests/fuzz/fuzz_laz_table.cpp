// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any bytes at all as chunks with their table: what is found lies in the file and adds up. What decodes as a table
/// must survive encoding.
///
/// Input: two bytes for the items, one for kind and size of the chunks (odd: any size; bit 1: see below), one for the
/// number of points (5 times it), then the file from the table's position on.
#include <algorithm>

#include "io/laz/chunk_table.hpp"
#include "io/laz/memory.hpp"
#include "laz_inputs.hpp"

namespace {

using namespace sluice::laz;

void exercise_file(const PointBlock& block) {
  for (const ChunkIndex& index : {read_chunk_table(block), walk_chunks(block), whole_block(block)}) {
    std::uint64_t points = 0;
    for (const Chunk& chunk : index.chunks) {
      require(chunk.offset <= block.file.size() && chunk.bytes <= block.file.size() - chunk.offset,
              "chunks lie in the file");
      require(chunk.first == points, "points follow each other");
      points += chunk.points;
    }
    require(points == index.points && points <= block.points, "points add up");
    require(index.problem || points == block.points, "missing points are a problem");
    require(index.end <= block.file.size(), "the end lies in the file");
  }
}

void exercise_entries(Bytes bytes, bool variable, std::size_t count) {
  if (count == 0) return;  // a table without chunks has no stream
  std::vector<TableEntry> entries(count);
  std::uint64_t consumed = 0;
  if (decode_table_entries(bytes, variable, entries, consumed) != Status::kOk) return;
  require(consumed <= bytes.size(), "a sound table does not end behind its bytes");
  Buffer table;
  encode_chunk_table(entries, variable, table);
  std::vector<TableEntry> again(count);
  require(decode_table_entries(table.bytes().subspan(8), variable, again, consumed) == Status::kOk &&
              consumed == table.size() - 8,
          "what was encoded is sound");
  require(again == entries, "entries survive encoding");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes input = std::as_bytes(std::span(data, size));
  LaszipVlr vlr;
  vlr.items = take_items(input);
  const std::uint32_t choice = take(input);
  vlr.chunk_size = (choice & 1U) != 0 ? LaszipVlr::kVariable : 1 + choice;
  PointBlock block;
  block.layout = layout_of(vlr.items);
  block.vlr = &vlr;
  block.points = std::uint64_t{take(input)} * 5;
  std::vector<std::byte> file(input.begin(), input.end());
  // The pointer is the table's place more often than chance would have it.
  if ((choice & 2U) != 0 && file.size() >= 8) {
    const std::uint64_t place = sluice::load_unaligned<std::uint16_t>(file.data()) % file.size();
    sluice::store_unaligned(file.data(), place);
  }
  block.file = file;
  exercise_file(block);
  exercise_entries(input, (choice & 1U) != 0, choice);
  return 0;
}
