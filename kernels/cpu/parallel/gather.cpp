// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "kernels/arguments.hpp"
#include "kernels/cpu/parallel/blocks.hpp"
#include "kernels/cpu/parallel/primitives.hpp"

namespace sluice::kernels {

namespace {

/// \tparam kBytes  the size of an item; 0: known at run time only
template <std::size_t kBytes>
void gather_items(const std::byte* from, std::size_t item_bytes, const std::uint32_t* indices, std::uint64_t n,
                  std::byte* to) {
  const std::size_t bytes = kBytes != 0 ? kBytes : item_bytes;
  for_blocks(n, kBlock, [=](std::uint64_t /*block*/, std::uint64_t begin, std::uint64_t end) {
    constexpr std::uint64_t kAhead = 16;  // reads lie anywhere: several must be under way at once
    for (std::uint64_t i = begin; i < end; ++i) {
      if (i + kAhead < end) __builtin_prefetch(from + std::uint64_t{indices[i + kAhead]} * bytes);
      std::memcpy(to + i * bytes, from + std::uint64_t{indices[i]} * bytes, bytes);
    }
  });
}

}  // namespace

void ParallelPrimitives::gather(const void* items, std::uint32_t item_bytes, const std::uint32_t* indices,
                                std::uint64_t n, void* out, StreamView /*stream*/) {
  check_count(n);
  check_gather_bytes(item_bytes);
  const auto* from = static_cast<const std::byte*>(items);
  auto* to = static_cast<std::byte*>(out);
  switch (item_bytes) {
    case 4:
      return gather_items<4>(from, 4, indices, n, to);
    case 8:
      return gather_items<8>(from, 8, indices, n, to);
    case 16:
      return gather_items<16>(from, 16, indices, n, to);
    case 20:  // LAS point formats 0 to 3 and 6 to 8
      return gather_items<20>(from, 20, indices, n, to);
    case 28:
      return gather_items<28>(from, 28, indices, n, to);
    case 30:
      return gather_items<30>(from, 30, indices, n, to);
    case 32:
      return gather_items<32>(from, 32, indices, n, to);
    case 34:
      return gather_items<34>(from, 34, indices, n, to);
    case 36:
      return gather_items<36>(from, 36, indices, n, to);
    case 38:
      return gather_items<38>(from, 38, indices, n, to);
    default:
      return gather_items<0>(from, item_bytes, indices, n, to);
  }
}

}  // namespace sluice::kernels
