// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the composed operations need of the primitives of a device beyond the public interface.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/cuda/bodies/compact.hpp"
#include "sluice/kernels/primitives.hpp"

namespace sluice::kernels::cuda {

using bodies::FlagTest;

class DevicePrimitives : public Primitives {
 public:
  explicit DevicePrimitives(int device) : device_(device) {}

  /// As `compact` and `compact_indices`, for any test of the flags; scratch as for `compact`.
  virtual void compact_where(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags, FlagTest test,
                             std::uint64_t n, void* out, std::uint64_t* count, Workspace& workspace,
                             StreamView stream) = 0;
  virtual void indices_where(const std::uint8_t* flags, FlagTest test, std::uint64_t n, std::uint32_t* out,
                             std::uint64_t* count, Workspace& workspace, StreamView stream) = 0;

  void compact(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags, std::uint64_t n, void* out,
               std::uint64_t* count, Workspace& workspace, StreamView stream) final {
    compact_where(items, item_bytes, flags, FlagTest::not_zero(), n, out, count, workspace, stream);
  }
  void compact_indices(const std::uint8_t* flags, std::uint8_t wanted, std::uint64_t n, std::uint32_t* out,
                       std::uint64_t* count, Workspace& workspace, StreamView stream) final {
    indices_where(flags, FlagTest::equals(wanted), n, out, count, workspace, stream);
  }

 protected:
  [[nodiscard]] int device() const noexcept { return device_; }

 private:
  int device_;
};

/// This project's kernels.
[[nodiscard]] std::unique_ptr<DevicePrimitives> make_cuda_primitives(int device);
/// Thrust and CUB.
[[nodiscard]] std::unique_ptr<DevicePrimitives> make_thrust_primitives(int device);

}  // namespace sluice::kernels::cuda
