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

/// Shape of passes over many items: large tiles hide the most waiting, but need much shared memory. Rounds are as many
/// as let so many blocks share a multiprocessor, and make rows of whole 16 bytes.
///
/// \tparam kAgain  many tiles are taken by fewer blocks, one after the other: a little faster with whole points, slower
///                 with keys
template <unsigned kThreadCount, unsigned kRoundCount, unsigned kBlockCount, bool kAgain = false>
struct PassTile {
  static constexpr bool kDrawsAgain = kAgain;
  static constexpr unsigned kThreads = kThreadCount;
  static constexpr unsigned kRounds = kRoundCount;
  static constexpr unsigned kBlocks = kBlockCount;
  static constexpr unsigned kTile = kThreads * kRounds;
};

/// The shapes for some kind of items, by the bits of a pass, and the most bits that pay. The small one, for few items,
/// fits 48 KiB.
template <typename ItemsT>
struct PassShape;

template <typename Of8T, typename Of9T, unsigned kRounds>
struct KeyPassShape {
  static constexpr unsigned kMostBits = bodies::kMostKeyDigitBits;
  using Of8 = Of8T;
  using Of9 = Of9T;
  static constexpr unsigned kSmallRounds = kRounds;
};
template <>
struct PassShape<bodies::KeyItems<std::uint32_t, true>> : KeyPassShape<PassTile<384, 28, 2>, PassTile<384, 24, 2>, 12> {
};
template <>
struct PassShape<bodies::KeyItems<std::uint32_t, false>>
    : KeyPassShape<PassTile<384, 36, 2>, PassTile<384, 32, 2>, 12> {};
template <>
struct PassShape<bodies::KeyItems<std::uint64_t, true>> : KeyPassShape<PassTile<384, 16, 2>, PassTile<384, 16, 2>, 8> {
};
template <>
struct PassShape<bodies::KeyItems<std::uint64_t, false>> : KeyPassShape<PassTile<384, 24, 2>, PassTile<384, 24, 2>, 8> {
};
template <bodies::PassTable kTable>
struct PassShape<bodies::PointItems<kTable>> {
  static constexpr unsigned kMostBits = 10;
  using Of8 = PassTile<512, 10, 2, true>;
  using Of9 = PassTile<512, 9, 2, true>;
  using Of10 = PassTile<768, 10, 1, true>;
  static constexpr unsigned kSmallRounds = 7;
};

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
  /// Digits have more than 8 bits where that saves a pass.
  template <typename ItemsT>
  [[nodiscard]] bodies::DigitPlan plan(unsigned begin_bit, unsigned end_bit) const {
    return {begin_bit, end_bit, large ? PassShape<ItemsT>::kMostBits : 8};
  }
};

/// Memory that the passes of one sort share.
struct PassScratch {
  std::uint32_t* tickets = nullptr;       ///< of each pass; zero before the first one
  bodies::DigitCounts* counts = nullptr;  ///< those of a pass are complete before it starts
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
    std::uint64_t words = std::max(of(Shape::Of8::kTile, 8), of(Shape::Of9::kTile, 9));
    if constexpr (Shape::kMostBits > 9) words = std::max(words, of(Shape::Of10::kTile, 10));
    return words * sizeof(std::uint32_t);
  }
};

namespace detail {

template <typename WordT, typename TileT, unsigned kBits, typename ItemsT>
void launch_pass(const ItemsT& items, unsigned pass, bool last, const PassScratch& scratch, bodies::ItemCount count,
                 std::uint64_t most, StreamView stream) {
  using Kernel =
      bodies::RadixPass<ItemsT, WordT, TileT::kThreads, TileT::kRounds, kBits, TileT::kBlocks, TileT::kDrawsAgain>;
  // Enough to keep any device busy to the end.
  constexpr std::uint64_t kManyBlocks = 2048;
  auto* next = static_cast<WordT*>(scratch.words[1 - pass % 2]);
  const Kernel kernel{items,
                      {static_cast<WordT*>(scratch.words[pass % 2]), {scratch.tickets + pass}},
                      scratch.counts->words[pass],
                      count,
                      last ? nullptr : next,
                      last ? nullptr : scratch.counts->words[pass + 1]};
  const std::uint64_t tiles = simt::blocks_for(most, Kernel::kTile);
  simt::launch(kernel, TileT::kDrawsAgain ? std::min(tiles, kManyBlocks) : tiles, stream);
}

}  // namespace detail

/// Enqueues one pass. \param most  the largest number that `count` may be
template <typename ItemsT>
void radix_pass(const ItemsT& items, const PassChoice& choice, unsigned pass, bool last, const PassScratch& scratch,
                bodies::ItemCount count, std::uint64_t most, StreamView stream) {
  using Shape = PassShape<ItemsT>;
  const auto launch = [&]<typename WordT, typename TileT, unsigned kBits>() {
    detail::launch_pass<WordT, TileT, kBits>(items, pass, last, scratch, count, most, stream);
  };
  using Small = PassTile<kSmallPassThreads, Shape::kSmallRounds, 4>;
  // A pass clears the states of the next, whose digits are no wider: it has as many itself.
  static_assert(Shape::Of9::kTile <= 2 * Shape::Of8::kTile);
  if (choice.wide) return launch.template operator()<std::uint64_t, Small, 8>();
  if (!choice.large) return launch.template operator()<std::uint32_t, Small, 8>();
  if (items.sort_digit.bits <= 8) return launch.template operator()<std::uint32_t, typename Shape::Of8, 8>();
  if constexpr (Shape::kMostBits > 9) {
    static_assert(Shape::Of10::kTile <= 2 * Shape::Of9::kTile);
    if (items.sort_digit.bits > 9) return launch.template operator()<std::uint32_t, typename Shape::Of10, 10>();
  }
  launch.template operator()<std::uint32_t, typename Shape::Of9, 9>();
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
