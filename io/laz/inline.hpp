// SPDX-License-Identifier: Apache-2.0
/// \file
/// How functions of the codec are marked.
#pragma once

#include "sluice/core/hd.hpp"

/// Before a function of the inner loop. Everything between the loop and the coder must be inlined, or the coder's state
/// would live in memory instead of registers.
#if defined(__CUDACC__)
#define SLUICE_LAZ_INLINE __host__ __device__ __forceinline__
#else
#define SLUICE_LAZ_INLINE inline __attribute__((always_inline))
#endif

/// Before a function that the inner loop calls seldom.
#if defined(__CUDACC__)
#define SLUICE_LAZ_COLD __host__ __device__ __noinline__
#else
#define SLUICE_LAZ_COLD __attribute__((noinline))
#endif
