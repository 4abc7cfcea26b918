// SPDX-License-Identifier: Apache-2.0
/// \file
/// Untyped items of fixed size, and the choice of a template by item or key size at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice::kernels {

/// Bytes that are moved as one, aligned as the primitives promise.
template <std::size_t kBytes>
struct alignas(kBytes < 16 ? kBytes : 16) Item {
  std::byte bytes[kBytes];
};

/// Calls f(Item<bytes>{}); `bytes` was checked.
template <typename F>
void with_item(std::uint32_t bytes, F f) {
  switch (bytes) {
    case 4:
      return f(Item<4>{});
    case 8:
      return f(Item<8>{});
    case 16:
      return f(Item<16>{});
    default:
      return f(Item<32>{});
  }
}

/// Calls f with a key of `bytes` bytes, whose value means nothing; `bytes` was checked.
template <typename F>
auto with_key(std::uint32_t bytes, F f) {
  return bytes == 4 ? f(std::uint32_t{}) : f(std::uint64_t{});
}

}  // namespace sluice::kernels
