// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the emulated device is made and how it schedules.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice::simt::emulated {

/// Whether code with kernels is built so that its plain accesses are seen.
#if defined(SLUICE_SIMT_INSTRUMENTED)
inline constexpr bool kInstrumented = true;
#else
inline constexpr bool kInstrumented = false;
#endif

struct Settings {
  std::uint64_t seed = 1;         ///< decides every choice of the scheduler; equal seeds, equal schedules
  unsigned multiprocessors = 2;   ///< what the device says it has
  unsigned blocks_in_flight = 4;  ///< most that run at a time, 1 to 8; each launch has some number up to it
  std::size_t shared_per_block = std::size_t{227} << 10;
  bool delays = true;  ///< blocks may stand still for long, as soon as they have touched an atomic in global memory
  bool checks = kInstrumented;  ///< hazards of memory are looked for; without it a launch is several times as fast
};

/// Most blocks in flight.
inline constexpr unsigned kMostInFlight = 8;
/// Most threads of a block.
inline constexpr unsigned kMostThreads = 1024;
/// Widest warp.
inline constexpr unsigned kMostLanes = 128;
/// Room for the shared memory of a block, with a margin behind it.
inline constexpr std::size_t kSharedStride = std::size_t{256} << 10;

}  // namespace sluice::simt::emulated
