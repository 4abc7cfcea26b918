// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>

#include "kernels/cuda/detail/arguments.hpp"
#include "kernels/cuda/thrust/call.hpp"
#include "kernels/cuda/thrust/primitives.hpp"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::cuda {

namespace {

/// \tparam OutT  what sums are kept in; they may wrap
template <typename OutT>
auto scan_call(const std::uint32_t* in, std::uint64_t n, OutT* out, StreamView stream) {
  return [=](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveScan(scratch, bytes, in, out, ::cuda::std::plus<>{}, OutT{0},
                                          static_cast<std::uint32_t>(n), handle_of(stream));
  };
}

/// The sum of all in 64 bits.
auto sum_call(const std::uint32_t* in, std::uint64_t n, std::uint64_t* total, StreamView stream) {
  return [=](void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::Reduce(scratch, bytes, in, total, static_cast<std::uint32_t>(n), ::cuda::std::plus<>{},
                                     std::uint64_t{0}, handle_of(stream));
  };
}

/// The sum of all from the last offset.
struct AddLast {
  static constexpr unsigned kThreads = 128;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const std::uint32_t* last;
  const std::uint64_t* offset;
  std::uint64_t* total;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    if (simt.thread() == 0) *total = *offset + *last;
  }
};

}  // namespace

void ThrustPrimitives::exclusive_scan(const std::uint32_t* in, std::uint64_t n, std::uint64_t* out,
                                      std::uint64_t* total, Workspace& workspace, StreamView stream) {
  check_count(n);
  const ScopedDevice current(device());
  if (n == 0) {
    if (total != nullptr) fill(total, 0, sizeof *total, stream);
    return;
  }
  cub_run(scan_call(in, n, out, stream), workspace);
  if (total != nullptr) simt::launch(AddLast{in + n - 1, out + n - 1, total}, 1, stream);
}

std::size_t ThrustPrimitives::exclusive_scan_scratch(std::uint64_t n) const {
  const ScopedDevice current(device());
  const StreamView stream(nullptr);
  return std::max({cub_scratch(scan_call(nullptr, n, static_cast<std::uint64_t*>(nullptr), stream)),
                   cub_scratch(scan_call(nullptr, n, static_cast<std::uint32_t*>(nullptr), stream)),
                   cub_scratch(sum_call(nullptr, n, nullptr, stream))});
}

void ThrustPrimitives::exclusive_scan_wrapping(const std::uint32_t* in, std::uint64_t n, std::uint32_t* out,
                                               std::uint64_t* total, Workspace& workspace, StreamView stream) {
  check_count(n);
  const ScopedDevice current(device());
  if (n == 0) {
    if (total != nullptr) fill(total, 0, sizeof *total, stream);
    return;
  }
  cub_run(scan_call(in, n, out, stream), workspace);
  // Offsets that wrapped do not tell the sum.
  if (total != nullptr) cub_run(sum_call(in, n, total, stream), workspace);
}

std::unique_ptr<DevicePrimitives> make_thrust_primitives(int device) {
  return std::make_unique<ThrustPrimitives>(device);
}

}  // namespace sluice::kernels::cuda
