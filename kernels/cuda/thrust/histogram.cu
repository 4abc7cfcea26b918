// SPDX-License-Identifier: Apache-2.0
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cub/device/device_histogram.cuh>

#include "kernels/cuda/detail/arguments.hpp"
#include "kernels/cuda/thrust/call.hpp"
#include "kernels/cuda/thrust/primitives.hpp"
#include "sluice/core/hd.hpp"

namespace sluice::kernels::cuda {

namespace {

struct TakeDigit {
  unsigned begin_bit;
  unsigned bits;
  template <typename KeyT>
  SLUICE_HD int operator()(KeyT key) const {
    return static_cast<int>(static_cast<std::uint32_t>(key >> begin_bit) & ((1U << bits) - 1));
  }
};

template <typename KeyT>
auto histogram_call(const KeyT* keys, std::uint64_t n, TakeDigit digit, std::uint64_t* counts, StreamView stream) {
  return [=](void* scratch, std::size_t& bytes) {
    const int values = 1 << digit.bits;
    return cub::DeviceHistogram::HistogramEven(scratch, bytes, thrust::make_transform_iterator(keys, digit),
                                               reinterpret_cast<unsigned long long*>(counts), values + 1, 0, values,
                                               static_cast<std::int64_t>(n), handle_of(stream));
  };
}

}  // namespace

void ThrustPrimitives::histogram(const void* keys, std::uint32_t key_bytes, std::uint64_t n, unsigned begin_bit,
                                 unsigned bits, std::uint64_t* counts, Workspace& workspace, StreamView stream) {
  check_count(n);
  check_digit(key_bytes, begin_bit, bits);
  const ScopedDevice current(device());
  if (n == 0) return fill(counts, 0, sizeof(std::uint64_t) << bits, stream);
  const TakeDigit digit{begin_bit, bits};
  if (key_bytes == 4) {
    cub_run(histogram_call(static_cast<const std::uint32_t*>(keys), n, digit, counts, stream), workspace);
  } else {
    cub_run(histogram_call(static_cast<const std::uint64_t*>(keys), n, digit, counts, stream), workspace);
  }
}

std::size_t ThrustPrimitives::histogram_scratch(std::uint64_t n, unsigned bits) const {
  const ScopedDevice current(device());
  const TakeDigit digit{0, bits};
  const StreamView stream(nullptr);
  return std::max(cub_scratch(histogram_call(static_cast<const std::uint32_t*>(nullptr), n, digit, nullptr, stream)),
                  cub_scratch(histogram_call(static_cast<const std::uint64_t*>(nullptr), n, digit, nullptr, stream)));
}

}  // namespace sluice::kernels::cuda
