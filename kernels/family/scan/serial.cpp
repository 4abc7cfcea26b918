// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/items.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::scan {

namespace {

template <typename T, typename OpT>
void run(const T* in, std::uint64_t n, bool inclusive, OpT op, T* out) {
  T sum = OpT::template identity<T>();
  for (std::uint64_t i = 0; i < n; ++i) {
    const T before = sum;
    sum = op(sum, in[i]);
    out[i] = inclusive ? sum : before;
  }
}

}  // namespace

ScanVariant serial() {
  return {{"serial", "one loop"},
          [](ItemType, std::uint64_t) { return std::size_t{0}; },
          [](const ScanCall& call, Workspace&, StreamView) {
            with_items(call, [&](const auto* in, auto op, auto* out) { run(in, call.n, call.inclusive, op, out); });
          }};
}

}  // namespace sluice::kernels::family::scan
