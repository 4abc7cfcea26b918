// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/host_memory.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace sluice::kernels {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
/// Smaller blocks would waste much of their last page.
constexpr std::size_t kLarge = 4 * kHugePage;

}  // namespace

void* HugePageMemory::allocate(std::size_t bytes, const char* purpose) {
  if (bytes < kLarge) return plain_.allocate(bytes, purpose);
  const std::size_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  void* block = rounded < bytes ? nullptr : std::aligned_alloc(kHugePage, rounded);
  if (block == nullptr) throw OutOfMemory(bytes, 0, purpose);
#ifdef MADV_HUGEPAGE
  // A wish: where the system does not grant it, the memory works all the same.
  static_cast<void>(madvise(block, rounded, MADV_HUGEPAGE));
#endif
  return block;
}

void HugePageMemory::deallocate(void* block, std::size_t bytes) noexcept { plain_.deallocate(block, bytes); }

}  // namespace sluice::kernels
