// SPDX-License-Identifier: Apache-2.0
/// \file
/// The arguments of a scan or a reduction by type and operator, for all variants.
#pragma once

#include "kernels/arguments.hpp"
#include "kernels/family/operators.hpp"
#include "sluice/kernels/variant.hpp"

namespace sluice::kernels::family {

/// Calls `run(in, op, out)` with what the call, a `ScanCall` or a `ReduceCall`, says.
/// \throws InvalidArgument for too many items
template <typename CallT, typename RunT>
void with_items(const CallT& call, const RunT& run) {
  check_count(call.n);
  with_type(call.type, [&]<typename T>() {
    with_operator(call.op,
                  [&]<typename OpT>() { run(static_cast<const T*>(call.in), OpT{}, static_cast<T*>(call.out)); });
  });
}

}  // namespace sluice::kernels::family
