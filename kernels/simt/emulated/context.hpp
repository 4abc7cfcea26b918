// SPDX-License-Identifier: Apache-2.0
/// \file
/// The words of words.hpp on the emulator, for warps of any width from 8 to 128.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/simt/emulated/device.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::simt::emulated {

__extension__ using Mask128 = unsigned __int128;

/// On every word: it is called, so that its return address says where, and what it does is not an access of the kernel.
#define SLUICE_SIMT_WORD [[gnu::noinline, gnu::no_sanitize_thread]]

template <unsigned kWidth>
class Context {
 public:
  static_assert(kWidth == 8 || kWidth == 16 || kWidth == 32 || kWidth == 64 || kWidth == 128);
  static constexpr unsigned kWarpWidth = kWidth;
  using Mask =
      std::conditional_t<kWidth <= 32, std::uint32_t, std::conditional_t<kWidth == 64, std::uint64_t, Mask128>>;

  explicit Context(Machine& machine) : machine_(machine) {}

  SLUICE_SIMT_WORD unsigned thread() const { return current_lane->thread; }
  SLUICE_SIMT_WORD unsigned lane() const { return current_lane->thread % kWidth; }
  SLUICE_SIMT_WORD unsigned warp() const { return current_lane->thread / kWidth; }
  SLUICE_SIMT_WORD std::uint32_t block() const { return current_lane->block->index; }
  SLUICE_SIMT_WORD std::uint32_t blocks() const { return machine_.job().blocks; }

  SLUICE_SIMT_WORD void block_barrier() const { machine_.block_barrier(__builtin_return_address(0)); }
  SLUICE_SIMT_WORD void warp_barrier() const { machine_.meet(Word::kWarpBarrier, Slot{}, __builtin_return_address(0)); }

