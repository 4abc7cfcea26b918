// SPDX-License-Identifier: Apache-2.0
#include "kernels/family/operators.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::scan {

namespace {

template <typename T, typename OpT>
void run(const ScanCall& call) {
  const auto* in = static_cast<const T*>(call.in);
  auto* out = static_cast<T*>(call.out);
  const OpT op;
  T sum = OpT::template identity<T>();
  for (std::uint64_t i = 0; i < call.n; ++i) {
    const T before = sum;
    sum = op(sum, in[i]);
    out[i] = call.inclusive ? sum : before;
  }
}

}  // namespace

ScanVariant serial() {
  return {{"serial", "one loop"},
          [](ItemType, std::uint64_t) { return std::size_t{0}; },
          [](const ScanCall& call, Workspace&, StreamView) {
            with_type(call.type,
                      [&]<typename T>() { with_operator(call.op, [&]<typename OpT>() { run<T, OpT>(call); }); });
          }};
}

}  // namespace sluice::kernels::family::scan
