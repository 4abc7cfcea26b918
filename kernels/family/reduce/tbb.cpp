// SPDX-License-Identifier: Apache-2.0
/// \file
/// `parallel_reduce` of TBB: ranges are split where a thread is free and joined in their order, so that the operator
/// need not commute.
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include "kernels/family/items.hpp"
#include "kernels/family/variants.hpp"

namespace sluice::kernels::family::reduce {

namespace {

template <typename OpT, typename T>
T reduce_tbb(const T* in, std::uint64_t n) {
  constexpr std::uint64_t kGrain = 16384;
  const OpT op;
  const auto reduce_range = [=](const tbb::blocked_range<std::uint64_t>& range, T value) {
    for (std::uint64_t i = range.begin(); i < range.end(); ++i) value = op(value, in[i]);
    return value;
  };
  return tbb::parallel_reduce(tbb::blocked_range<std::uint64_t>(0, n, kGrain), OpT::template identity<T>(),
                              reduce_range, op);
}

}  // namespace

ReduceVariant tbb() {
  return {{"tbb", "parallel_reduce"},
          [](ItemType, std::uint64_t) { return std::size_t{0}; },
          [](const ReduceCall& call, Workspace&, StreamView) {
            with_items(call,
                       [&]<typename T, typename OpT>(const T* in, OpT, T* out) { *out = reduce_tbb<OpT>(in, call.n); });
          }};
}

}  // namespace sluice::kernels::family::reduce
