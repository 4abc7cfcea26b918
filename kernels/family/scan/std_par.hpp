// SPDX-License-Identifier: Apache-2.0
/// \file
/// The scans of the standard library with the policy `par_unseq`.
///
/// Nothing to write, and whatever the library does: GCC's runs on TBB, over twice the items.
#pragma once

#include <cstdint>
#include <execution>
#include <numeric>
#include <type_traits>

#include "kernels/family/operators.hpp"

namespace sluice::kernels::family::scan {

namespace detail {

/// A number that the library does not know for one.
template <typename T>
struct Hidden {
  T value;
};
template <typename T, typename OpT>
struct OnHidden {
  Hidden<T> operator()(Hidden<T> a, Hidden<T> b) const { return {OpT{}(a.value, b.value)}; }
};

template <typename T, typename CombineT>
void scan_std_par(const T* in, std::uint64_t n, bool inclusive, T* out, T identity, CombineT combine) {
  const auto policy = std::execution::par_unseq;
  if (inclusive) {
    std::inclusive_scan(policy, in, in + n, out, combine, identity);
  } else {
    std::exclusive_scan(policy, in, in + n, out, identity, combine);
  }
}

}  // namespace detail

/// Input and output do not overlap.
template <typename OpT, typename T>
void scan_std_par(const T* in, std::uint64_t n, bool inclusive, T* out) {
  const T identity = OpT::template identity<T>();
  if constexpr (std::is_floating_point_v<T> && !std::is_same_v<OpT, Sum>) {
    // Where it sees floats, GCC's library (as of 12) starts each part from zero, whatever the operator.
    using Item = detail::Hidden<T>;
    static_assert(sizeof(Item) == sizeof(T) && alignof(Item) == alignof(T));
    detail::scan_std_par(reinterpret_cast<const Item*>(in), n, inclusive, reinterpret_cast<Item*>(out), Item{identity},
                         detail::OnHidden<T, OpT>{});
  } else {
    detail::scan_std_par(in, n, inclusive, out, identity, OpT{});
  }
}

}  // namespace sluice::kernels::family::scan
