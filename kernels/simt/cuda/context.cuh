// SPDX-License-Identifier: Apache-2.0
/// \file
/// The words of words.hpp in CUDA. Every word compiles to one or few instructions.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/simt/words.hpp"

namespace sluice::simt {

class CudaContext {
 public:
  static constexpr unsigned kWarpWidth = 32;
  using Mask = std::uint32_t;

  __device__ __forceinline__ unsigned thread() const { return threadIdx.x; }
  __device__ __forceinline__ unsigned lane() const { return threadIdx.x % kWarpWidth; }
  __device__ __forceinline__ unsigned warp() const { return threadIdx.x / kWarpWidth; }
  __device__ __forceinline__ std::uint32_t block() const { return blockIdx.x; }
  __device__ __forceinline__ std::uint32_t blocks() const { return gridDim.x; }

  __device__ __forceinline__ void block_barrier() const { __syncthreads(); }
  __device__ __forceinline__ void warp_barrier() const { __syncwarp(kAll); }

  template <typename T>
  __device__ __forceinline__ T shuffle(T value, unsigned lane) const {
    return exchange(value, [=](auto word) { return __shfl_sync(kAll, word, static_cast<int>(lane)); });
  }
  template <typename T>
  __device__ __forceinline__ T shuffle_up(T value, unsigned distance) const {
    return exchange(value, [=](auto word) { return __shfl_up_sync(kAll, word, distance); });
  }
  template <typename T>
  __device__ __forceinline__ T shuffle_down(T value, unsigned distance) const {
    return exchange(value, [=](auto word) { return __shfl_down_sync(kAll, word, distance); });
  }
  template <typename T>
  __device__ __forceinline__ T shuffle_xor(T value, unsigned lanes) const {
    return exchange(value, [=](auto word) { return __shfl_xor_sync(kAll, word, static_cast<int>(lanes)); });
  }
  __device__ __forceinline__ Mask ballot(bool predicate) const { return __ballot_sync(kAll, predicate); }
  template <typename T>
  __device__ __forceinline__ Mask match(T value) const {
    static_assert(std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::uint64_t>);
    if constexpr (sizeof(T) == 4) {
      return __match_any_sync(kAll, value);
    } else {
      return __match_any_sync(kAll, static_cast<unsigned long long>(value));
    }
  }

  template <unsigned kBits>
  __device__ __forceinline__ Mask match_bits(std::uint32_t value) const {
    // Spelt out, because the compiler makes six instructions a bit of the plain form instead of four.
    Mask same = kAll;
#pragma unroll
    for (unsigned b = 0; b < kBits; ++b) {
      asm volatile(
          "{\n"
          "  .reg .pred set;\n"
          "  .reg .b32 bit, votes;\n"
          "  and.b32 bit, %1, %2;\n"
          "  setp.ne.u32 set, bit, 0;\n"
          "  vote.sync.ballot.b32 votes, set, 0xffffffff;\n"
          "  @!set not.b32 votes, votes;\n"
          "  and.b32 %0, %0, votes;\n"
          "}\n"
          : "+r"(same)
          : "r"(value), "r"(1U << b));
    }
    return same;
  }

  __device__ __forceinline__ std::uint32_t warp_sum(std::uint32_t value) const {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(kAll, value);
#else
    for (unsigned distance = kWarpWidth / 2; distance > 0; distance /= 2) value += shuffle_xor(value, distance);
    return value;
#endif
  }

  __device__ __forceinline__ Mask lanes_below() const { return (Mask{1} << lane()) - 1; }
  __device__ __forceinline__ unsigned population(Mask mask) const { return static_cast<unsigned>(__popc(mask)); }
  __device__ __forceinline__ unsigned lowest(Mask mask) const {
    return static_cast<unsigned>(__ffs(static_cast<int>(mask)) - 1);
  }
  __device__ __forceinline__ unsigned highest(Mask mask) const {
    return 31U - static_cast<unsigned>(__clz(static_cast<int>(mask)));
  }

  template <Order kOrder, typename T>
  __device__ __forceinline__ T atomic_add(T* at, T value) const {
    return ordered<kOrder>([=] {
      if constexpr (std::is_floating_point_v<T>) {
        return atomicAdd(at, value);
      } else if constexpr (sizeof(T) == 4) {
        return static_cast<T>(atomicAdd(reinterpret_cast<unsigned*>(at), static_cast<unsigned>(value)));
      } else {
        return static_cast<T>(atomicAdd(reinterpret_cast<Wide*>(at), static_cast<Wide>(value)));
      }
    });
  }
  template <Order kOrder, typename T>
  __device__ __forceinline__ T atomic_min(T* at, T value) const {
    return ordered<kOrder>([=] { return static_cast<T>(atomicMin(native(at), static_cast<NativeT<T>>(value))); });
  }
  template <Order kOrder, typename T>
  __device__ __forceinline__ T atomic_max(T* at, T value) const {
    return ordered<kOrder>([=] { return static_cast<T>(atomicMax(native(at), static_cast<NativeT<T>>(value))); });
  }
  template <Order kOrder, typename T>
  __device__ __forceinline__ T atomic_or(T* at, T value) const {
    return ordered<kOrder>([=] { return static_cast<T>(atomicOr(native(at), static_cast<NativeT<T>>(value))); });
  }
  template <Order kOrder, typename T>
  __device__ __forceinline__ T atomic_load(const T* at) const {
    static_assert(kOrder == Order::kRelaxed || kOrder == Order::kAcquire);
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    T value;
    if constexpr (kOrder == Order::kAcquire && sizeof(T) == 4) {
      asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    } else if constexpr (kOrder == Order::kAcquire) {
      asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    } else if constexpr (sizeof(T) == 4) {
      asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    } else {
      asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    }
    return value;
  }

