// SPDX-License-Identifier: Apache-2.0
/// \file
/// Counting and compacting by a byte per item, eight bytes at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace sluice::kernels {

inline constexpr std::uint64_t kOnes = 0x0101010101010101ULL;

/// 1 in every byte of the result whose byte in `word` is not zero.
inline std::uint64_t nonzero_bytes(std::uint64_t word) {
  constexpr std::uint64_t kLow = 0x7f7f7f7f7f7f7f7fULL;
  return ((((word & kLow) + kLow) | word) >> 7) & kOnes;
}

/// Chooses items whose byte is not zero.
struct NonZero {
  [[nodiscard]] bool test(std::uint8_t flag) const { return flag != 0; }
  [[nodiscard]] std::uint64_t mask(std::uint64_t word) const { return nonzero_bytes(word); }
};

/// Chooses items whose byte is zero.
struct Zero {
  [[nodiscard]] bool test(std::uint8_t flag) const { return flag == 0; }
  [[nodiscard]] std::uint64_t mask(std::uint64_t word) const { return nonzero_bytes(word) ^ kOnes; }
};

/// Chooses items whose byte has one value.
struct EqualTo {
  explicit EqualTo(std::uint8_t value) : wanted(value) {}
  [[nodiscard]] bool test(std::uint8_t flag) const { return flag == wanted; }
  [[nodiscard]] std::uint64_t mask(std::uint64_t word) const { return nonzero_bytes(word ^ wanted * kOnes) ^ kOnes; }
  std::uint8_t wanted;
};

inline std::uint64_t load_eight(const std::uint8_t* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// How many of the items begin..end are chosen.
template <typename Stencil>
std::uint64_t count_chosen(Stencil stencil, const std::uint8_t* flags, std::uint64_t begin, std::uint64_t end) {
  std::uint64_t count = 0;
  std::uint64_t i = begin;
  for (; i + 8 <= end; i += 8) count += (stencil.mask(load_eight(flags + i)) * kOnes) >> 56;
  for (; i < end; ++i) count += stencil.test(flags[i]) ? 1U : 0U;
  return count;
}

/// Sets bit i % 32 of words[i / 32] for every chosen one of `count` items, and clears all other bits of these words.
template <typename Stencil>
void pack_chosen(Stencil stencil, const std::uint8_t* flags, std::uint64_t count, std::uint32_t* words) {
  constexpr std::uint64_t kToTop = 0x0102040810204080ULL;  // brings bit 8 i to bit 56 + i; no two terms meet
  std::uint64_t first = 0;
  for (; first + 32 <= count; first += 32) {
    std::uint32_t word = 0;
    for (unsigned j = 0; j < 32; j += 8) {
      word |= static_cast<std::uint32_t>((stencil.mask(load_eight(flags + first + j)) * kToTop) >> 56) << j;
    }
    words[first / 32] = word;
  }
  if (first == count) return;
  std::uint32_t word = 0;
  for (std::uint64_t i = first; i < count; ++i) word |= std::uint32_t{stencil.test(flags[i])} << (i - first);
  words[first / 32] = word;
}

/// Writes value(i) of every chosen item of begin..end, in order.
/// \param count  how many are chosen; nothing is written behind them, where another block may write
template <typename Stencil, typename T, typename Value>
void emit_chosen(Stencil stencil, const std::uint8_t* flags, std::uint64_t begin, std::uint64_t end,
                 std::uint64_t count, T* out, Value value) {
  std::uint64_t at = 0;
  std::uint64_t i = begin;
  // Every item is written and the place moves on behind chosen ones only: no branch to mispredict.
  for (; i + 8 <= end && at + 8 <= count; i += 8) {
    const std::uint64_t mask = stencil.mask(load_eight(flags + i));
    if (mask == 0) continue;
    if (mask == kOnes) {  // scanners see regions in runs, so this is common
      for (unsigned j = 0; j < 8; ++j) out[at + j] = value(i + j);
      at += 8;
      continue;
    }
    for (unsigned j = 0; j < 8; ++j) {
      out[at] = value(i + j);
      at += (mask >> (8 * j)) & 1;
    }
  }
  while (at < count) {
    if (i + 8 <= end && stencil.mask(load_eight(flags + i)) == 0) {
      i += 8;
      continue;
    }
    for (const std::uint64_t stop = std::min(i + 8, end); i < stop && at < count; ++i) {
      out[at] = value(i);
      at += stencil.test(flags[i]) ? 1U : 0U;
    }
  }
}

}  // namespace sluice::kernels
