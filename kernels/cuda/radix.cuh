// SPDX-License-Identifier: Apache-2.0
/// \file
/// Radix sorts as rows of passes, for the other sources of this folder.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/cuda/bodies/count_digits.hpp"
#include "kernels/cuda/bodies/digit_plan.hpp"
#include "kernels/cuda/bodies/radix_items.hpp"
#include "kernels/cuda/bodies/radix_pass.hpp"
#include "kernels/cuda/detail/device.hpp"
#include "kernels/cuda/detail/limits.hpp"
#include "kernels/simt/launch.hpp"
#include "sluice/kernels/stream.hpp"

namespace sluice::kernels::cuda {

/// Shape of passes: large tiles hide the most waiting, but need much shared memory and many items; the small one fits
/// everywhere. Rounds are as many as let two blocks, respectively 48 KiB, hold a tile, and make rows of whole 16 bytes.
template <unsigned kThreadCount, unsigned kRoundsOf8Bits, unsigned kRoundsOf9Bits, unsigned kSmallRoundCount>
struct PassRounds {
  static constexpr unsigned kThreads = kThreadCount;  ///< of large tiles
  static constexpr unsigned kRounds8 = kRoundsOf8Bits;
  static constexpr unsigned kRounds9 = kRoundsOf9Bits;
  static constexpr unsigned kSmallRounds = kSmallRoundCount;
};

template <typename ItemsT>
struct PassShape;
template <>
struct PassShape<bodies::KeyItems<std::uint32_t, true>> : PassRounds<384, 28, 24, 12> {};
template <>
struct PassShape<bodies::KeyItems<std::uint32_t, false>> : PassRounds<384, 36, 32, 12> {};
template <>
struct PassShape<bodies::KeyItems<std::uint64_t, true>> : PassRounds<384, 16, 16, 8> {};
template <>
struct PassShape<bodies::KeyItems<std::uint64_t, false>> : PassRounds<384, 24, 24, 8> {};
template <bool kTable>
struct PassShape<bodies::PointItems<kTable>> : PassRounds<512, 10, 9, 7> {};

inline constexpr unsigned kSmallPassThreads = 256;

/// From this many items on large tiles keep 132 multiprocessors busy.
inline constexpr std::uint64_t kLargePassItems = std::uint64_t{2} << 20;
/// Below it counts fit 32-bit words of look-back.
inline constexpr std::uint64_t kWideCounts = std::uint64_t{1} << 30;

/// How a sort of at most `count` items is cut.
struct PassChoice {
  bool large;
  bool wide;  ///< 64-bit words of look-back

  PassChoice(const DeviceLimits& limits, std::uint64_t count)
      : large(limits.has_large_shared() && count >= limits.large_from(kLargePassItems) && count < kWideCounts),
        wide(count >= kWideCounts) {}
  [[nodiscard]] unsigned most_bits() const { return large ? bodies::kMostDigitBits : 8; }
  [[nodiscard]] bodies::DigitPlan plan(unsigned begin_bit, unsigned end_bit) const {
    return {begin_bit, end_bit, most_bits()};
  }
};

/// Memory that the passes of one sort share.
struct PassScratch {
  std::uint32_t* tickets = nullptr;       ///< of each pass; zero before the first one
  bodies::DigitCounts* counts = nullptr;  ///< complete before the first pass
  void* words[2] = {nullptr, nullptr};    ///< states; the first is zero before the first pass

  /// Bytes of states that passes over up to `count` items need: small tiles have more, so what is enough for many items
  /// would not be for fewer.
  template <typename ItemsT>
  static std::uint64_t room(const DeviceLimits& limits, std::uint64_t count) {
    const std::uint64_t fewer = std::min(count, limits.large_from(kLargePassItems) - 1);
    return std::max(state_bytes<ItemsT>(PassChoice(limits, count), count),
                    state_bytes<ItemsT>(PassChoice(limits, fewer), fewer));
  }

