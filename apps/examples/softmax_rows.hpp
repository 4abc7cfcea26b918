// SPDX-License-Identifier: Apache-2.0
/// \file
/// Softmax with one pass for both the maximum and the sum (M. Milakov, N. Gimelshein, "Online normalizer calculation
/// for softmax", arXiv 1805.02867): a pair of them is merged with the next by an associative operator, so any scan or
/// reduction does it.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/family/operators.hpp"

namespace sluice::examples {

/// Of some numbers: the greatest, and the sum of exp(x - greatest), which neither overflows nor vanishes.
struct MaxAndSum {
  float max;
  float sum;

  /// A number that is -inf counts for nothing.
  static MaxAndSum of(float x) { return {x, x == -std::numeric_limits<float>::infinity() ? 0.0F : 1.0F}; }
};

struct MergeMaxAndSum {
  template <typename T>
  [[nodiscard]] SLUICE_SIMT static constexpr T identity() {
    return {-std::numeric_limits<float>::infinity(), 0.0F};
  }
  [[nodiscard]] SLUICE_SIMT MaxAndSum operator()(MaxAndSum a, MaxAndSum b) const {
    const float max = a.max < b.max ? b.max : a.max;
    // The difference of two infinities would be no number.
    if (max == -std::numeric_limits<float>::infinity()) return a;
    return {max, a.sum * std::exp(a.max - max) + b.sum * std::exp(b.max - max)};
  }
};

/// exp(x) divided by the sum of all exp(x), for each number of a row; zeros where all numbers are -inf. Numbers are
/// finite or -inf.
/// \param scan  as `HostScan`
template <typename ScanT>
std::vector<float> softmax(const std::vector<float>& row, const ScanT& scan) {
  if (row.empty()) return {};
  std::vector<MaxAndSum> items;
  items.reserve(row.size());
  for (const float x : row) items.push_back(MaxAndSum::of(x));
  const MaxAndSum all = scan(MergeMaxAndSum{}, items).back();
  std::vector<float> out(row.size());
  if (all.sum == 0.0F) return out;
  for (std::size_t i = 0; i < row.size(); ++i) out[i] = std::exp(row[i] - all.max) / all.sum;
  return out;
}

}  // namespace sluice::examples