  template <typename T>
  SLUICE_SIMT_WORD T shuffle(T value, unsigned lane) const {
    const void* const pc = __builtin_return_address(0);
    const Slot* const slots = machine_.meet(Word::kShuffle, slot_of(value), pc);
    if (lane >= kWidth) machine_.refuse_lane(Word::kShuffle, lane, pc);
    return value_of<T>(slots[lane]);
  }
  template <typename T>
  SLUICE_SIMT_WORD T shuffle_up(T value, unsigned distance) const {
    const unsigned mine = current_lane->thread % kWidth;
    const Slot* const slots = machine_.meet(Word::kShuffleUp, slot_of(value), __builtin_return_address(0));
    return distance <= mine ? value_of<T>(slots[mine - distance]) : value;
  }
  template <typename T>
  SLUICE_SIMT_WORD T shuffle_down(T value, unsigned distance) const {
    const unsigned mine = current_lane->thread % kWidth;
    const Slot* const slots = machine_.meet(Word::kShuffleDown, slot_of(value), __builtin_return_address(0));
    return distance < kWidth - mine ? value_of<T>(slots[mine + distance]) : value;
  }
  template <typename T>
  SLUICE_SIMT_WORD T shuffle_xor(T value, unsigned lanes) const {
    const void* const pc = __builtin_return_address(0);
    const unsigned from = (current_lane->thread % kWidth) ^ lanes;
    const Slot* const slots = machine_.meet(Word::kShuffleXor, slot_of(value), pc);
    if (from >= kWidth) machine_.refuse_lane(Word::kShuffleXor, from, pc);
    return value_of<T>(slots[from]);
  }
  SLUICE_SIMT_WORD Mask ballot(bool predicate) const {
    const Slot* const slots = machine_.meet(Word::kBallot, Slot{{predicate ? 1U : 0U, 0}}, __builtin_return_address(0));
    return lanes_with(slots, 1);
  }
  template <typename T>
  SLUICE_SIMT_WORD Mask match(T value) const {
    static_assert(std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::uint64_t>);
    const Slot* const slots = machine_.meet(Word::kMatch, slot_of(value), __builtin_return_address(0));
    return lanes_with(slots, value);
  }
  template <unsigned kBits>
  SLUICE_SIMT_WORD Mask match_bits(std::uint32_t value) const {
    const std::uint32_t bits = kBits >= 32 ? value : value & ((1U << (kBits % 32)) - 1);
    const Slot* const slots = machine_.meet(Word::kMatch, slot_of(bits), __builtin_return_address(0));
    return lanes_with(slots, bits);
  }
  SLUICE_SIMT_WORD std::uint32_t warp_sum(std::uint32_t value) const {
    const Slot* const slots = machine_.meet(Word::kWarpSum, slot_of(value), __builtin_return_address(0));
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < kWidth; ++i) sum += static_cast<std::uint32_t>(slots[i].words[0]);
    return sum;
  }

  SLUICE_SIMT_WORD Mask lanes_below() const { return static_cast<Mask>((Mask{1} << lane()) - 1); }
  SLUICE_SIMT_WORD unsigned population(Mask mask) const {
    unsigned count = 0;
    for (unsigned i = 0; i < kParts; ++i) count += static_cast<unsigned>(std::popcount(part(mask, i)));
    return count;
  }
  SLUICE_SIMT_WORD unsigned lowest(Mask mask) const {
    unsigned i = 0;
    while (i + 1 < kParts && part(mask, i) == 0) ++i;
    return 64 * i + static_cast<unsigned>(std::countr_zero(part(mask, i)));
  }
  SLUICE_SIMT_WORD unsigned highest(Mask mask) const {
    unsigned i = kParts - 1;
    while (i > 0 && part(mask, i) == 0) --i;
    return 64 * i + 63 - static_cast<unsigned>(std::countl_zero(part(mask, i)));
  }

  template <Order kOrder, typename T>
  SLUICE_SIMT_WORD T atomic_add(T* at, T value) const {
    return update<kOrder>(at, __builtin_return_address(0), [=](T before) { return static_cast<T>(before + value); });
  }
  template <Order kOrder, typename T>
  SLUICE_SIMT_WORD T atomic_min(T* at, T value) const {
    static_assert(std::is_integral_v<T>);
    return update<kOrder>(at, __builtin_return_address(0), [=](T before) { return value < before ? value : before; });
  }
  template <Order kOrder, typename T>
  SLUICE_SIMT_WORD T atomic_max(T* at, T value) const {
    static_assert(std::is_integral_v<T>);
    return update<kOrder>(at, __builtin_return_address(0), [=](T before) { return before < value ? value : before; });
  }
  template <Order kOrder, typename T>
  SLUICE_SIMT_WORD T atomic_or(T* at, T value) const {
    static_assert(std::is_integral_v<T>);
    return update<kOrder>(at, __builtin_return_address(0), [=](T before) { return static_cast<T>(before | value); });
  }
  template <Order kOrder, typename T>
  SLUICE_SIMT_WORD T atomic_load(const T* at) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    machine_.before_atomic(at, sizeof(T), kOrder, true, false, __builtin_return_address(0));
    const T value = *at;
    machine_.after_atomic(at, kOrder, true, false, false);
    return value;
  }
  template <Order kOrder, typename T>
  SLUICE_SIMT_WORD void atomic_store(T* at, T value) const {
    static_assert(kOrder == Order::kRelaxed || kOrder == Order::kRelease);
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    machine_.before_atomic(at, sizeof(T), kOrder, false, true, __builtin_return_address(0));
    const bool changed = *at != value;
    *at = value;
    machine_.after_atomic(at, kOrder, false, true, changed);
  }

  template <typename T>
  SLUICE_SIMT_WORD T load_vector(const T* at) const {
    constexpr std::size_t kAlignment = sizeof(T) % 16 == 0 ? 16 : alignof(T);
    machine_.access(at, sizeof(T), false, kAlignment, __builtin_return_address(0));
    return *at;
  }
  template <typename T>
  SLUICE_SIMT_WORD T load_streaming(const T* at) const {
    machine_.access(at, sizeof(T), false, unit<T>(), __builtin_return_address(0));
    return *at;
  }
  template <typename T>
  SLUICE_SIMT_WORD void store_streaming(T* at, const T& value) const {
    machine_.access(at, sizeof(T), true, unit<T>(), __builtin_return_address(0));
    *at = value;
  }

  template <typename T>
  SLUICE_SIMT_WORD void start_copy(T* to_shared, const T* from_global) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) % 16 == 0);
    machine_.start_copy(to_shared, from_global, sizeof(T), unit<T>(), __builtin_return_address(0));
  }
  SLUICE_SIMT_WORD void copies_done() const { machine_.copies_done(); }

  /// A hint, which changes nothing here.
  void prefetch(const void* /*from*/, std::uint32_t /*bytes*/) const {}

  SLUICE_SIMT_WORD void pause() const { machine_.pause(__builtin_return_address(0)); }

 private:
  static constexpr unsigned kParts = (sizeof(Mask) + 7) / 8;

  /// Bytes that the device moves at once, to which addresses must be aligned.
  template <typename T>
  static constexpr std::size_t unit() {
    return sizeof(T) % 16 == 0 ? 16 : sizeof(T);
  }

  [[gnu::no_sanitize_thread]] static std::uint64_t part(Mask mask, unsigned i) {
    return static_cast<std::uint64_t>(mask >> (64 * i));
  }

  template <typename T>
  [[gnu::no_sanitize_thread]] static Slot slot_of(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || std::is_same_v<T, Mask>);
    Slot slot{};
    std::memcpy(&slot, &value, sizeof value);
    return slot;
  }
  template <typename T>
  [[gnu::no_sanitize_thread]] static T value_of(const Slot& slot) {
    T value;
    std::memcpy(&value, &slot, sizeof value);
    return value;
  }

  [[gnu::no_sanitize_thread]] static Mask lanes_with(const Slot* slots, std::uint64_t value) {
    Mask mask = 0;
    for (unsigned i = 0; i < kWidth; ++i) {
      if (slots[i].words[0] == value) mask |= Mask{1} << i;
    }
    return mask;
  }

  template <Order kOrder, typename T, typename ChangeT>
  [[gnu::no_sanitize_thread]] T update(T* at, const void* pc, const ChangeT& change) const {
    static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
    machine_.before_atomic(at, sizeof(T), kOrder, true, true, pc);
    const T before = *at;
    const T after = change(before);
    *at = after;
    machine_.after_atomic(at, kOrder, true, true, before != after);
    return before;
  }

  Machine& machine_;
};
static_assert(simt::Context<Context<8>> && simt::Context<Context<16>> && simt::Context<Context<32>> &&
              simt::Context<Context<64>> && simt::Context<Context<128>>);

}  // namespace sluice::simt::emulated
