// SPDX-License-Identifier: Apache-2.0
/// \file
/// The operators as CUB and Thrust know and tune them.
#pragma once

#include <cuda/functional>
#include <cuda/std/functional>

#include "kernels/family/operators.hpp"

namespace sluice::kernels::family {

template <typename OpT>
struct LibraryOperatorOf;
template <>
struct LibraryOperatorOf<Sum> {
  using Type = ::cuda::std::plus<>;
};
template <>
struct LibraryOperatorOf<Min> {
  using Type = ::cuda::minimum<>;
};
template <>
struct LibraryOperatorOf<Max> {
  using Type = ::cuda::maximum<>;
};
template <typename OpT>
using LibraryOperator = typename LibraryOperatorOf<OpT>::Type;

}  // namespace sluice::kernels::family
