// SPDX-License-Identifier: Apache-2.0
/// \file
/// The tree of `blelloch` with item i at place i + i / 32 of shared memory.
///
/// Nodes that lie a multiple of 32 places apart would be in the same one of the 32 banks, which serves one of them at a
/// time; one free place after every 32 spreads them. Nothing else changes. Idle threads and a barrier for each level
/// remain: `warp-shuffle` does without most of both.
///
/// M. Harris, S. Sengupta, J. D. Owens, "Parallel Prefix Sum (Scan) with CUDA", GPU Gems 3, chapter 39, 2007.
#pragma once

#include "kernels/family/scan/blelloch.cuh"

namespace sluice::kernels::family::scan {

template <typename T, typename OpT>
using BlellochPadded = BlellochTree<T, OpT, 32>;

}  // namespace sluice::kernels::family::scan
