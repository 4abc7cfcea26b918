// SPDX-License-Identifier: Apache-2.0
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cub/device/device_select.cuh>

#include "kernels/cuda/bodies/compact.hpp"
#include "kernels/cuda/detail/arguments.hpp"
#include "kernels/cuda/primitives.hpp"
#include "kernels/cuda/thrust/call.hpp"
#include "kernels/cuda/thrust/primitives.hpp"

namespace sluice::kernels::cuda {

namespace {

template <typename ItemsT, typename OutT>
auto select_call(ItemsT items, const std::uint8_t* flags, FlagTest test, std::uint64_t n, OutT* out,
                 std::uint64_t* count, StreamView stream) {
  return [=](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::Flagged(scratch, bytes, items, thrust::make_transform_iterator(flags, test), out, count,
                                      static_cast<std::int64_t>(n), handle_of(stream));
  };
}

template <typename ItemT>
std::size_t scratch_of(std::uint64_t n) {
  return cub_scratch(select_call(static_cast<const ItemT*>(nullptr), nullptr, FlagTest{}, n,
                                 static_cast<ItemT*>(nullptr), nullptr, StreamView(nullptr)));
}

}  // namespace

void ThrustPrimitives::compact_where(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags,
                                     FlagTest test, std::uint64_t n, void* out, std::uint64_t* count,
                                     Workspace& workspace, StreamView stream) {
  check_count(n);
  check_item_bytes(item_bytes);
  check_aligned(items, item_bytes, "items");
  check_aligned(out, item_bytes, "the output");
  const ScopedDevice current(device());
  if (n == 0) return fill(count, 0, sizeof *count, stream);
  const auto of = [&]<typename ItemT>(ItemT) {
    cub_run(select_call(static_cast<const ItemT*>(items), flags, test, n, static_cast<ItemT*>(out), count, stream),
            workspace);
  };
  switch (item_bytes) {
    case 4:
      return of(std::uint32_t{});
    case 8:
      return of(std::uint64_t{});
    case 16:
      return of(bodies::Item16{});
    default:
      return of(bodies::Item32{});
  }
}

void ThrustPrimitives::indices_where(const std::uint8_t* flags, FlagTest test, std::uint64_t n, std::uint32_t* out,
                                     std::uint64_t* count, Workspace& workspace, StreamView stream) {
  check_count(n);
  const ScopedDevice current(device());
  if (n == 0) return fill(count, 0, sizeof *count, stream);
  cub_run(select_call(thrust::counting_iterator<std::uint32_t>(0), flags, test, n, out, count, stream), workspace);
}

void ThrustPrimitives::partition(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags,
                                 std::uint64_t n, void* out, std::uint64_t* count, Workspace& workspace,
                                 StreamView stream) {
  const ScopedDevice current(device());
  partition_flagged(items, item_bytes, flags, n, out, count, workspace, stream);
}

std::size_t ThrustPrimitives::compact_scratch(std::uint64_t n) const {
  const ScopedDevice current(device());
  return std::max({scratch_of<std::uint32_t>(n), scratch_of<std::uint64_t>(n), scratch_of<bodies::Item16>(n),
                   scratch_of<bodies::Item32>(n), partition_flagged_scratch(n)});
}

}  // namespace sluice::kernels::cuda
