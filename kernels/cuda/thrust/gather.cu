// SPDX-License-Identifier: Apache-2.0
#include <thrust/gather.h>
#include <thrust/system/cuda/execution_policy.h>

#include "kernels/cuda/bodies/compact.hpp"
#include "kernels/cuda/detail/arguments.hpp"
#include "kernels/cuda/detail/device.hpp"
#include "kernels/cuda/primitives.hpp"
#include "kernels/cuda/thrust/primitives.hpp"

namespace sluice::kernels::cuda {

void ThrustPrimitives::gather(const void* items, std::uint32_t item_bytes, const std::uint32_t* indices,
                              std::uint64_t n, void* out, StreamView stream) {
  check_count(n);
  check_gather_bytes(item_bytes);
  if (n == 0) return;
  const ScopedDevice current(device());
  const auto as = [&]<typename ItemT>(ItemT) {
    thrust::gather(thrust::cuda::par_nosync.on(handle_of(stream)), indices, indices + n,
                   static_cast<const ItemT*>(items), static_cast<ItemT*>(out));
    SLUICE_CUDA_CHECK(cudaGetLastError());
  };
  const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(items) | reinterpret_cast<std::uintptr_t>(out);
  if (item_bytes == 4 && bits % 4 == 0) {
    as(std::uint32_t{});
  } else if (item_bytes == 8 && bits % 8 == 0) {
    as(std::uint64_t{});
  } else if (item_bytes == 16 && bits % 16 == 0) {
    as(bodies::Item16{});
  } else {
    gather_items(items, item_bytes, indices, n, out, stream);
  }
}

}  // namespace sluice::kernels::cuda