  template <Order kOrder, typename T>
  __device__ __forceinline__ void atomic_store(T* at, T value) const {
    static_assert(kOrder == Order::kRelaxed || kOrder == Order::kRelease);
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    if constexpr (kOrder == Order::kRelease && sizeof(T) == 4) {
      asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
    } else if constexpr (kOrder == Order::kRelease) {
      asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
    } else if constexpr (sizeof(T) == 4) {
      asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
    } else {
      asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
    }
  }

  template <typename T>
  __device__ __forceinline__ T load_vector(const T* at) const {
    T value;
    if constexpr (sizeof(T) % 16 == 0) {
      uint4 parts[sizeof(T) / 16];
#pragma unroll
      for (unsigned i = 0; i < sizeof(T) / 16; ++i) parts[i] = *(reinterpret_cast<const uint4*>(at) + i);
      memcpy(&value, parts, sizeof value);
    } else {
      value = *at;
    }
    return value;
  }
  template <typename T>
  __device__ __forceinline__ T load_streaming(const T* at) const {
    using Part = PartT<T>;
    Part parts[sizeof(T) / sizeof(Part)];
#pragma unroll
    for (unsigned i = 0; i < sizeof(T) / sizeof(Part); ++i) parts[i] = __ldcs(reinterpret_cast<const Part*>(at) + i);
    T value;
    memcpy(&value, parts, sizeof value);
    return value;
  }
  template <typename T>
  __device__ __forceinline__ void store_streaming(T* at, const T& value) const {
    using Part = PartT<T>;
    Part parts[sizeof(T) / sizeof(Part)];
    memcpy(parts, &value, sizeof value);
#pragma unroll
    for (unsigned i = 0; i < sizeof(T) / sizeof(Part); ++i) __stcs(reinterpret_cast<Part*>(at) + i, parts[i]);
  }

  template <typename T>
  __device__ __forceinline__ void start_copy(T* to_shared, const T* from_global) const {
    constexpr std::size_t kPart = sizeof(T) % 16 == 0 ? 16 : sizeof(T);
#pragma unroll
    for (std::size_t i = 0; i < sizeof(T); i += kPart) {
      __pipeline_memcpy_async(reinterpret_cast<char*>(to_shared) + i, reinterpret_cast<const char*>(from_global) + i,
                              kPart);
    }
  }
  __device__ __forceinline__ void copies_done() const {
    __pipeline_commit();
    __pipeline_wait_prior(0);
    // The wait does not tell the compiler that memory has changed.
    asm volatile("" ::: "memory");
  }

  __device__ __forceinline__ void prefetch(const void* from, std::uint32_t bytes) const {
#if __CUDA_ARCH__ >= 900
    // The instruction takes whole parts of 16 bytes; what it leaves out at the end is loaded when it is read.
    const auto address = reinterpret_cast<std::uintptr_t>(from);
    const std::uintptr_t first = (address + 15) / 16 * 16;
    const std::uintptr_t end = (address + bytes) / 16 * 16;
    if (first >= end) return;
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(from) + (first - address)),
                 "r"(static_cast<std::uint32_t>(end - first)));
#else
    static_cast<void>(from);
    static_cast<void>(bytes);
#endif
  }

  __device__ __forceinline__ void pause() const { __nanosleep(40); }

 private:
  static constexpr Mask kAll = 0xffffffffU;
  using Wide = unsigned long long;

  /// The widest unit that moves a T.
  template <typename T>
  using PartT = std::conditional_t<
      sizeof(T) % 16 == 0, uint4,
      std::conditional_t<sizeof(T) == 8, uint2, std::conditional_t<sizeof(T) == 4, unsigned, unsigned char>>>;

  /// The type of the same width and sign that CUDA's atomics are declared for.
  template <typename T>
  using NativeT = std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int, unsigned>,
                                     std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>>;
  template <typename T>
  __device__ static __forceinline__ NativeT<T>* native(T* at) {
    static_assert(std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
    return reinterpret_cast<NativeT<T>*>(at);
  }

  // Weaker than __threadfence(), which also puts all fences of the device in one order.
  static __device__ __forceinline__ void fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

  /// CUDA's atomics are relaxed; fences around them give the stronger orders.
  template <Order kOrder, typename OperationT>
  __device__ static __forceinline__ auto ordered(OperationT operation) {
    if constexpr (kOrder == Order::kRelease || kOrder == Order::kAcquireRelease) fence();
    const auto before = operation();
    if constexpr (kOrder == Order::kAcquire || kOrder == Order::kAcquireRelease) fence();
    return before;
  }

  template <typename T, typename MoveT>
  __device__ static __forceinline__ T exchange(T value, MoveT move) {
    static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
    std::conditional_t<sizeof(T) == 4, unsigned, Wide> word;
    memcpy(&word, &value, sizeof word);
    word = move(word);
    memcpy(&value, &word, sizeof word);
    return value;
  }
};
static_assert(Context<CudaContext>);

}  // namespace sluice::simt
