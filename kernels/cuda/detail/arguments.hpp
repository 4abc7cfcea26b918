// SPDX-License-Identifier: Apache-2.0
/// \file
/// Checks of arguments that only a device makes.
#pragma once

#include <cstddef>
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

inline void check_positions(const PointInput& input) {
  if (input.count == 0) return;
  const Positions& positions = input.positions;
  if (positions.is_packed()) return check_aligned(positions.x, 16, "packed positions");
  if (!positions.is_columns()) {
    throw InvalidArgument("a device wants positions as packed records or as columns with nothing between two values");
  }
  for (const std::byte* column : {positions.x, positions.y, positions.z}) {
    check_aligned(column, positions.coordinate_bytes(), "columns of positions");
  }
}

/// What devices ask of the outputs of `select`, beside what every backend does.
inline void check_outputs(const PointInput& input, const SelectOutputs& outputs) {
  check_aligned(outputs.records, 16, "records");
  for (const void* column : outputs.coordinates) {
    check_aligned(column, input.positions.coordinate_bytes(), "columns of coordinates");
  }
}

}  // namespace sluice::kernels::cuda
