// SPDX-License-Identifier: Apache-2.0
/// \file
/// `cub::DeviceHistogram::HistogramEven` over the digits: counters of each block, in shared memory where they are few.
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cub/device/device_histogram.cuh>

#include "kernels/cuda/thrust/call.hpp"
#include "kernels/family/histogram/keys.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::histogram {

namespace {

/// CUB compares samples with the bounds of its bins as signed numbers.
struct SignedDigitOf : DigitOf {
  template <typename KeyT>
  SLUICE_HD int operator()(KeyT key) const {
    return static_cast<int>(DigitOf::operator()(key));
  }
};

template <typename KeyT>
auto histogram_call(const KeyT* keys, std::uint64_t n, DigitOf digit, std::uint64_t* counts, StreamView stream) {
  return [=](void* scratch, std::size_t& bytes) {
    const int values = static_cast<int>(digit.values());
    return cub::DeviceHistogram::HistogramEven(scratch, bytes,
                                               thrust::make_transform_iterator(keys, SignedDigitOf{digit}),
                                               reinterpret_cast<unsigned long long*>(counts), values + 1, 0, values,
                                               static_cast<std::int64_t>(n), cuda::handle_of(stream));
  };
}

}  // namespace

HistogramVariant cub() {
  return {{"cub", "cub::DeviceHistogram::HistogramEven", true},
          [](ItemType type, std::uint64_t n, unsigned bits) {
            return with_key_type(type, [&]<typename KeyT>() {
              const KeyT* const none = nullptr;
              return cuda::cub_scratch(histogram_call(none, n, DigitOf{0, bits}, nullptr, StreamView(nullptr)));
            });
          },
          [](const HistogramCall& call, Workspace& workspace, StreamView stream) {
            with_keys(call, [&](const auto* keys, DigitOf digit) {
              if (call.n == 0) return cuda::fill(call.counts, 0, digit.values() * sizeof *call.counts, stream);
              cuda::cub_run(histogram_call(keys, call.n, digit, call.counts, stream), workspace);
            });
          }};
}

}  // namespace sluice::kernels::family::histogram
