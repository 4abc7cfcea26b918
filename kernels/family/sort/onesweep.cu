// SPDX-License-Identifier: Apache-2.0
/// \file
/// The engine's own sort: a pass reads its keys once (A. Adinets, D. Merrill, "Onesweep: A Faster Least Significant
/// Digit Radix Sort for GPUs", arXiv 2206.01784). Two things of the three-kernel sort fall away:
///
/// - The histogram kernel of each pass: how often each digit of each pass occurs does not depend on the order of the
///   keys, so one look before the first pass counts the digits of all passes.
/// - The scan: a tile counts its own digits when it has its keys, and learns by look-back, for each digit, how many the
///   tiles before it have, while they are still at work.
///
/// The keys of a tile are put into the order of their digits in shared memory first, so that they leave it in runs.
/// With digits of up to nine bits, keys of 32 bits are read five times and written four times. The kernels are
/// kernels/cuda/bodies/count_digits.hpp and radix_pass.hpp.
#include "kernels/cuda/detail/device.hpp"
#include "kernels/cuda/detail/device_primitives.hpp"
#include "kernels/family/sort/buffers.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::sort {

namespace {

auto primitives_of_device() {
  int device = 0;
  SLUICE_CUDA_CHECK(cudaGetDevice(&device));
  return cuda::make_cuda_primitives(device);
}

}  // namespace

SortVariant onesweep() {
  return {{"onesweep", "all digits counted at once, then a single look at the keys a pass", true},
          [](ItemType type, std::uint64_t n) { return primitives_of_device()->sort_scratch(size_of(type), n); },
          [](const SortCall& call, Workspace& workspace, StreamView stream) {
            return with_buffers(call, [&]<typename KeyT>(const Buffers<KeyT>& buffers) {
              const SortBuffers arguments{{buffers.keys[0], buffers.keys[1]}, {buffers.values[0], buffers.values[1]}};
              return primitives_of_device()->sort(arguments, sizeof(KeyT), call.n, 0, 8 * sizeof(KeyT), workspace,
                                                  stream);
            });
          }};
}

}  // namespace sluice::kernels::family::sort
