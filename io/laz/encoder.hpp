// SPDX-License-Identifier: Apache-2.0
/// \file
/// The encoding side of the arithmetic coder; decoder.hpp tells how the two go together.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "memory.hpp"
#include "models.hpp"

namespace sluice::laz {

/// Writes one arithmetic stream into memory.
///
/// The newest byte that was put out is held back, with room for a carry above it: a carry that goes further than that
/// byte is rare, and only then is memory changed again.
class Encoder {
 public:
  static constexpr bool kEncodes = true;
  using Byte = const std::byte;
  /// Bytes that the encoder may touch beyond the stream that it has written.
  static constexpr std::uint64_t kSlack = 8;

  /// The stream begins at `to`; the byte before it must exist, and is as it was after `finish`. The caller sees that
  /// there is room for two bytes a modelled symbol, three for each 19 raw bits, and kSlack.
  SLUICE_HD void start(std::byte* to) {
    first_ = to;
    next_ = to - 1;
    before_ = *next_;
    low_ = 0;
    span_ = 0xFFFFFFFFU;
  }

  /// Where the next byte will come to stand, for growing buffers; `rebase` follows.
  [[nodiscard]] SLUICE_HD std::uint64_t written() const { return static_cast<std::uint64_t>(next_ - first_) + 1; }
  /// The bytes so far have moved and begin at `to` now.
  SLUICE_HD void rebase(std::byte* to) {
    next_ = to + (next_ - first_);
    first_ = to;
  }

  template <std::uint32_t kSymbols>
  SLUICE_LAZ_INLINE std::uint32_t symbol(Alphabet<kSymbols>& m, std::uint32_t s, std::uint32_t n = kSymbols) {
    const std::uint32_t unit = span_ >> 15;
    const std::uint32_t low = m.cum[s] * unit;
    const std::uint32_t next = m.cum[s + 1] * unit;
    span_ = (s + 1 < n ? next : span_) - low;
    low_ += low;
    normalise();
    note(m, s, n);
    return s;
  }

  SLUICE_LAZ_INLINE std::uint32_t bit(BitModel& m, std::uint32_t value) {
    const std::uint32_t low = m.p0 * (span_ >> 13);
    low_ += value != 0 ? low : 0;
    span_ = value != 0 ? span_ - low : low;
    normalise();
    note(m, value);
    return value;
  }

  SLUICE_LAZ_INLINE std::uint32_t raw(std::uint32_t k, std::uint32_t value) {
    if (k < 20) {
      raw_part(k, value);
    } else {
      raw_part(16, value & 0xFFFFU);
      raw_part(k - 16, value >> 16);
    }
    return value;
  }

  /// Ends the stream and gives its size in bytes.
  SLUICE_HD std::uint64_t finish() {
    const bool wide = span_ > 0x02000000U;
    low_ += wide ? 0x01000000U : 0x00800000U;
    span_ = wide ? 0x00800000U : 0x00008000U;
    normalise();
    if (low_ >> 40 != 0) carry();
    *next_++ = static_cast<std::byte>(low_ >> 32);
    for (int i = wide ? 3 : 2; i > 0; --i) *next_++ = std::byte{0};
    first_[-1] = before_;
    return static_cast<std::uint64_t>(next_ - first_);
  }

 private:
  SLUICE_LAZ_INLINE void raw_part(std::uint32_t k, std::uint32_t value) {
    span_ >>= k;
    low_ += std::uint64_t{value} * span_;
    normalise();
  }

  /// Adds one to the bytes before the held one.
  SLUICE_LAZ_INLINE void carry() { add_one(next_); }
  static SLUICE_LAZ_COLD void add_one(std::byte* end) {
    while (*--end == std::byte{0xFF}) *end = std::byte{0};
    *end = static_cast<std::byte>(static_cast<unsigned>(*end) + 1U);
  }

  SLUICE_LAZ_INLINE void normalise() {
    if (span_ >= 0x01000000U) return;
    const auto shift = static_cast<std::uint32_t>(std::countl_zero(span_)) & 24U;
    if (low_ >> 40 != 0) carry();
    store_unaligned(next_, swap_bytes(static_cast<std::uint32_t>(low_ >> 8)));
    next_ += shift >> 3;
    low_ = (low_ << shift) & 0xFFFFFFFFFFU;
    span_ <<= shift;
  }

  std::byte* first_;
  std::byte* next_;    ///< where the held byte will stand
  std::uint64_t low_;  ///< bits 0-31 base, 32-39 the held byte, 40 its carry
  std::uint32_t span_;
  std::byte before_;
};

}  // namespace sluice::laz
