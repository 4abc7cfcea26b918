// SPDX-License-Identifier: Apache-2.0
/// \file
/// Stable radix sort, least significant digit first (Knuth, TAOCP 3, 5.2.5), in blocks: each block counts its digits,
/// counts become places in the order (digit, block), each block moves its items.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/parallel/blocks.hpp"
#include "sluice/kernels/stream.hpp"

namespace sluice::kernels {

/// Widest digit: its counters fit the first cache, and the open lines of as many output runs nearly do.
inline constexpr unsigned kDigitBits = 11;

/// At most 128 blocks, which keeps the counters of all blocks few beside the items.
inline std::uint64_t radix_block(std::uint64_t n) { return std::max<std::uint64_t>(65536, (n + 127) / 128); }

/// \tparam PlaceT  holds n
template <typename PlaceT = std::uint32_t>
std::size_t radix_scratch(std::uint64_t n) {
  return Workspace::bytes_for<PlaceT>(blocks_of(n, radix_block(n)) << kDigitBits);
}

/// Keys and values in arrays of their own.
template <typename K>
struct SplitItems {
  using Item = struct {
    K key;
    std::uint32_t value;
  };
  K* keys;
  std::uint32_t* values;
  [[nodiscard]] std::uint64_t key(std::uint64_t i) const { return keys[i]; }
  [[nodiscard]] Item load(std::uint64_t i) const { return {keys[i], values[i]}; }
  void store(std::uint64_t i, Item item) const {
    keys[i] = item.key;
    values[i] = item.value;
  }
  static std::uint64_t key_of_item(Item item) { return item.key; }
};

template <typename K>
struct KeysOnly {
  using Item = K;
  K* keys;
  [[nodiscard]] std::uint64_t key(std::uint64_t i) const { return keys[i]; }
  [[nodiscard]] Item load(std::uint64_t i) const { return keys[i]; }
  void store(std::uint64_t i, Item item) const { keys[i] = item; }
  static std::uint64_t key_of_item(Item item) { return item; }
};

/// Sorts n items by the bits [begin_bit, end_bit) of their keys, from items[0].
/// \tparam PlaceT  holds n; the smaller, the fewer bytes of counters
/// \return which of the two holds the result
template <typename PlaceT = std::uint32_t, typename Items>
int radix_sort(const Items (&items)[2], std::uint64_t n, unsigned begin_bit, unsigned end_bit, Workspace& workspace) {
  const WorkspaceScope scope(workspace);
  const std::uint64_t block = radix_block(n);
  const std::uint64_t blocks = blocks_of(n, block);
  auto* places = workspace.take<PlaceT>(blocks << kDigitBits);
  const unsigned bits = end_bit - begin_bit;
  unsigned passes = (bits + kDigitBits - 1) / kDigitBits;
  int current = 0;
  for (unsigned shift = begin_bit; passes > 0; --passes) {
    const unsigned digit_bits = (end_bit - shift + passes - 1) / passes;  // balanced
    const std::uint64_t digits = std::uint64_t{1} << digit_bits;
    const std::uint64_t mask = digits - 1;
    const Items from = items[current];
    const Items to = items[1 - current];
    for_blocks(n, block, [&](std::uint64_t b, std::uint64_t begin, std::uint64_t end) {
      PlaceT* mine = places + b * digits;
      std::fill_n(mine, digits, PlaceT{0});
      for (std::uint64_t i = begin; i < end; ++i) ++mine[(from.key(i) >> shift) & mask];
    });
    PlaceT sum = 0;
    bool moves = false;
    for (std::uint64_t digit = 0; digit < digits; ++digit) {
      const PlaceT before = sum;
      for (std::uint64_t b = 0; b < blocks; ++b) {
        const PlaceT count = places[b * digits + digit];
        places[b * digits + digit] = sum;
        sum += count;
      }
      moves = moves || (sum != before && sum - before != n);
    }
    if (moves) {
      for_blocks(n, block, [&](std::uint64_t b, std::uint64_t begin, std::uint64_t end) {
        PlaceT* mine = places + b * digits;
        for (std::uint64_t i = begin; i < end; ++i) {
          const auto item = from.load(i);
          to.store(mine[(Items::key_of_item(item) >> shift) & mask]++, item);
        }
      });
      current = 1 - current;
    }
    shift += digit_bits;
  }
  return current;
}

}  // namespace sluice::kernels
