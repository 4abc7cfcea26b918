// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/serial/primitives.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/arguments.hpp"
#include "kernels/cpu/item.hpp"

namespace sluice::kernels {

void SerialPrimitives::exclusive_scan(const std::uint32_t* in, std::uint64_t n, std::uint64_t* out,
                                      std::uint64_t* total, Workspace& /*workspace*/, StreamView /*stream*/) {
  check_count(n);
  std::exclusive_scan(in, in + n, out, std::uint64_t{0});
  if (total != nullptr) *total = std::accumulate(in, in + n, std::uint64_t{0});
}

std::size_t SerialPrimitives::exclusive_scan_scratch(std::uint64_t /*n*/) const { return 0; }

void SerialPrimitives::exclusive_scan_wrapping(const std::uint32_t* in, std::uint64_t n, std::uint32_t* out,
                                               std::uint64_t* total, Workspace& /*workspace*/, StreamView /*stream*/) {
  check_count(n);
  std::exclusive_scan(in, in + n, out, std::uint32_t{0});
  if (total != nullptr) *total = std::accumulate(in, in + n, std::uint64_t{0});
}

void SerialPrimitives::compact(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags, std::uint64_t n,
                               void* out, std::uint64_t* count, Workspace& /*workspace*/, StreamView /*stream*/) {
  check_count(n);
  check_item_bytes(item_bytes);
  with_item(item_bytes, [&]<typename T>(T) {
    const auto* from = static_cast<const T*>(items);
    auto* to = static_cast<T*>(out);
    std::uint64_t kept = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      if (flags[i] != 0) to[kept++] = from[i];
    }
    *count = kept;
  });
}

std::size_t SerialPrimitives::compact_scratch(std::uint64_t /*n*/) const { return 0; }

void SerialPrimitives::compact_indices(const std::uint8_t* flags, std::uint8_t wanted, std::uint64_t n,
                                       std::uint32_t* out, std::uint64_t* count, Workspace& /*workspace*/,
                                       StreamView /*stream*/) {
  check_count(n);
  std::uint64_t kept = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    if (flags[i] == wanted) out[kept++] = static_cast<std::uint32_t>(i);
  }
  *count = kept;
}

void SerialPrimitives::partition(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags,
                                 std::uint64_t n, void* out, std::uint64_t* count, Workspace& /*workspace*/,
                                 StreamView /*stream*/) {
  check_count(n);
  check_item_bytes(item_bytes);
  with_item(item_bytes, [&]<typename T>(T) {
    const auto* from = static_cast<const T*>(items);
    auto* to = static_cast<T*>(out);
    for (std::uint64_t i = 0; i < n; ++i) {
      if (flags[i] != 0) *to++ = from[i];
    }
    *count = static_cast<std::uint64_t>(to - static_cast<T*>(out));
    for (std::uint64_t i = 0; i < n; ++i) {
      if (flags[i] == 0) *to++ = from[i];
    }
  });
}

void SerialPrimitives::histogram(const void* keys, std::uint32_t key_bytes, std::uint64_t n, unsigned begin_bit,
                                 unsigned bits, std::uint64_t* counts, Workspace& /*workspace*/,
                                 StreamView /*stream*/) {
  check_count(n);
  check_digit(key_bytes, begin_bit, bits);
  std::fill_n(counts, std::size_t{1} << bits, std::uint64_t{0});
  with_key(key_bytes, [&]<typename K>(K) {
    const auto* from = static_cast<const K*>(keys);
    for (std::uint64_t i = 0; i < n; ++i) ++counts[(from[i] >> begin_bit) & ((K{1} << bits) - 1)];
  });
}

std::size_t SerialPrimitives::histogram_scratch(std::uint64_t /*n*/, unsigned /*bits*/) const { return 0; }

