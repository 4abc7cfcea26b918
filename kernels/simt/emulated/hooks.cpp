// SPDX-License-Identifier: Apache-2.0
// What code calls for each access that a compiler instruments with -fsanitize=thread. The names are the compiler's; the
// sanitizer's own library is not linked.
#include <cstddef>
#include <cstdint>

#include "kernels/simt/emulated/device.hpp"

namespace {

void touched(const void* at, std::size_t bytes, bool write, const void* pc) {
  using sluice::simt::emulated::current_lane;
  using sluice::simt::emulated::Device;
  if (current_lane == nullptr) return;
  Device::get().touched(reinterpret_cast<std::uintptr_t>(at), bytes, write, pc);
}

}  // namespace

// NOLINTBEGIN(clang-diagnostic-reserved-identifier,bugprone-macro-parentheses)
#define SLUICE_HOOKS(bytes)                                                                     \
  void __tsan_read##bytes(void* at) { touched(at, bytes, false, __builtin_return_address(0)); } \
  void __tsan_write##bytes(void* at) { touched(at, bytes, true, __builtin_return_address(0)); }

/// Atomics of host code that lies in the same sources as kernels.
#define SLUICE_ATOMIC_HOOKS(bits, T)                                                                                  \
  T __tsan_atomic##bits##_load(const volatile T* at, int) { return __atomic_load_n(at, __ATOMIC_SEQ_CST); }           \
  void __tsan_atomic##bits##_store(volatile T* at, T v, int) { __atomic_store_n(at, v, __ATOMIC_SEQ_CST); }           \
  T __tsan_atomic##bits##_exchange(volatile T* at, T v, int) { return __atomic_exchange_n(at, v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_add(volatile T* at, T v, int) { return __atomic_fetch_add(at, v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_sub(volatile T* at, T v, int) { return __atomic_fetch_sub(at, v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_and(volatile T* at, T v, int) { return __atomic_fetch_and(at, v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_or(volatile T* at, T v, int) { return __atomic_fetch_or(at, v, __ATOMIC_SEQ_CST); }   \
  bool __tsan_atomic##bits##_compare_exchange_strong(volatile T* at, T* expected, T v, int, int) {                    \
    return __atomic_compare_exchange_n(at, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                   \
  }                                                                                                                   \
  bool __tsan_atomic##bits##_compare_exchange_weak(volatile T* at, T* expected, T v, int, int) {                      \
    return __atomic_compare_exchange_n(at, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                   \
  }

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}
void __tsan_read_range(void* at, std::size_t bytes) { touched(at, bytes, false, __builtin_return_address(0)); }
void __tsan_write_range(void* at, std::size_t bytes) { touched(at, bytes, true, __builtin_return_address(0)); }
SLUICE_HOOKS(1)
SLUICE_HOOKS(2)
SLUICE_HOOKS(4)
SLUICE_HOOKS(8)
SLUICE_HOOKS(16)
SLUICE_ATOMIC_HOOKS(8, std::uint8_t)
SLUICE_ATOMIC_HOOKS(16, std::uint16_t)
SLUICE_ATOMIC_HOOKS(32, std::uint32_t)
SLUICE_ATOMIC_HOOKS(64, std::uint64_t)
}
// NOLINTEND(clang-diagnostic-reserved-identifier,bugprone-macro-parentheses)
