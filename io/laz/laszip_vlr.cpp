// SPDX-License-Identifier: Apache-2.0
#include "laszip_vlr.hpp"

#include <string>

#include "memory.hpp"

namespace sluice::laz {
namespace {

constexpr std::uint64_t kFixedBytes = 34;
constexpr std::uint64_t kItemBytes = 6;

std::string number(std::uint64_t value) { return std::to_string(value); }

}  // namespace

std::optional<Problem> parse_laszip_vlr(std::span<const std::byte> payload, LaszipVlr& out) {
  if (payload.size() < kFixedBytes)
    return Problem{0, "LASzip record", number(payload.size()) + " bytes, needs " + number(kFixedBytes)};
  const std::byte* at = payload.data();
  out.compressor = static_cast<Compressor>(load_unaligned<std::uint16_t>(at));
  out.coder = load_unaligned<std::uint16_t>(at + 2);
  out.version_major = load_unaligned<std::uint8_t>(at + 4);
  out.version_minor = load_unaligned<std::uint8_t>(at + 5);
  out.version_revision = load_unaligned<std::uint16_t>(at + 6);
  out.options = load_unaligned<std::uint32_t>(at + 8);
  out.chunk_size = load_unaligned<std::uint32_t>(at + 12);
  out.special_evlrs = load_unaligned<std::int64_t>(at + 16);
  out.special_evlrs_at = load_unaligned<std::int64_t>(at + 24);
  const std::uint64_t count = load_unaligned<std::uint16_t>(at + 32);
  if (count == 0 || count > (payload.size() - kFixedBytes) / kItemBytes) {
    return Problem{32, "LASzip number of items",
                   number(count) + ", the record has room for " + number((payload.size() - kFixedBytes) / kItemBytes)};
  }
  out.items.clear();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::byte* item = at + kFixedBytes + i * kItemBytes;
    out.items.push_back({static_cast<ItemType>(load_unaligned<std::uint16_t>(item)),
                         load_unaligned<std::uint16_t>(item + 2), load_unaligned<std::uint16_t>(item + 4)});
  }
  return std::nullopt;
}

std::optional<Problem> check_laszip_vlr(const LaszipVlr& vlr, std::uint32_t point_format, std::uint32_t record_bytes) {
  const auto compressor = static_cast<std::uint16_t>(vlr.compressor);
  if (compressor < 1 || compressor > 3)
    return Problem{0, "LASzip compressor", number(compressor) + ", known are 1 to 3"};
  if (vlr.coder != 0) return Problem{2, "LASzip coder", number(vlr.coder) + ", known is 0"};
  if ((vlr.compressor == Compressor::kLayered) != (point_format > 5)) {
    return Problem{0, "LASzip compressor",
                   number(compressor) + " does not go with point format " + number(point_format)};
  }
  if (auto text = check_items(vlr.items, record_bytes, point_format))
    return Problem{kFixedBytes, "LASzip items", std::move(*text)};
  return std::nullopt;
}

LaszipVlr make_laszip_vlr(std::uint32_t point_format, std::uint32_t extra_bytes, std::uint32_t chunk_size) {
  LaszipVlr vlr;
  vlr.compressor = point_format > 5 ? Compressor::kLayered : Compressor::kPointwise;
  // Of the item versions that are written; readers must not conclude anything from it.
  vlr.version_major = point_format > 5 ? 3 : 2;
  vlr.chunk_size = chunk_size;
  vlr.items = items_of(point_format, extra_bytes);
  return vlr;
}

std::vector<std::byte> serialise(const LaszipVlr& vlr) {
  std::vector<std::byte> out(kFixedBytes + kItemBytes * vlr.items.size());
  std::byte* at = out.data();
  store_unaligned(at, static_cast<std::uint16_t>(vlr.compressor));
  store_unaligned(at + 2, vlr.coder);
  store_unaligned(at + 4, vlr.version_major);
  store_unaligned(at + 5, vlr.version_minor);
  store_unaligned(at + 6, vlr.version_revision);
  store_unaligned(at + 8, vlr.options);
  store_unaligned(at + 12, vlr.chunk_size);
  store_unaligned(at + 16, vlr.special_evlrs);
  store_unaligned(at + 24, vlr.special_evlrs_at);
  store_unaligned(at + 32, static_cast<std::uint16_t>(vlr.items.size()));
  for (std::size_t i = 0; i < vlr.items.size(); ++i) {
    std::byte* item = at + kFixedBytes + i * kItemBytes;
    store_unaligned(item, static_cast<std::uint16_t>(vlr.items[i].type));
    store_unaligned(item + 2, vlr.items[i].size);
    store_unaligned(item + 4, vlr.items[i].version);
  }
  return out;
}

}  // namespace sluice::laz
