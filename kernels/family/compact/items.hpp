// SPDX-License-Identifier: Apache-2.0
/// \file
/// The arguments of a compaction by type, for all its variants. Their templates take any predicate in place of `Below`.
#pragma once

#include <cstdint>

#include "kernels/arguments.hpp"
#include "kernels/family/operators.hpp"
#include "sluice/core/hd.hpp"
#include "sluice/kernels/variant.hpp"

namespace sluice::kernels::family::compact {

template <typename T>
struct Below {
  T limit;

  SLUICE_HD bool operator()(T item) const { return item < limit; }
};

/// Calls `run(in, keep, out)` with what the call says. \throws InvalidArgument for too many items
template <typename RunT>
void with_items(const CompactCall& call, const RunT& run) {
  check_count(call.n);
  with_type(call.type, [&]<typename T>() {
    run(static_cast<const T*>(call.in), Below<T>{static_cast<T>(call.limit)}, static_cast<T*>(call.out));
  });
}

}  // namespace sluice::kernels::family::compact
