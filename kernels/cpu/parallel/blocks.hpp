// SPDX-License-Identifier: Apache-2.0
/// \file
/// How work is cut into blocks. Cuts depend on the amount of work only, never on the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tbb/blocked_range.h"
#include "tbb/parallel_for.h"

namespace sluice::kernels {

/// Items of one block: a few times what starting a task costs, and it fits the second cache with its output.
inline constexpr std::uint64_t kBlock = 16384;
/// Up to here the caller's thread does all by itself: chunks come from many threads at once.
inline constexpr std::uint64_t kSerialCount = 32768;

inline std::uint64_t blocks_of(std::uint64_t n, std::uint64_t block = kBlock) { return (n + block - 1) / block; }

/// Calls f(i) for 0 <= i < n, from many threads where `items`, the size of the whole work, is worth it.
template <typename F>
void for_each(std::uint64_t n, std::uint64_t items, const F& f) {
  if (n <= 1 || items <= kSerialCount) {
    for (std::uint64_t i = 0; i < n; ++i) f(i);
    return;
  }
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, n), [&](const tbb::blocked_range<std::uint64_t>& range) {
    for (std::uint64_t i = range.begin(); i != range.end(); ++i) f(i);
  });
}

/// Calls f(block, begin, end) for every block of n items.
template <typename F>
void for_blocks(std::uint64_t n, std::uint64_t block, const F& f) {
  for_each(blocks_of(n, block), n, [&](std::uint64_t b) { f(b, b * block, std::min(n, (b + 1) * block)); });
}

/// Turns counts into where each begins. \return their sum
template <typename T>
T begin_of_each(T* counts, std::uint64_t n) {
  T sum = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const T count = counts[i];
    counts[i] = sum;
    sum += count;
  }
  return sum;
}

}  // namespace sluice::kernels
