// SPDX-License-Identifier: Apache-2.0
/// \file
/// The arguments of a sort by type, for all its variants.
#pragma once

#include <cstdint>

#include "kernels/arguments.hpp"
#include "kernels/family/operators.hpp"
#include "sluice/kernels/variant.hpp"

namespace sluice::kernels::family::sort {

/// What a pass reads, and what it writes.
template <typename KeyT>
struct Buffers {
  KeyT* keys[2];
  std::uint32_t* values[2];  ///< null for keys alone

  [[nodiscard]] bool has_values() const { return values[0] != nullptr; }
  [[nodiscard]] Buffers swapped() const { return {{keys[1], keys[0]}, {values[1], values[0]}}; }
};

/// Calls `run(buffers)` and hands on what it returns. \throws InvalidArgument for too many items, and keys of another
/// type
template <typename RunT>
int with_buffers(const SortCall& call, const RunT& run) {
  check_count(call.n);
  return with_key_type(call.type, [&]<typename KeyT>() -> int {
    return run(Buffers<KeyT>{{static_cast<KeyT*>(call.keys[0]), static_cast<KeyT*>(call.keys[1])},
                             {call.values[0], call.values[1]}});
  });
}

}  // namespace sluice::kernels::family::sort
