// SPDX-License-Identifier: Apache-2.0
/// \file
/// The primitives in blocks over the threads of the caller's arena: each block counts, counts become places, each block
/// writes. Results do not depend on the number of threads.
#pragma once

#include "sluice/kernels/primitives.hpp"

namespace sluice::kernels {

class ParallelPrimitives final : public Primitives {
 public:
  void exclusive_scan(const std::uint32_t* in, std::uint64_t n, std::uint64_t* out, std::uint64_t* total,
                      Workspace& workspace, StreamView stream) override;
  [[nodiscard]] std::size_t exclusive_scan_scratch(std::uint64_t n) const override;
  void exclusive_scan_wrapping(const std::uint32_t* in, std::uint64_t n, std::uint32_t* out, std::uint64_t* total,
                               Workspace& workspace, StreamView stream) override;
  void compact(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags, std::uint64_t n, void* out,
               std::uint64_t* count, Workspace& workspace, StreamView stream) override;
  [[nodiscard]] std::size_t compact_scratch(std::uint64_t n) const override;
  void compact_indices(const std::uint8_t* flags, std::uint8_t wanted, std::uint64_t n, std::uint32_t* out,
                       std::uint64_t* count, Workspace& workspace, StreamView stream) override;
  void partition(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags, std::uint64_t n, void* out,
                 std::uint64_t* count, Workspace& workspace, StreamView stream) override;
  void histogram(const void* keys, std::uint32_t key_bytes, std::uint64_t n, unsigned begin_bit, unsigned bits,
                 std::uint64_t* counts, Workspace& workspace, StreamView stream) override;
  [[nodiscard]] std::size_t histogram_scratch(std::uint64_t n, unsigned bits) const override;
  int sort(const SortBuffers& buffers, std::uint32_t key_bytes, std::uint64_t n, unsigned begin_bit, unsigned end_bit,
           Workspace& workspace, StreamView stream) override;
  [[nodiscard]] std::size_t sort_scratch(std::uint32_t key_bytes, std::uint64_t n) const override;
  void gather(const void* items, std::uint32_t item_bytes, const std::uint32_t* indices, std::uint64_t n, void* out,
              StreamView stream) override;
  void find_runs(const void* keys, std::uint32_t key_bytes, std::uint64_t n, std::uint64_t* run_keys,
                 std::uint32_t* run_first, std::uint64_t* runs, Workspace& workspace, StreamView stream) override;
  [[nodiscard]] std::size_t find_runs_scratch(std::uint64_t n) const override;
  void reduce_by_key(const void* keys, std::uint32_t key_bytes, const std::int64_t* values, std::uint64_t n,
                     std::uint64_t* run_keys, std::int64_t* sums, std::uint64_t* runs, Workspace& workspace,
                     StreamView stream) override;
  [[nodiscard]] std::size_t reduce_by_key_scratch(std::uint64_t n) const override;
};

}  // namespace sluice::kernels