int SerialPrimitives::sort(const SortBuffers& buffers, std::uint32_t key_bytes, std::uint64_t n, unsigned begin_bit,
                           unsigned end_bit, Workspace& workspace, StreamView /*stream*/) {
  check_sort_count(n, buffers.values[0] != nullptr);
  check_bit_range(key_bytes, begin_bit, end_bit);
  const WorkspaceScope scope(workspace);
  auto* order = workspace.take<std::uint64_t>(n);
  std::iota(order, order + n, std::uint64_t{0});
  with_key(key_bytes, [&]<typename K>(K) {
    const auto* from = static_cast<const K*>(buffers.keys[0]);
    auto* to = static_cast<K*>(buffers.keys[1]);
    const unsigned bits = end_bit - begin_bit;
    const K mask = bits == 8 * sizeof(K) ? static_cast<K>(~K{0}) : static_cast<K>((K{1} << bits) - 1);
    const auto part = [=](std::uint64_t i) { return bits == 0 ? K{0} : static_cast<K>((from[i] >> begin_bit) & mask); };
    // Ordered by position too, an unstable sort gives the stable order, and needs no memory of its own.
    std::sort(order, order + n,
              [&](std::uint64_t a, std::uint64_t b) { return part(a) != part(b) ? part(a) < part(b) : a < b; });
    for (std::uint64_t i = 0; i < n; ++i) to[i] = from[order[i]];
  });
  if (buffers.values[0] != nullptr) {
    for (std::uint64_t i = 0; i < n; ++i) buffers.values[1][i] = buffers.values[0][order[i]];
  }
  return 1;
}

std::size_t SerialPrimitives::sort_scratch(std::uint32_t /*key_bytes*/, std::uint64_t n) const {
  return Workspace::bytes_for<std::uint64_t>(n);
}

void SerialPrimitives::gather(const void* items, std::uint32_t item_bytes, const std::uint32_t* indices,
                              std::uint64_t n, void* out, StreamView /*stream*/) {
  check_count(n);
  check_gather_bytes(item_bytes);
  const auto* from = static_cast<const std::byte*>(items);
  auto* to = static_cast<std::byte*>(out);
  for (std::uint64_t i = 0; i < n; ++i) {
    std::memcpy(to + i * item_bytes, from + std::uint64_t{indices[i]} * item_bytes, item_bytes);
  }
}

void SerialPrimitives::find_runs(const void* keys, std::uint32_t key_bytes, std::uint64_t n, std::uint64_t* run_keys,
                                 std::uint32_t* run_first, std::uint64_t* runs, Workspace& /*workspace*/,
                                 StreamView /*stream*/) {
  check_count(n);
  check_key_bytes(key_bytes);
  with_key(key_bytes, [&]<typename K>(K) {
    const auto* from = static_cast<const K*>(keys);
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      if (i != 0 && from[i] == from[i - 1]) continue;
      run_keys[found] = from[i];
      run_first[found] = static_cast<std::uint32_t>(i);
      ++found;
    }
    *runs = found;
  });
}

std::size_t SerialPrimitives::find_runs_scratch(std::uint64_t /*n*/) const { return 0; }

void SerialPrimitives::reduce_by_key(const void* keys, std::uint32_t key_bytes, const std::int64_t* values,
                                     std::uint64_t n, std::uint64_t* run_keys, std::int64_t* sums, std::uint64_t* runs,
                                     Workspace& /*workspace*/, StreamView /*stream*/) {
  check_count(n);
  check_key_bytes(key_bytes);
  with_key(key_bytes, [&]<typename K>(K) {
    const auto* from = static_cast<const K*>(keys);
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < n;) {
      const std::uint64_t first = i;
      std::uint64_t sum = 0;  // unsigned, so that it may wrap
      for (; i < n && from[i] == from[first]; ++i) sum += static_cast<std::uint64_t>(values[i]);
      run_keys[found] = from[first];
      sums[found] = static_cast<std::int64_t>(sum);
      ++found;
    }
    *runs = found;
  });
}

std::size_t SerialPrimitives::reduce_by_key_scratch(std::uint64_t /*n*/) const { return 0; }

}  // namespace sluice::kernels
