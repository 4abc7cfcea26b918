// SPDX-License-Identifier: Apache-2.0
/// \file
/// `parallel_scan` of TBB.
///
/// A range is split where a thread is free to take the other half: it then sums its half before the values ahead of it
/// are known, and scans it again when they are. With one thread every item is read once, with many about twice.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_scan.h>

#include <cstdint>

namespace sluice::kernels::family::scan {

/// Input and output do not overlap.
template <typename OpT, typename T>
void scan_tbb(const T* in, std::uint64_t n, bool inclusive, T* out) {
  constexpr std::uint64_t kGrain = 16384;
  const OpT op;
  const auto scan_range = [=](const tbb::blocked_range<std::uint64_t>& range, T sum, bool is_final) {
    for (std::uint64_t i = range.begin(); i < range.end(); ++i) {
      const T before = sum;
      sum = op(sum, in[i]);
      if (is_final) out[i] = inclusive ? sum : before;
    }
    return sum;
  };
  static_cast<void>(
      tbb::parallel_scan(tbb::blocked_range<std::uint64_t>(0, n, kGrain), OpT::template identity<T>(), scan_range, op));
}

}  // namespace sluice::kernels::family::scan
