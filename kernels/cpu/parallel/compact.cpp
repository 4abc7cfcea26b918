// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/parallel/compact.hpp"

#include "kernels/arguments.hpp"
#include "kernels/cpu/item.hpp"
#include "kernels/cpu/parallel/primitives.hpp"

namespace sluice::kernels {

void ParallelPrimitives::compact(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags,
                                 std::uint64_t n, void* out, std::uint64_t* count, Workspace& workspace,
                                 StreamView /*stream*/) {
  check_count(n);
  check_item_bytes(item_bytes);
  with_item(item_bytes, [&]<typename T>(T) {
    const auto* from = static_cast<const T*>(items);
    *count = compact_chosen(
        NonZero{}, flags, n, static_cast<T*>(out), [=](std::uint64_t i) { return from[i]; }, workspace);
  });
}

std::size_t ParallelPrimitives::compact_scratch(std::uint64_t n) const { return compact_chosen_scratch(n); }

void ParallelPrimitives::compact_indices(const std::uint8_t* flags, std::uint8_t wanted, std::uint64_t n,
                                         std::uint32_t* out, std::uint64_t* count, Workspace& workspace,
                                         StreamView /*stream*/) {
  check_count(n);
  const auto index = [](std::uint64_t i) { return static_cast<std::uint32_t>(i); };
  *count = compact_chosen(EqualTo(wanted), flags, n, out, index, workspace);
}

void ParallelPrimitives::partition(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags,
                                   std::uint64_t n, void* out, std::uint64_t* count, Workspace& workspace,
                                   StreamView /*stream*/) {
  check_count(n);
  check_item_bytes(item_bytes);
  with_item(item_bytes, [&]<typename T>(T) {
    const auto* from = static_cast<const T*>(items);
    auto* to = static_cast<T*>(out);
    const auto item = [=](std::uint64_t i) { return from[i]; };
    *count = compact_chosen(NonZero{}, flags, n, to, item, workspace);
    compact_chosen(Zero{}, flags, n, to + *count, item, workspace);
  });
}

}  // namespace sluice::kernels
