// SPDX-License-Identifier: Apache-2.0
/// \file
/// `cub::DeviceScan`: a single pass with look-back, tuned for each architecture and type. The yardstick.
#include <algorithm>
#include <cub/device/device_scan.cuh>

#include "kernels/cuda/thrust/call.hpp"
#include "kernels/family/items.hpp"
#include "kernels/family/library_operators.cuh"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::scan {

namespace {

template <typename T, typename OpT>
auto scan_call(const T* in, std::uint64_t n, bool inclusive, T* out, StreamView stream) {
  return [=](void* scratch, std::size_t& bytes) {
    const auto handle = static_cast<cudaStream_t>(stream.handle());
    const auto count = static_cast<std::uint32_t>(n);
    const LibraryOperator<OpT> op;
    if (inclusive) return ::cub::DeviceScan::InclusiveScan(scratch, bytes, in, out, op, count, handle);
    const T identity = OpT::template identity<T>();
    return ::cub::DeviceScan::ExclusiveScan(scratch, bytes, in, out, op, identity, count, handle);
  };
}

template <typename T>
std::size_t scratch_of(std::uint64_t n) {
  std::size_t bytes = Workspace::bytes_for<std::byte>(1);
  for (const Operator one : {Operator::kSum, Operator::kMin, Operator::kMax}) {
    with_operator(one, [&]<typename OpT>() {
      for (const bool inclusive : {true, false}) {
        const auto call = scan_call<T, OpT>(nullptr, n, inclusive, nullptr, StreamView(nullptr));
        bytes = std::max(bytes, cuda::cub_scratch(call));
      }
    });
  }
  return bytes;
}

}  // namespace

ScanVariant cub() {
  return {
      {"cub", "cub::DeviceScan", true},
      [](ItemType type, std::uint64_t n) { return with_type(type, [&]<typename T>() { return scratch_of<T>(n); }); },
      [](const ScanCall& call, Workspace& workspace, StreamView stream) {
        if (call.n == 0) return;
        with_items(call, [&]<typename T, typename OpT>(const T* in, OpT, T* out) {
          cuda::cub_run(scan_call<T, OpT>(in, call.n, call.inclusive, out, stream), workspace);
        });
      }};
}

}  // namespace sluice::kernels::family::scan
