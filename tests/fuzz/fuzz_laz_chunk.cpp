// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any bytes at all as a chunk. What decodes as sound must survive encoding, and a pointwise chunk gives the same
/// points in parts.
///
/// Input: two bytes for the items, one for the number of points (1 + 3 times it), the chunk.
#include <algorithm>
#include <iterator>

#include "io/laz/layered.hpp"
#include "io/laz/memory.hpp"
#include "io/laz/pointwise.hpp"
#include "laz_inputs.hpp"

namespace {

using namespace sluice::laz;

struct Decoded {
  Status status = Status::kOk;
  std::uint64_t points = 0;
  std::vector<std::byte> records;
};

Decoded decode_layered(const RecordLayout& layout, Bytes chunk, std::uint64_t count, std::uint64_t wanted) {
  static LayeredWorkspace workspace;
  Decoded out;
  out.records.assign(count * layout.record_bytes, std::byte{0});
  const auto result = decode_layered_chunk(workspace, layout, chunk, wanted,
                                           fields_of_records(layout, out.records.data(), layout.record_bytes), count);
  require(result.points <= result.main && result.main <= count, "no more points than asked for");
  require(result.status != Status::kOk || result.points == count, "a sound chunk has all points");
  require((result.damaged & ~(wanted | layer::bit(layer::kMain))) == 0, "layers that are not wanted are not looked at");
  out.status = result.status;
  out.points = result.points;
  return out;
}

Decoded decode_pointwise(const RecordLayout& layout, Bytes chunk, std::uint64_t count) {
  static PointwiseWorkspace workspace;
  Decoded out;
  out.records.assign(count * layout.record_bytes, std::byte{0});
  const auto result = decode_pointwise_chunk(workspace, layout, chunk, out.records.data(), layout.record_bytes, count);
  require(result.points <= count, "no more points than asked for");
  require(result.status != Status::kOk || result.points == count, "a sound chunk has all points");
  out.status = result.status;
  out.points = result.points;
  return out;
}

Decoded decode(const RecordLayout& layout, Bytes chunk, std::uint64_t count) {
  return layout.layered ? decode_layered(layout, chunk, count, layer::kAll) : decode_pointwise(layout, chunk, count);
}

void exercise_parts(const RecordLayout& layout, Bytes chunk, const Decoded& whole, std::uint64_t count) {
  static PointwiseWorkspace workspace;
  PointwiseDecoder decoder(workspace, layout, chunk);
  std::vector<std::byte> records(count * layout.record_bytes);
  std::uint64_t done = 0;
  while (done < count) {
    const std::uint64_t part = std::min<std::uint64_t>(1 + done % 7, count - done);
    const auto result = decoder.decode(records.data() + done * layout.record_bytes, layout.record_bytes, part);
    require(result.points <= part, "no more points than asked for");
    done += result.points;
    if (result.status != Status::kOk) break;
  }
  require(done == whole.points, "parts have as many points as the whole");
  const auto bytes = static_cast<std::ptrdiff_t>(done * layout.record_bytes);
  require(std::equal(records.begin(), records.begin() + bytes, whole.records.begin()), "parts have the same points");
}

/// Layers can be left out, and those that stay are the same.
void exercise_layers(const RecordLayout& layout, Bytes chunk, const Decoded& whole, std::uint64_t count) {
  static constexpr std::uint64_t kSets[] = {0, layer::bit(layer::kZ), ~layer::bit(layer::kFlags),
                                            layer::bit(layer::kGpsTime) | layer::bit(layer::kExtra + 1)};
  const std::uint64_t wanted = kSets[chunk.size() % std::size(kSets)];
  const Decoded some = decode_layered(layout, chunk, count, wanted);
  require(some.points >= whole.points, "fewer layers have no more damage");
  for (std::uint64_t i = 0; i < whole.points; ++i) {
    const std::byte* a = some.records.data() + i * layout.record_bytes;
    const std::byte* b = whole.records.data() + i * layout.record_bytes;
    require(std::equal(a, a + 8, b) && a[14] == b[14], "the main layer is the same");
    if ((wanted & layer::bit(layer::kZ)) != 0) require(std::equal(a + 8, a + 12, b + 8), "z is the same");
    if ((wanted & layer::bit(layer::kGpsTime)) != 0) require(std::equal(a + 22, a + 30, b + 22), "time is the same");
  }
}

/// Layers decoded one part after the other are sound where all at once are, and the same.
void exercise_further_layers(const RecordLayout& layout, Bytes chunk, const Decoded& whole, std::uint64_t count) {
  static LayeredWorkspace workspace;
  // Any mask will do that the input determines.
  const std::uint64_t first = chunk.size() * 0x9E3779B97F4A7C15U;
  std::vector<std::byte> records(count * layout.record_bytes);
  std::vector<std::uint16_t> words(count);
  const auto fields = fields_of_records(layout, records.data(), layout.record_bytes);
  auto result = decode_layered_chunk(workspace, layout, chunk, first, fields, count, words.data());
  if (result.status == Status::kOk)
    result = decode_further_layers(workspace, layout, chunk, ~first, fields, count, words.data());
  require((result.status == Status::kOk) == (whole.status == Status::kOk), "parts are as sound as the whole");
  require(whole.status != Status::kOk || records == whole.records, "parts make up the whole");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes input = std::as_bytes(std::span(data, size));
  const RecordLayout layout = layout_of(take_items(input));
  const std::uint64_t count = 1 + std::uint64_t{take(input)} * 3;
  std::vector<std::byte> chunk(input.begin(), input.end());
  // A layered chunk whose count does not agree would never be sound.
  if (layout.layered && chunk.size() >= layout.record_bytes + 4)
    sluice::store_unaligned(chunk.data() + layout.record_bytes, static_cast<std::uint32_t>(count));

  const Decoded whole = decode(layout, chunk, count);
  if (layout.layered) {
    exercise_layers(layout, chunk, whole, count);
    exercise_further_layers(layout, chunk, whole, count);
  } else {
    exercise_parts(layout, chunk, whole, count);
  }
  if (whole.status != Status::kOk || layout.is_old()) return 0;

  Buffer again;
  const std::byte* records = whole.records.data();
  if (layout.layered) {
    static LayeredWorkspace workspace;
    encode_layered_chunk(workspace, layout, fields_of_records(layout, records, layout.record_bytes), count, again);
  } else {
    static PointwiseWorkspace workspace;
    encode_pointwise_chunk(workspace, layout, records, layout.record_bytes, count, again);
  }
  const Decoded back = decode(layout, again.bytes(), count);
  require(back.status == Status::kOk, "what was encoded is sound");
  require(back.records == whole.records, "records survive encoding");
  return 0;
}
