// SPDX-License-Identifier: Apache-2.0
/// \file
/// Launches of kernel bodies on the emulated device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/simt/emulated/context.hpp"
#include "kernels/simt/emulated/device.hpp"
#include "kernels/simt/emulated/names.hpp"
#include "sluice/core/error.hpp"
#include "sluice/kernels/stream.hpp"

#ifndef SLUICE_SIMT_WARP_WIDTH
#define SLUICE_SIMT_WARP_WIDTH 32
#endif

namespace sluice::simt {

namespace detail {

/// What one thread does.
template <typename KernelT, unsigned kWidth = SLUICE_SIMT_WARP_WIDTH>
void entry(const void* kernel, void* shared) {
  emulated::Context<kWidth> simt(emulated::Device::get().machine());
  (*static_cast<const KernelT*>(kernel))(simt, *static_cast<typename KernelT::template Shared<kWidth>*>(shared));
}

}  // namespace detail

namespace emulated {

/// Runs `blocks` blocks at once; reports are thrown or collected. \see Device
template <unsigned kWidth, typename KernelT>
void run(const KernelT& kernel, std::uint64_t blocks) {
  using Shared = typename KernelT::template Shared<kWidth>;
  Job job;
  job.name = type_name<KernelT>();
  job.kernel = &kernel;
  job.kernel_bytes = sizeof kernel;
  job.body = simt::detail::entry<KernelT, kWidth>;
  job.shared_bytes = std::is_empty_v<Shared> ? 0 : sizeof(Shared);
  job.threads = KernelT::kThreads;
  job.warp_width = kWidth;
  job.blocks = static_cast<std::uint32_t>(blocks);
  job.shared_name = [](std::size_t offset) {
    std::string path;
    const Device& device = Device::get();
    add_path(path, *reinterpret_cast<const Shared*>(device.shared().data()), offset);
    return path;
  };
  job.pointers = [](const void* at) {
    std::vector<PointerName> out;
    add_pointers(out, "", *static_cast<const KernelT*>(at));
    return out;
  };
  Device::get().run(job);
}

}  // namespace emulated

/// As on a device, but that a launch is done when it returns; while a graph is captured it is put off to the replays.
/// \throws InvalidArgument for more than 2^20 blocks; DeviceError for the first hazard that was found
template <typename KernelT>
void launch(const KernelT& kernel, std::uint64_t blocks, kernels::StreamView stream) {
  static_assert(std::is_trivially_copyable_v<KernelT> && sizeof(KernelT) <= 4096, "it travels as parameters");
  if (blocks == 0) return;
  if (blocks > (std::uint64_t{1} << 20)) throw InvalidArgument("an emulated launch of more than 2^20 blocks");
  static_cast<cudaStream_t>(stream.handle())->enqueue([kernel, blocks] {
    emulated::run<SLUICE_SIMT_WARP_WIDTH>(kernel, blocks);
  });
}

}  // namespace sluice::simt
