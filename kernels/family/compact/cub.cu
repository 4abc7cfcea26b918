// SPDX-License-Identifier: Apache-2.0
/// \file
/// `cub::DeviceSelect::If`: a single pass with look-back, tuned for each architecture.
#include <algorithm>
#include <cub/device/device_select.cuh>

#include "kernels/cuda/thrust/call.hpp"
#include "kernels/family/compact/items.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::compact {

namespace {

template <typename T, typename KeepT>
auto select_call(const T* in, std::uint64_t n, KeepT keep, T* out, std::uint64_t* count, StreamView stream) {
  return [=](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::If(scratch, bytes, in, out, count, static_cast<std::int64_t>(n), keep,
                                 cuda::handle_of(stream));
  };
}

}  // namespace

CompactVariant cub() {
  return {{"cub", "cub::DeviceSelect::If", true},
          [](ItemType type, std::uint64_t n) {
            return with_type(type, [&]<typename T>() {
              const T* const none = nullptr;
              return cuda::cub_scratch(
                  select_call(none, n, Below<T>{}, static_cast<T*>(nullptr), nullptr, StreamView(nullptr)));
            });
          },
          [](const CompactCall& call, Workspace& workspace, StreamView stream) {
            if (call.n == 0) return cuda::fill(call.count, 0, sizeof *call.count, stream);
            with_items(call, [&](const auto* in, auto keep, auto* out) {
              cuda::cub_run(select_call(in, call.n, keep, out, call.count, stream), workspace);
            });
          }};
}

}  // namespace sluice::kernels::family::compact
