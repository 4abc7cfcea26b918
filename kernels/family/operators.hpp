// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of scans and reductions, and the choice of template arguments for what a call asks at run time.
///
/// An operator is associative, has `identity<T>()`, and need not commute unless an algorithm says so. A type of one's
/// own is trivially copyable and has 4 or 8 bytes, which is what the lanes of a warp exchange.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/simt/words.hpp"
#include "sluice/core/error.hpp"
#include "sluice/kernels/variant.hpp"

namespace sluice::kernels::family {

struct Sum {
  template <typename T>
  [[nodiscard]] SLUICE_SIMT static constexpr T identity() {
    return T{0};
  }
  template <typename T>
  [[nodiscard]] SLUICE_SIMT constexpr T operator()(T a, T b) const {
    return a + b;
  }
};
struct Min {
  template <typename T>
  [[nodiscard]] SLUICE_SIMT static constexpr T identity() {
    if constexpr (std::numeric_limits<T>::has_infinity) return std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::max();
  }
  template <typename T>
  [[nodiscard]] SLUICE_SIMT constexpr T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Max {
  template <typename T>
  [[nodiscard]] SLUICE_SIMT static constexpr T identity() {
    if constexpr (std::numeric_limits<T>::has_infinity) return -std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::lowest();
  }
  template <typename T>
  [[nodiscard]] SLUICE_SIMT constexpr T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

/// Calls `work` with a template argument, the C++ type of `type`.
template <typename WorkT>
decltype(auto) with_type(ItemType type, WorkT&& work) {
  switch (type) {
    case ItemType::kUint32:
      return work.template operator()<std::uint32_t>();
    case ItemType::kUint64:
      return work.template operator()<std::uint64_t>();
    case ItemType::kFloat32:
      return work.template operator()<float>();
    case ItemType::kFloat64:
      return work.template operator()<double>();
  }
  throw InvalidArgument("no such type of items");
}

/// Likewise with those that can be keys.
template <typename WorkT>
decltype(auto) with_key_type(ItemType type, WorkT&& work) {
  if (type == ItemType::kUint32) return work.template operator()<std::uint32_t>();
  if (type == ItemType::kUint64) return work.template operator()<std::uint64_t>();
  throw InvalidArgument("keys are unsigned integers");
}

/// Likewise with an operator.
template <typename WorkT>
decltype(auto) with_operator(Operator op, WorkT&& work) {
  switch (op) {
    case Operator::kSum:
      return work.template operator()<Sum>();
    case Operator::kMin:
      return work.template operator()<Min>();
    case Operator::kMax:
      return work.template operator()<Max>();
  }
  throw InvalidArgument("no such operator");
}

}  // namespace sluice::kernels::family
