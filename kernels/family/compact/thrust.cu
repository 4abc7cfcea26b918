// SPDX-License-Identifier: Apache-2.0
/// \file
/// `thrust::copy_if`, which does as CUB does; but as it returns the end of the output, it waits for the device.
#include <thrust/copy.h>

#include <algorithm>
#include <cub/device/device_select.cuh>

#include "kernels/cuda/thrust/call.hpp"
#include "kernels/family/compact/items.hpp"
#include "kernels/family/thrust_memory.cuh"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::compact {

namespace {

template <typename T, typename KeepT>
void compact(const T* in, std::uint64_t n, KeepT keep, T* out, std::uint64_t* count, Workspace& workspace,
             StreamView stream) {
  std::uint64_t kept = 0;
  with_thrust(workspace, stream, [&](const auto& policy) {
    kept = static_cast<std::uint64_t>(thrust::copy_if(policy, in, in + n, out, keep) - out);
  });
  // From memory that is not page-locked: it is read before the call returns.
  SLUICE_CUDA_CHECK(cudaMemcpyAsync(count, &kept, sizeof kept, cudaMemcpyHostToDevice, cuda::handle_of(stream)));
}

template <typename T>
std::size_t scratch(std::uint64_t n) {
  return kThrustExtra + cuda::cub_scratch([=](void* memory, std::size_t& bytes) {
           const T* const in = nullptr;
           return cub::DeviceSelect::If(memory, bytes, in, static_cast<T*>(nullptr),
                                        static_cast<std::uint64_t*>(nullptr), static_cast<std::int64_t>(n), Below<T>{});
         });
}

}  // namespace

CompactVariant thrust() {
  return {{"thrust", "thrust::copy_if", true},
          [](ItemType type, std::uint64_t n) { return with_type(type, [&]<typename T>() { return scratch<T>(n); }); },
          [](const CompactCall& call, Workspace& workspace, StreamView stream) {
            with_items(call, [&](const auto* in, auto keep, auto* out) {
              compact(in, call.n, keep, out, call.count, workspace, stream);
            });
          }};
}

}  // namespace sluice::kernels::family::compact
