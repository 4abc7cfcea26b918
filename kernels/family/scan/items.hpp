// SPDX-License-Identifier: Apache-2.0
/// \file
/// The arguments of a scan by type and operator, for all its variants.
#pragma once

#include "kernels/arguments.hpp"
#include "kernels/family/operators.hpp"
#include "sluice/kernels/variant.hpp"

namespace sluice::kernels::family::scan {

/// Calls `run(in, op, out)` with what the call says. \throws InvalidArgument for too many items
template <typename RunT>
void with_items(const ScanCall& call, const RunT& run) {
  check_count(call.n);
  with_type(call.type, [&]<typename T>() {
    with_operator(call.op,
                  [&]<typename OpT>() { run(static_cast<const T*>(call.in), OpT{}, static_cast<T*>(call.out)); });
  });
}

}  // namespace sluice::kernels::family::scan
