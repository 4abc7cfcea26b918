// SPDX-License-Identifier: Apache-2.0
/// \file
/// Scans that start anew at marked items, as one scan of pairs by an operator that knows of the marks (G. Blelloch,
/// "Prefix Sums and Their Applications", CMU-CS-90-190, 1.5). The operator is associative but does not commute.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "kernels/family/operators.hpp"

namespace sluice::examples {

/// An item and whether a segment starts with it; of several in a row, whether one starts among them, and the result for
/// the last of their segments.
template <typename T>
struct Marked {
  static_assert(sizeof(T) == 4, "lanes of a warp exchange 8 bytes");
  std::uint32_t starts;
  T value;
};

/// `OpT` within segments.
template <typename OpT>
struct Segmented {
  template <typename PairT>
  [[nodiscard]] SLUICE_SIMT static constexpr PairT identity() {
    return {0, OpT::template identity<decltype(PairT::value)>()};
  }
  template <typename T>
  [[nodiscard]] SLUICE_SIMT constexpr Marked<T> operator()(Marked<T> a, Marked<T> b) const {
    return {a.starts | b.starts, b.starts != 0 ? b.value : OpT{}(a.value, b.value)};
  }
};

/// Running results of `OpT` that start anew with each item whose mark is set.
/// \param scan  as `HostScan`
template <typename OpT, typename T, typename ScanT>
std::vector<T> segmented_scan(const std::vector<T>& values, const std::vector<bool>& starts, const ScanT& scan) {
  if (values.size() != starts.size()) throw std::invalid_argument("a mark for each value");
  std::vector<Marked<T>> pairs(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) pairs[i] = {starts[i] ? 1U : 0U, values[i]};
  const std::vector<Marked<T>> scanned = scan(Segmented<OpT>{}, pairs);
  std::vector<T> out(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) out[i] = scanned[i].value;
  return out;
}

}  // namespace sluice::examples
