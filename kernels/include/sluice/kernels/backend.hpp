// SPDX-License-Identifier: Apache-2.0
/// \file
/// A backend: memory, streams, copies, primitives and fused operations on one processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sluice/core/memory_resource.hpp"
#include "sluice/kernels/operations.hpp"
#include "sluice/kernels/primitives.hpp"
#include "sluice/kernels/stream.hpp"

namespace sluice::kernels {

class Backend {
 public:
  virtual ~Backend() = default;

  /// "serial", "cpu", "cuda" or "thrust".
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// True where `memory()` is not the host's, so that data must be copied.
  [[nodiscard]] virtual bool is_device() const noexcept = 0;
  /// Name of the processor, e.g. of the GPU; empty on the host.
  [[nodiscard]] virtual std::string device_name() const = 0;

  /// Memory that primitives and operations work on.
  [[nodiscard]] virtual MemoryResource& memory() noexcept = 0;
  /// Host memory that copies fastest to and from `memory()`.
  [[nodiscard]] virtual MemoryResource& staging_memory() noexcept = 0;
  /// Bytes of `memory()` that are free now; the largest number where the backend does not know.
  [[nodiscard]] virtual std::uint64_t free_bytes() const = 0;

  [[nodiscard]] virtual std::unique_ptr<Stream> make_stream() = 0;
  /// Copies host to backend memory; the host memory must live and stay unchanged until the stream has passed.
  virtual void upload(void* to, const void* from, std::size_t bytes, StreamView stream) = 0;
  /// Copies backend to host memory; valid after `wait`.
  virtual void download(void* to, const void* from, std::size_t bytes, StreamView stream) = 0;
  /// Waits for everything enqueued on a stream. \throws DeviceError where any of it failed
  virtual void wait(StreamView stream) = 0;

  [[nodiscard]] virtual Primitives& primitives() noexcept = 0;
  [[nodiscard]] virtual Operations& operations() noexcept = 0;
};

}  // namespace sluice::kernels
