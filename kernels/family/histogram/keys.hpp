// SPDX-License-Identifier: Apache-2.0
/// \file
/// The arguments of a histogram by type, for all its variants.
#pragma once

#include <cstdint>

#include "kernels/arguments.hpp"
#include "kernels/family/operators.hpp"
#include "sluice/core/hd.hpp"
#include "sluice/kernels/variant.hpp"

namespace sluice::kernels::family::histogram {

/// Some bits of a key.
struct DigitOf {
  unsigned begin_bit;
  unsigned bits;

  template <typename KeyT>
  SLUICE_HD std::uint32_t operator()(KeyT key) const {
    return static_cast<std::uint32_t>(key >> begin_bit) & (values() - 1);
  }
  [[nodiscard]] SLUICE_HD std::uint32_t values() const { return 1U << bits; }
};

/// Calls `run(keys, digit)` with what the call says. \throws InvalidArgument for too many items, keys of another type,
/// and a digit that is too wide or beyond the key
template <typename RunT>
void with_keys(const HistogramCall& call, const RunT& run) {
  constexpr unsigned kMostBits = 12;
  check_count(call.n);
  check_digit(size_of(call.type), call.begin_bit, call.bits);
  if (call.bits > kMostBits) throw InvalidArgument("a histogram is of at most 12 bits");
  with_key_type(call.type, [&]<typename KeyT>() {
    run(static_cast<const KeyT*>(call.in), DigitOf{call.begin_bit, call.bits});
  });
}

}  // namespace sluice::kernels::family::histogram
