// SPDX-License-Identifier: Apache-2.0
/// \file
/// `simt::launch` for the compiler at hand.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#include "kernels/simt/cuda/launch.cuh"
#elif defined(SLUICE_SIMT_EMULATED)
#include "kernels/simt/emulated/launch.hpp"
#else
#error "kernels are launched from sources that nvcc builds, or that are built for the emulator"
#endif

namespace sluice::simt {

/// Blocks that cover `items` when each takes `per_block`.
constexpr std::uint64_t blocks_for(std::uint64_t items, std::uint64_t per_block) {
  return items / per_block + (items % per_block != 0 ? 1 : 0);
}

}  // namespace sluice::simt
