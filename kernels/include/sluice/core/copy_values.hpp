// SPDX-License-Identifier: Apache-2.0
/// \file
/// Copies of one value of each record, as from rows to columns and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sluice {

/// Copies `count` values of `bytes` bytes, `from_stride` bytes apart, to places `to_stride` bytes apart, in order.
/// Source and target must not overlap. Common sizes are known to the compiler: a call for every value would take longer
/// than the copy.
inline void copy_values(const std::byte* from, std::uint64_t from_stride, std::byte* to, std::uint64_t to_stride,
                        std::uint64_t bytes, std::uint64_t count) {
  const auto copy = [&]<std::uint64_t kBytes>() {
    for (std::uint64_t i = 0; i < count; ++i) {
      std::memcpy(to + i * to_stride, from + i * from_stride, kBytes != 0 ? kBytes : bytes);
    }
  };
  switch (bytes) {
    case 1:
      return copy.template operator()<1>();
    case 2:
      return copy.template operator()<2>();
    case 4:
      return copy.template operator()<4>();
    case 8:
      return copy.template operator()<8>();
    case 12:
      return copy.template operator()<12>();
    case 16:
      return copy.template operator()<16>();
    default:
      return copy.template operator()<0>();
  }
}

}  // namespace sluice
