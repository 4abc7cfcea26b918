// SPDX-License-Identifier: Apache-2.0
#include <thrust/iterator/counting_iterator.h>

#include <algorithm>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/std/functional>

#include "kernels/cuda/detail/arguments.hpp"
#include "kernels/cuda/thrust/call.hpp"
#include "kernels/cuda/thrust/primitives.hpp"

namespace sluice::kernels::cuda {

namespace {

/// Unique by key over item numbers: the number that stays with a key is its run's first.
template <typename KeyT>
auto runs_call(const KeyT* keys, std::uint64_t n, std::uint64_t* run_keys, std::uint32_t* run_first,
               std::uint64_t* runs, StreamView stream) {
  return [=](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::UniqueByKey(scratch, bytes, keys, thrust::counting_iterator<std::uint32_t>(0), run_keys,
                                          run_first, runs, static_cast<std::int64_t>(n), handle_of(stream));
  };
}

template <typename KeyT>
auto reduce_call(const KeyT* keys, const std::int64_t* values, std::uint64_t n, std::uint64_t* run_keys,
                 std::int64_t* sums, std::uint64_t* runs, StreamView stream) {
  return [=](void* scratch, std::size_t& bytes) {
    // Unsigned sums wrap without being undefined.
    return cub::DeviceReduce::ReduceByKey(scratch, bytes, keys, run_keys,
                                          reinterpret_cast<const std::uint64_t*>(values),
                                          reinterpret_cast<std::uint64_t*>(sums), runs, ::cuda::std::plus<>{},
                                          static_cast<std::int64_t>(n), handle_of(stream));
  };
}

const std::uint32_t* const kKeys4 = nullptr;
const std::uint64_t* const kKeys8 = nullptr;

}  // namespace

void ThrustPrimitives::find_runs(const void* keys, std::uint32_t key_bytes, std::uint64_t n, std::uint64_t* run_keys,
                                 std::uint32_t* run_first, std::uint64_t* runs, Workspace& workspace,
                                 StreamView stream) {
  check_count(n);
  check_key_bytes(key_bytes);
  const ScopedDevice current(device());
  if (n == 0) return fill(runs, 0, sizeof *runs, stream);
  if (key_bytes == 4) {
    cub_run(runs_call(static_cast<const std::uint32_t*>(keys), n, run_keys, run_first, runs, stream), workspace);
  } else {
    cub_run(runs_call(static_cast<const std::uint64_t*>(keys), n, run_keys, run_first, runs, stream), workspace);
  }
}

std::size_t ThrustPrimitives::find_runs_scratch(std::uint64_t n) const {
  const ScopedDevice current(device());
  const StreamView stream(nullptr);
  return std::max(cub_scratch(runs_call(kKeys4, n, nullptr, nullptr, nullptr, stream)),
                  cub_scratch(runs_call(kKeys8, n, nullptr, nullptr, nullptr, stream)));
}

void ThrustPrimitives::reduce_by_key(const void* keys, std::uint32_t key_bytes, const std::int64_t* values,
                                     std::uint64_t n, std::uint64_t* run_keys, std::int64_t* sums, std::uint64_t* runs,
                                     Workspace& workspace, StreamView stream) {
  check_count(n);
  check_key_bytes(key_bytes);
  const ScopedDevice current(device());
  if (n == 0) return fill(runs, 0, sizeof *runs, stream);
  if (key_bytes == 4) {
    cub_run(reduce_call(static_cast<const std::uint32_t*>(keys), values, n, run_keys, sums, runs, stream), workspace);
  } else {
    cub_run(reduce_call(static_cast<const std::uint64_t*>(keys), values, n, run_keys, sums, runs, stream), workspace);
  }
}

std::size_t ThrustPrimitives::reduce_by_key_scratch(std::uint64_t n) const {
  const ScopedDevice current(device());
  const StreamView stream(nullptr);
  return std::max(cub_scratch(reduce_call(kKeys4, nullptr, n, nullptr, nullptr, nullptr, stream)),
                  cub_scratch(reduce_call(kKeys8, nullptr, n, nullptr, nullptr, nullptr, stream)));
}

}  // namespace sluice::kernels::cuda
