// SPDX-License-Identifier: Apache-2.0
/// \file
/// From a field type to the C++ type.
#pragma once

#include <cstdint>
#include <utility>

#include "sluice/core/types.hpp"

namespace sluice::io::columns {

/// Calls `work` with a value of the C++ type that `type` means.
template <typename Work>
decltype(auto) with_type(FieldType type, Work&& work) {
  switch (type) {
    case FieldType::kInt8:
      return work(std::int8_t{});
    case FieldType::kUint8:
      return work(std::uint8_t{});
    case FieldType::kInt16:
      return work(std::int16_t{});
    case FieldType::kUint16:
      return work(std::uint16_t{});
    case FieldType::kInt32:
      return work(std::int32_t{});
    case FieldType::kUint32:
      return work(std::uint32_t{});
    case FieldType::kInt64:
      return work(std::int64_t{});
    case FieldType::kUint64:
      return work(std::uint64_t{});
    case FieldType::kFloat32:
      return work(float{});
    case FieldType::kFloat64:
      break;
  }
  return work(double{});
}

}  // namespace sluice::io::columns
