// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/cuda/bodies/histogram.hpp"
#include "kernels/cuda/detail/arguments.hpp"
#include "kernels/cuda/detail/device.hpp"
#include "kernels/cuda/primitives.hpp"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::cuda {

namespace {

/// Enough to fill any GPU a few times over; more would only add up more counters.
constexpr std::uint64_t kMostBlocks = 1024;

template <typename KeyT>
void count_digits(const KeyT* keys, std::uint64_t n, unsigned begin_bit, unsigned bits, std::uint64_t* counts,
                  StreamView stream) {
  const std::uint64_t blocks = std::min(kMostBlocks, simt::blocks_for(n, bodies::kHistogramThreads * 16));
  if (bits <= bodies::kSharedHistogramBits) {
    simt::launch(bodies::CountDigitsShared<KeyT>{keys, n, begin_bit, bits, counts}, blocks, stream);
  } else {
    simt::launch(bodies::CountDigitsGlobal<KeyT>{keys, n, begin_bit, bits, counts}, blocks, stream);
  }
}

}  // namespace

void CudaPrimitives::histogram(const void* keys, std::uint32_t key_bytes, std::uint64_t n, unsigned begin_bit,
                               unsigned bits, std::uint64_t* counts, Workspace& /*workspace*/, StreamView stream) {
  check_count(n);
  check_digit(key_bytes, begin_bit, bits);
  const ScopedDevice current(device());
  fill(counts, 0, sizeof(std::uint64_t) << bits, stream);
  if (key_bytes == 4) {
    count_digits(static_cast<const std::uint32_t*>(keys), n, begin_bit, bits, counts, stream);
  } else {
    count_digits(static_cast<const std::uint64_t*>(keys), n, begin_bit, bits, counts, stream);
  }
}

std::size_t CudaPrimitives::histogram_scratch(std::uint64_t /*n*/, unsigned /*bits*/) const { return 0; }

}  // namespace sluice::kernels::cuda