  /// Bytes of states that a pass over `count` items uses at most.
  template <typename ItemsT>
  static std::uint64_t state_bytes(const PassChoice& choice, std::uint64_t count) {
    using Shape = PassShape<ItemsT>;
    const auto of = [&](std::uint64_t tile, unsigned bits) { return simt::blocks_for(count, tile) << bits; };
    if (choice.wide) return of(kSmallPassThreads * Shape::kSmallRounds, 8) * sizeof(std::uint64_t);
    if (!choice.large) return of(kSmallPassThreads * Shape::kSmallRounds, 8) * sizeof(std::uint32_t);
    return std::max(of(Shape::kThreads * Shape::kRounds8, 8), of(Shape::kThreads * Shape::kRounds9, 9)) *
           sizeof(std::uint32_t);
  }
};

namespace detail {

template <typename WordT, unsigned kThreads, unsigned kRounds, unsigned kBits, unsigned kBlocks, typename ItemsT>
void launch_pass(const ItemsT& items, unsigned pass, bool last, const PassScratch& scratch, bodies::ItemCount count,
                 std::uint64_t most, StreamView stream) {
  using Kernel = bodies::RadixPass<ItemsT, WordT, kThreads, kRounds, kBits, kBlocks>;
  auto* next = static_cast<WordT*>(scratch.words[1 - pass % 2]);
  const Kernel kernel{items,
                      {static_cast<WordT*>(scratch.words[pass % 2]), {scratch.tickets + pass}},
                      scratch.counts->counts[pass],
                      count,
                      last ? nullptr : next};
  simt::launch(kernel, simt::blocks_for(most, Kernel::kTile), stream);
}

}  // namespace detail

/// Enqueues one pass. \param most  the largest number that `count` may be
template <typename ItemsT>
void radix_pass(const ItemsT& items, const PassChoice& choice, unsigned pass, bool last, const PassScratch& scratch,
                bodies::ItemCount count, std::uint64_t most, StreamView stream) {
  using Shape = PassShape<ItemsT>;
  // A pass clears the states of the next, whose digits are no wider.
  static_assert(Shape::kRounds9 <= Shape::kRounds8);
  const auto launch = [&]<typename WordT, unsigned kThreads, unsigned kRounds, unsigned kBits, unsigned kBlocks>() {
    detail::launch_pass<WordT, kThreads, kRounds, kBits, kBlocks>(items, pass, last, scratch, count, most, stream);
  };
  if (choice.wide) {
    launch.template operator()<std::uint64_t, kSmallPassThreads, Shape::kSmallRounds, 8, 4>();
  } else if (!choice.large) {
    launch.template operator()<std::uint32_t, kSmallPassThreads, Shape::kSmallRounds, 8, 4>();
  } else if (items.sort_digit.bits <= 8) {
    launch.template operator()<std::uint32_t, Shape::kThreads, Shape::kRounds8, 8, 2>();
  } else {
    launch.template operator()<std::uint32_t, Shape::kThreads, Shape::kRounds9, 9, 2>();
  }
}

/// Enqueues the passes of keys that go back and forth between two buffers each.
/// \return which of the two holds the result
template <typename KeyT, bool kValues>
int radix_passes(KeyT* const (&keys)[2], std::uint32_t* const (&values)[2], const bodies::DigitPlan& plan,
                 const PassChoice& choice, const PassScratch& scratch, bodies::ItemCount count, std::uint64_t most,
                 StreamView stream) {
  for (unsigned pass = 0; pass < plan.passes; ++pass) {
    const unsigned from = pass % 2;
    const bodies::KeyItems<KeyT, kValues> items{keys[from], values[from], keys[1 - from], values[1 - from],
                                                plan.digits[pass]};
    radix_pass(items, choice, pass, pass + 1 == plan.passes, scratch, count, most, stream);
  }
  return static_cast<int>(plan.passes % 2);
}

}  // namespace sluice::kernels::cuda
