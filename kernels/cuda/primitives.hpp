// SPDX-License-Identifier: Apache-2.0
/// \file
/// The primitives from this project's kernels. Each function is in the source file of its name.
#pragma once

#include "kernels/cuda/detail/device_primitives.hpp"

namespace sluice::kernels::cuda {

/// Shared with the Thrust primitives: CUB's partition turns the second part round, and neither library gathers items of
/// any size.
void partition_flagged(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags, std::uint64_t n,
                       void* out, std::uint64_t* count, Workspace& workspace, StreamView stream);
[[nodiscard]] std::size_t partition_flagged_scratch(std::uint64_t n);
void gather_items(const void* items, std::uint32_t item_bytes, const std::uint32_t* indices, std::uint64_t n, void* out,
                  StreamView stream);

class CudaPrimitives final : public DevicePrimitives {
 public:
  using DevicePrimitives::DevicePrimitives;

  void exclusive_scan(const std::uint32_t* in, std::uint64_t n, std::uint64_t* out, std::uint64_t* total,
                      Workspace& workspace, StreamView stream) override;
  [[nodiscard]] std::size_t exclusive_scan_scratch(std::uint64_t n) const override;
  void exclusive_scan_wrapping(const std::uint32_t* in, std::uint64_t n, std::uint32_t* out, std::uint64_t* total,
                               Workspace& workspace, StreamView stream) override;
  void compact_where(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags, FlagTest test,
                     std::uint64_t n, void* out, std::uint64_t* count, Workspace& workspace,
                     StreamView stream) override;
  void indices_where(const std::uint8_t* flags, FlagTest test, std::uint64_t n, std::uint32_t* out,
                     std::uint64_t* count, Workspace& workspace, StreamView stream) override;
  void partition(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags, std::uint64_t n, void* out,
                 std::uint64_t* count, Workspace& workspace, StreamView stream) override;
  [[nodiscard]] std::size_t compact_scratch(std::uint64_t n) const override;
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

}  // namespace sluice::kernels::cuda
