// SPDX-License-Identifier: Apache-2.0
/// \file
/// Marks functions that the host compiler and nvcc both build from one body.
#pragma once

#if defined(__CUDACC__)
#define SLUICE_HD __host__ __device__ inline
#else
#define SLUICE_HD inline
#endif

namespace sluice {

/// Signed and unsigned 128-bit integers, which GCC, Clang and nvcc provide as an extension. Exact cell arithmetic and
/// polygon tests need products of two 64-bit numbers.
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

}  // namespace sluice
