// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the targets of the LAZ codec share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "io/laz/items.hpp"

namespace sluice::laz {

inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "property violated: %s\n", what);
  std::abort();
}

using Bytes = std::span<const std::byte>;

/// Takes a byte off the front; zeros follow the end.
inline std::uint32_t take(Bytes& input) {
  if (input.empty()) return 0;
  const auto byte = static_cast<std::uint32_t>(input.front());
  input = input.subspan(1);
  return byte;
}

/// Two bytes choose the items: the point format; in the second, bits 0 and 1 the extra bytes, bit 2 + i the version of
/// item i: the newest or the oldest of formats 0 to 5, 3 or 4 of the others.
inline std::vector<Item> take_items(Bytes& input) {
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

}  // namespace sluice::laz
