// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a kernel body is, and the words that it may speak. See README.md in this folder.
#pragma once

#include <concepts>
#include <cstdint>

#if defined(__CUDACC__)
/// Marks a kernel body, and functions that only kernel bodies call.
#define SLUICE_SIMT __device__ __forceinline__
#else
#define SLUICE_SIMT inline
#endif

/// Before loops that the device's compiler shall unroll, fully or some rounds at a time: arrays that are indexed by the
/// round then live in registers.
#if defined(__CUDA_ARCH__)
#define SLUICE_UNROLL _Pragma("unroll")
#define SLUICE_UNROLL_BY(rounds) SLUICE_PRAGMA(unroll rounds)
#define SLUICE_PRAGMA(text) _Pragma(#text)
#else
#define SLUICE_UNROLL
#define SLUICE_UNROLL_BY(rounds)
#endif

namespace sluice::simt {

/// Order of an atomic operation, as in the C++ memory model, between all threads of a device.
enum class Order : std::uint8_t { kRelaxed, kAcquire, kRelease, kAcquireRelease };

/// Shared memory of kernels that need none.
template <unsigned kWarpWidth>
struct NoShared {};

/// The words. Those of a warp and of a block are collective: every thread of it calls them, at one place.
///
/// `Mask` has one bit for each lane of a warp. `thread` counts within the block and `lane` within the warp; warp w of a
/// block is made of threads w * kWarpWidth on.
template <typename ContextT>
concept Context = requires(ContextT& simt, std::uint32_t value, unsigned lane, typename ContextT::Mask mask,
                           std::uint32_t* word, std::uint64_t* wide) {
  { ContextT::kWarpWidth } -> std::convertible_to<unsigned>;
  // rank
  { simt.thread() } -> std::same_as<unsigned>;
  { simt.lane() } -> std::same_as<unsigned>;
  { simt.warp() } -> std::same_as<unsigned>;
  { simt.block() } -> std::same_as<std::uint32_t>;
  { simt.blocks() } -> std::same_as<std::uint32_t>;
  // barriers; shared and global writes of the threads that meet are visible to each other afterwards
  simt.block_barrier();
  simt.warp_barrier();
  // exchange within a warp: any trivially copyable type of 4 or 8 bytes; up and down give back `value` where there is
  // no lane at that distance, the others want lanes of the warp
  { simt.shuffle(value, lane) } -> std::same_as<std::uint32_t>;
  { simt.shuffle_up(value, lane) } -> std::same_as<std::uint32_t>;
  { simt.shuffle_down(value, lane) } -> std::same_as<std::uint32_t>;
  { simt.shuffle_xor(value, lane) } -> std::same_as<std::uint32_t>;
  { simt.ballot(true) } -> std::same_as<typename ContextT::Mask>;
  { simt.match(value) } -> std::same_as<typename ContextT::Mask>;                   // lanes with the same value
  { simt.template match_bits<8>(value) } -> std::same_as<typename ContextT::Mask>;  // with the same 8 lowest bits
  { simt.warp_sum(value) } -> std::same_as<std::uint32_t>;                          // over all lanes, for each of them
  // masks
  { simt.lanes_below() } -> std::same_as<typename ContextT::Mask>;
  { simt.population(mask) } -> std::same_as<unsigned>;
  { simt.lowest(mask) } -> std::same_as<unsigned>;   // mask != 0
  { simt.highest(mask) } -> std::same_as<unsigned>;  // mask != 0
  // atomics on shared or global memory; give back what was there; additions also on float and double
  { simt.template atomic_add<Order::kRelaxed>(word, value) } -> std::same_as<std::uint32_t>;
  { simt.template atomic_min<Order::kRelaxed>(word, value) } -> std::same_as<std::uint32_t>;
  { simt.template atomic_max<Order::kRelaxed>(word, value) } -> std::same_as<std::uint32_t>;
  { simt.template atomic_or<Order::kRelaxed>(word, value) } -> std::same_as<std::uint32_t>;
  { simt.template atomic_load<Order::kRelaxed>(wide) } -> std::same_as<std::uint64_t>;
  simt.template atomic_store<Order::kRelaxed>(wide, std::uint64_t{});
  // one access of 16 aligned bytes (or several for larger types)
  { simt.load_vector(wide) } -> std::same_as<std::uint64_t>;
  // the same for types of 1, 4, 8 and multiples of 16 bytes in memory that this launch touches once: caches need not
  // keep it
  { simt.load_streaming(wide) } -> std::same_as<std::uint64_t>;
  simt.store_streaming(wide, std::uint64_t{});
  // starts a copy of 4, 8 or a multiple of 16 aligned bytes from global to shared memory that the calling thread need
  // not wait for; `copies_done` waits for all that it started, after which it and, beyond a barrier, others can read
  // them
  simt.start_copy(wide, static_cast<const std::uint64_t*>(wide));
  simt.copies_done();
  // asks for memory that blocks will read soon, one thread for all of these bytes; no more than a hint
  simt.prefetch(static_cast<const std::uint64_t*>(wide), std::uint32_t{});
  // lets others run before the next look at memory that a thread waits for
  simt.pause();
};

}  // namespace sluice::simt
