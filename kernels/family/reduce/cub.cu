// SPDX-License-Identifier: Apache-2.0
/// \file
/// `cub::DeviceReduce`: results of blocks in one launch, those of all in a second. The yardstick.
#include <algorithm>
#include <cub/device/device_reduce.cuh>

#include "kernels/cuda/thrust/call.hpp"
#include "kernels/family/items.hpp"
#include "kernels/family/library_operators.cuh"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::reduce {

namespace {

template <typename T, typename OpT>
auto reduce_call(const T* in, std::uint64_t n, T* out, StreamView stream) {
  return [=](void* scratch, std::size_t& bytes) {
    return ::cub::DeviceReduce::Reduce(scratch, bytes, in, out, static_cast<std::uint32_t>(n), LibraryOperator<OpT>{},
                                       OpT::template identity<T>(), static_cast<cudaStream_t>(stream.handle()));
  };
}

template <typename T>
std::size_t scratch_of(std::uint64_t n) {
  std::size_t bytes = Workspace::bytes_for<std::byte>(1);
  for (const Operator one : {Operator::kSum, Operator::kMin, Operator::kMax}) {
    with_operator(one, [&]<typename OpT>() {
      bytes = std::max(bytes, cuda::cub_scratch(reduce_call<T, OpT>(nullptr, n, nullptr, StreamView(nullptr))));
    });
  }
  return bytes;
}

}  // namespace

ReduceVariant cub() {
  return {
      {"cub", "cub::DeviceReduce", true},
      [](ItemType type, std::uint64_t n) { return with_type(type, [&]<typename T>() { return scratch_of<T>(n); }); },
      [](const ReduceCall& call, Workspace& workspace, StreamView stream) {
        with_items(call, [&]<typename T, typename OpT>(const T* in, OpT, T* out) {
          cuda::cub_run(reduce_call<T, OpT>(in, call.n, out, stream), workspace);
        });
      }};
}

}  // namespace sluice::kernels::family::reduce
