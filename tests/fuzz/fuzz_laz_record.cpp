// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any bytes at all as the record about compression.
#include <algorithm>

#include "io/laz/laszip_vlr.hpp"
#include "laz_inputs.hpp"

using namespace sluice::laz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes input = std::as_bytes(std::span(data, size));
  LaszipVlr vlr;
  if (parse_laszip_vlr(input, vlr)) return 0;
  const auto bytes = serialise(vlr);
  require(std::ranges::equal(bytes, input.first(bytes.size())), "the record survives writing");
  std::uint32_t sum = 0;
  for (const Item& item : vlr.items) sum += item.size;
  for (std::uint32_t format = 0; format <= 10; ++format) {
    if (!check_laszip_vlr(vlr, format, sum)) require(layout_of(vlr.items).record_bytes == sum, "items add up");
  }
  return 0;
}
