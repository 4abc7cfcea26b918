// SPDX-License-Identifier: Apache-2.0
/// \file
/// A tree in the shared memory of each block, then one atomic operation for each block on one word.
///
/// One pass over the items, log2(b) steps with a barrier each in a block of b threads, and n / tile atomics that the
/// memory does one after another. Blocks end in any order, so that sums of floats differ in their last bits from run to
/// run; and an operator must have an atomic: sums do, and extremes through unsigned integers that order alike.
///
/// M. Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA, 2007.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/family/operators.hpp"
#include "kernels/simt/launch.hpp"
#include "kernels/simt/words.hpp"
#include "sluice/core/radix_key.hpp"
#include "sluice/kernels/stream.hpp"

namespace sluice::kernels::family::reduce {

/// How values of T are combined in memory: in a word of some type. Specialise it for an operator of one's own.
template <typename T, typename OpT>
struct AtomicWord;

template <typename T>
struct AtomicWord<T, Sum> {
  using Word = T;
  SLUICE_SIMT static Word word_of(T value) { return value; }
  SLUICE_SIMT static T value_of(Word word) { return word; }
  template <typename ContextT>
  SLUICE_SIMT static void combine(ContextT& simt, Word* at, Word word) {
    simt.template atomic_add<simt::Order::kRelaxed>(at, word);
  }
};

/// Unsigned integers that order as the values do.
template <typename T>
struct OrderedWord {
  using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  static constexpr Word kSign = Word{1} << (8 * sizeof(Word) - 1);
  SLUICE_SIMT static Word word_of(T value) {
    if constexpr (std::is_unsigned_v<T>) {
      return value;
    } else {
      return radix_key(value);
    }
  }
  SLUICE_SIMT static T value_of(Word word) {
    if constexpr (std::is_unsigned_v<T>) {
      return word;
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(word ^ kSign);
    } else {
      const Word bits = (word & kSign) != 0 ? word ^ kSign : ~word;
      T value;
      memcpy(&value, &bits, sizeof value);
      return value;
    }
  }
};
template <typename T>
struct AtomicWord<T, Min> : OrderedWord<T> {
  template <typename ContextT, typename WordT>
  SLUICE_SIMT static void combine(ContextT& simt, WordT* at, WordT word) {
    simt.template atomic_min<simt::Order::kRelaxed>(at, word);
  }
};
template <typename T>
struct AtomicWord<T, Max> : OrderedWord<T> {
  template <typename ContextT, typename WordT>
  SLUICE_SIMT static void combine(ContextT& simt, WordT* at, WordT word) {
    simt.template atomic_max<simt::Order::kRelaxed>(at, word);
  }
};

/// What no item changes.
template <typename T, typename OpT>
struct StartAtomic {
  static constexpr unsigned kThreads = 128;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  typename AtomicWord<T, OpT>::Word* word;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    if (simt.thread() == 0) *word = AtomicWord<T, OpT>::word_of(OpT::template identity<T>());
  }
};

/// The operator must commute.
template <typename T, typename OpT>
struct SharedThenAtomic {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kItems = 16;  ///< of a thread
  static constexpr std::uint32_t kTile = kThreads * kItems;
  template <unsigned kWarpWidth>
  struct Shared {
    T values[kThreads];
  };

  const T* in;
  std::uint64_t n;
  typename AtomicWord<T, OpT>::Word* word;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const unsigned thread = simt.thread();
    const std::uint64_t first = std::uint64_t{simt.block()} * kTile + thread;
    const OpT op;
    T value = OpT::template identity<T>();
    SLUICE_UNROLL
    for (unsigned i = 0; i < kItems; ++i) {
      const std::uint64_t at = first + std::uint64_t{i} * kThreads;
      if (at < n) value = op(value, in[at]);
    }
    shared.values[thread] = value;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
      simt.block_barrier();
      if (thread < half) shared.values[thread] = op(shared.values[thread], shared.values[thread + half]);
    }
    if (thread == 0) AtomicWord<T, OpT>::combine(simt, word, AtomicWord<T, OpT>::word_of(shared.values[0]));
  }
};

template <typename T, typename OpT>
struct FinishAtomic {
  static constexpr unsigned kThreads = 128;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const typename AtomicWord<T, OpT>::Word* word;
  T* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    if (simt.thread() == 0) *out = AtomicWord<T, OpT>::value_of(*word);
  }
};

/// Scratch: one word.
template <typename OpT, typename T>
void reduce_by_atomic(const T* in, std::uint64_t n, T* out, Workspace& workspace, StreamView stream) {
  using Kernel = SharedThenAtomic<T, OpT>;
  const WorkspaceScope scope(workspace);
  auto* const word = workspace.take<typename AtomicWord<T, OpT>::Word>(1);
  simt::launch(StartAtomic<T, OpT>{word}, 1, stream);
  simt::launch(Kernel{in, n, word}, simt::blocks_for(n, Kernel::kTile), stream);
  simt::launch(FinishAtomic<T, OpT>{word, out}, 1, stream);
}

}  // namespace sluice::kernels::family::reduce
