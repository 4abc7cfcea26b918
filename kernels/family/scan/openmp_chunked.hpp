// SPDX-License-Identifier: Apache-2.0
/// \file
/// A chunk for each thread: local scan, scan of the chunks' totals, and each chunk's items with the total before it.
///
/// The plainest scan by threads, and what `block_sums.cuh` does with blocks: 2 n additions, items read and written
/// twice. As a loop of one thread is soon limited by memory, so is this: it gains where chunks fit the caches of their
/// cores.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sluice::kernels::family::scan {

/// Input and output may be the same memory.
template <typename OpT, typename T>
void scan_openmp_chunked(const T* in, std::uint64_t n, bool inclusive, T* out) {
  std::vector<T> totals;
#pragma omp parallel default(none) shared(totals) firstprivate(in, n, inclusive, out)
  {
    const OpT op;
    const auto chunks = static_cast<std::uint64_t>(omp_get_num_threads());
    const auto chunk = static_cast<std::uint64_t>(omp_get_thread_num());
#pragma omp single
    totals.assign(chunks + 1, OpT::template identity<T>());
    const std::uint64_t begin = n * chunk / chunks;
    const std::uint64_t end = n * (chunk + 1) / chunks;
    T sum = OpT::template identity<T>();
    for (std::uint64_t i = begin; i < end; ++i) {
      const T before = sum;
      sum = op(sum, in[i]);
      out[i] = inclusive ? sum : before;
    }
    totals[chunk + 1] = sum;
#pragma omp barrier
#pragma omp single
    for (std::uint64_t c = 1; c < chunks; ++c) totals[c + 1] = op(totals[c], totals[c + 1]);
    if (chunk != 0) {
      for (std::uint64_t i = begin; i < end; ++i) out[i] = op(totals[chunk], out[i]);
    }
  }
}

}  // namespace sluice::kernels::family::scan
