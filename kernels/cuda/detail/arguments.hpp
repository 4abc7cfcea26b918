// SPDX-License-Identifier: Apache-2.0
/// \file
/// Checks of arguments that only a device makes.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/arguments.hpp"
#include "sluice/core/error.hpp"
#include "sluice/core/types.hpp"
#include "sluice/kernels/operations.hpp"

namespace sluice::kernels::cuda {

/// Kernels move items in words of up to 16 bytes, which fault where they are not aligned.
inline void check_aligned(const void* at, std::uint32_t item_bytes, const char* what) {
  const std::uint32_t alignment = item_bytes < 16 ? item_bytes : 16;
  if (reinterpret_cast<std::uintptr_t>(at) % alignment != 0) {
    throw InvalidArgument(std::string(what) + " must be aligned to " + std::to_string(alignment) + " bytes");
  }
}

inline void check_packed(const PointInput& input) {
  if (input.count == 0) return;
  if (!input.positions.is_packed()) throw InvalidArgument("a device wants packed positions");
  check_aligned(input.positions.x, 16, "packed positions");
}

}  // namespace sluice::kernels::cuda
