// SPDX-License-Identifier: Apache-2.0
/// \file
/// Little-endian values at any address.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "inline.hpp"

namespace sluice::laz {

static_assert(std::endian::native == std::endian::little);

template <class T>
SLUICE_LAZ_INLINE T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <class T>
SLUICE_LAZ_INLINE void store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

SLUICE_LAZ_INLINE std::uint32_t swap_bytes(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  return __byte_perm(word, 0, 0x0123);
#else
  return __builtin_bswap32(word);
#endif
}

/// One field of all points: a column of its own, or every stride-th byte of an array of records. Not wanted where null.
template <class Byte>
struct Field {
  Byte* at = nullptr;
  std::uint64_t stride = 0;

  [[nodiscard]] SLUICE_LAZ_INLINE Byte* of(std::uint64_t point) const { return at + point * stride; }
};

}  // namespace sluice::laz
