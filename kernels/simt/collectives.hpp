// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sums and other reductions over a warp or a block, made of the words.
#pragma once

#include "kernels/simt/words.hpp"

namespace sluice::simt {

/// Sum over this lane and those below.
template <typename ContextT, typename T>
SLUICE_SIMT T warp_inclusive_sum(ContextT& simt, T value) {
  for (unsigned distance = 1; distance < ContextT::kWarpWidth; distance *= 2) {
    const T below = simt.shuffle_up(value, distance);
    if (simt.lane() >= distance) value += below;
  }
  return value;
}

/// Each of `items`, which the lanes of one warp share, becomes the sum of those before it.
///
/// \return the sum of all
template <unsigned kItems, typename ContextT, typename T>
SLUICE_SIMT T warp_exclusive_sums(ContextT& simt, T (&items)[kItems]) {
  constexpr unsigned kWidth = ContextT::kWarpWidth;
  T sum = 0;
  SLUICE_UNROLL
  for (unsigned first = 0; first < kItems; first += kWidth) {
    const unsigned i = first + simt.lane();
    const T item = i < kItems ? items[i] : T{0};
    const T inclusive = sum + warp_inclusive_sum(simt, item);
    sum = simt.shuffle(inclusive, kWidth - 1);
    if (i < kItems) items[i] = inclusive - item;
  }
  return sum;
}

/// Every lane gets `combine` over all lanes; it must commute.
template <typename ContextT, typename T, typename CombineT>
SLUICE_SIMT T warp_reduce(ContextT& simt, T value, CombineT combine) {
  for (unsigned distance = ContextT::kWarpWidth / 2; distance > 0; distance /= 2) {
    value = combine(value, simt.shuffle_xor(value, distance));
  }
  return value;
}

/// The lowest lane of each run of equal `run` gets `combine` over the run; runs are unbroken rows of lanes.
template <typename ContextT, typename RunT, typename T, typename CombineT>
SLUICE_SIMT T warp_reduce_runs(ContextT& simt, RunT run, T value, CombineT combine) {
  for (unsigned distance = 1; distance < ContextT::kWarpWidth; distance *= 2) {
    const T above = simt.shuffle_down(value, distance);
    const RunT run_above = simt.shuffle_down(run, distance);
    if (simt.lane() + distance < ContextT::kWarpWidth && run_above == run) value = combine(value, above);
  }
  return value;
}

/// Exclusive sum over the threads of a block of `kWarps` warps, and the sum of all.
/// \param warp_sums  shared, one for each warp; free again on return
template <unsigned kWarps, typename ContextT, typename T>
SLUICE_SIMT T block_exclusive_sum(ContextT& simt, T value, T (&warp_sums)[kWarps], T& total) {
  const T inclusive = warp_inclusive_sum(simt, value);
  if (simt.lane() == ContextT::kWarpWidth - 1) warp_sums[simt.warp()] = inclusive;
  simt.block_barrier();
  T before = 0;
  T all = 0;
  for (unsigned w = 0; w < kWarps; ++w) {
    if (w == simt.warp()) before = all;
    all += warp_sums[w];
  }
  simt.block_barrier();
  total = all;
  return before + inclusive - value;
}

/// Every thread gets `combine` over the block; it must commute.
/// \param warp_values  shared, one for each warp; free again on return
template <unsigned kWarps, typename ContextT, typename T, typename CombineT>
SLUICE_SIMT T block_reduce(ContextT& simt, T value, T (&warp_values)[kWarps], CombineT combine) {
  value = warp_reduce(simt, value, combine);
  if (simt.lane() == 0) warp_values[simt.warp()] = value;
  simt.block_barrier();
  T all = warp_values[0];
  for (unsigned w = 1; w < kWarps; ++w) all = combine(all, warp_values[w]);
  simt.block_barrier();
  return all;
}

struct Plus {
  template <typename T>
  SLUICE_SIMT T operator()(T a, T b) const {
    return a + b;
  }
};
struct Least {
  template <typename T>
  SLUICE_SIMT T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Greatest {
  template <typename T>
  SLUICE_SIMT T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

}  // namespace sluice::simt
