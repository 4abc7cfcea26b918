// SPDX-License-Identifier: Apache-2.0
/// \file
/// Numbers of a file, which are little-endian at any address, and where the fields of points are.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "inline.hpp"
#include "sluice/core/types.hpp"

namespace sluice::laz {

static_assert(std::endian::native == std::endian::little);

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
