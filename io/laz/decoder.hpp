// SPDX-License-Identifier: Apache-2.0
/// \file
/// The decoding side of the arithmetic coder.
///
/// Items are described once, for a coder that decodes or encodes: each call takes the value to encode, which a decoder
/// ignores, and gives back the value that was coded.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "memory.hpp"
#include "models.hpp"

namespace sluice::laz {

/// Reads one arithmetic stream. Loops copy it into a local variable, whose members then are registers.
///
/// Never reads beyond the end: missing bytes read as zeros and are counted. Bytes that no encoder writes lead to some
/// values or other, never to a fault.
class Decoder {
 public:
  static constexpr bool kEncodes = false;
  using Byte = std::byte;

  SLUICE_HD void start(const std::byte* data, std::uint64_t size) {
    data_ = data;
    size_ = size;
    at_ = 4;
    span_ = 0xFFFFFFFFU;
    head_ = size >= 4 ? big_endian(data) : peek_end(data, size, 0);
    bad_ = 0;
  }

  /// Bytes used so far, missing ones included.
  [[nodiscard]] SLUICE_HD std::uint64_t consumed() const { return at_; }
  /// True where a byte was needed that is not there.
  [[nodiscard]] SLUICE_HD bool starved() const { return at_ > size_; }
  /// True where a value came out that cannot be.
  [[nodiscard]] SLUICE_HD bool corrupt() const { return bad_ != 0; }
  /// True where the stream may end here: all bytes are used, and the last ones are as an encoder ends a stream. Of
  /// bytes that mean something else it is rarely true.
  [[nodiscard]] SLUICE_HD bool may_end() const {
    if (at_ != size_) return false;
    return span_ > 0x02000000U ? head_ > 0 && head_ <= 0x01000000U : head_ > 0x007F0000U && head_ <= 0x00800000U;
  }
  SLUICE_HD void mark_corrupt() { bad_ = 1; }

  /// A symbol of model m, run with n symbols.
  template <std::uint32_t kSymbols>
  SLUICE_LAZ_INLINE std::uint32_t symbol(Alphabet<kSymbols>& m, std::uint32_t /*value*/, std::uint32_t n = kSymbols) {
    const std::uint32_t unit = span_ >> 15;
    std::uint32_t s = m.likely;
    std::uint32_t low = m.likely_begin * unit;
    std::uint32_t width = m.likely_end * unit - low;
    if (head_ - low < width) {
      span_ = s + 1 < n ? width : span_ - low;
      head_ -= low;
      if (span_ < 0x01000000U) shift_in();
    } else {
      s = find(m, head_, unit, n);
      low = m.cum[s] * unit;
      width = m.cum[s + 1] * unit - low;
      span_ = s + 1 < n ? width : span_ - low;
      head_ -= low;
      shift_in();
    }
    note(m, s, n);
    return s;
  }

  SLUICE_LAZ_INLINE std::uint32_t bit(BitModel& m, std::uint32_t /*value*/) {
    const std::uint32_t low = m.p0 * (span_ >> 13);
    const std::uint32_t value = head_ >= low ? 1 : 0;
    head_ = value != 0 ? head_ - low : head_;
    span_ = value != 0 ? span_ - low : low;
    shift_in();
    note(m, value);
    return value;
  }

  /// k bits without a model, k from 1 to 32.
  SLUICE_LAZ_INLINE std::uint32_t raw(std::uint32_t k, std::uint32_t /*value*/) {
    if (k < 20) return raw_part(k);
    const std::uint32_t low = raw_part(16);
    return low | raw_part(k - 16) << 16;
  }

 private:
  SLUICE_LAZ_INLINE std::uint32_t raw_part(std::uint32_t k) {
    span_ >>= k;
    const std::uint32_t value = head_ / span_;
    head_ -= value * span_;
    shift_in();
    bad_ |= value >> k;
    return value & ((1U << k) - 1);
  }

  static SLUICE_LAZ_INLINE std::uint32_t big_endian(const std::byte* at) {
    return swap_bytes(load_unaligned<std::uint32_t>(at));
  }

  /// The four bytes at position `at`, of which some may be missing.
  static SLUICE_LAZ_COLD std::uint32_t peek_end(const std::byte* data, std::uint64_t size, std::uint64_t at) {
    std::uint32_t word = 0;
    for (std::uint64_t i = at; i < at + 4; ++i)
      word = word << 8 | (i < size ? static_cast<std::uint32_t>(data[i]) : 0U);
    return word;
  }

  /// Normalises. Without a branch on how many bytes are needed, which cannot be foreseen after an unlikely symbol.
  SLUICE_LAZ_INLINE void shift_in() {
    const auto shift = static_cast<std::uint32_t>(std::countl_zero(span_)) & 24U;
    const std::uint32_t next = at_ + 4 <= size_ ? big_endian(data_ + at_) : peek_end(data_, size_, at_);
    head_ = static_cast<std::uint32_t>(((std::uint64_t{head_} << 32 | next) << shift) >> 32);
    span_ <<= shift;
    at_ += shift >> 3;
  }

  const std::byte* data_;
  std::uint64_t size_;
  std::uint64_t at_;
  std::uint32_t span_;
  std::uint32_t head_;
  std::uint32_t bad_;
};

}  // namespace sluice::laz
