// SPDX-License-Identifier: Apache-2.0
/// \file
/// Counters for each thread, added up at the end: n + threads * 2^bits additions, and no thread waits for another.
#include <algorithm>
#include <vector>

#include "kernels/family/histogram/keys.hpp"
#include "kernels/family/variants.hpp"
#include "tbb/blocked_range.h"
#include "tbb/combinable.h"
#include "tbb/parallel_for.h"

namespace sluice::kernels::family::histogram {

namespace {

template <typename KeyT>
void count(const KeyT* keys, std::uint64_t n, DigitOf digit, std::uint64_t* counts) {
  using Range = tbb::blocked_range<std::uint64_t>;
  using Counts = std::vector<std::uint64_t>;
  tbb::combinable<Counts> of_threads([&] { return Counts(digit.values()); });
  tbb::parallel_for(Range(0, n, 16384), [&](const Range& range) {
    Counts& mine = of_threads.local();
    for (std::uint64_t i = range.begin(); i != range.end(); ++i) ++mine[digit(keys[i])];
  });
  std::fill_n(counts, digit.values(), 0);
  of_threads.combine_each([&](const Counts& some) {
    for (std::size_t d = 0; d < some.size(); ++d) counts[d] += some[d];
  });
}

}  // namespace

HistogramVariant tbb() {
  return {{"tbb", "counters for each thread, added up"},
          [](ItemType, std::uint64_t, unsigned) { return std::size_t{0}; },
          [](const HistogramCall& call, Workspace&, StreamView) {
            with_keys(call, [&](const auto* keys, DigitOf digit) { count(keys, call.n, digit, call.counts); });
          }};
}

}  // namespace sluice::kernels::family::histogram
