// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the two host backends have in common: memory, streams that are always done, and programs kept as they are.
#pragma once

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/cpu/host_memory.hpp"
#include "sluice/core/error.hpp"
#include "sluice/core/memory_resource.hpp"
#include "sluice/kernels/backend.hpp"

namespace sluice::kernels {

/// Work on the host is done when a call returns, so there is nothing to hold.
class HostStream final : public Stream {
 public:
  [[nodiscard]] StreamView view() const noexcept override { return StreamView(nullptr); }
};

class HostBackend final : public Backend {
 public:
  HostBackend(std::string_view name, std::unique_ptr<Primitives> primitives, std::unique_ptr<Operations> operations)
      : name_(name), primitives_(std::move(primitives)), operations_(std::move(operations)) {}

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] bool is_device() const noexcept override { return false; }
  [[nodiscard]] std::string device_name() const override { return {}; }
  [[nodiscard]] MemoryResource& memory() noexcept override { return memory_; }
  [[nodiscard]] MemoryResource& staging_memory() noexcept override { return memory_; }
  [[nodiscard]] std::uint64_t free_bytes() const override { return std::numeric_limits<std::uint64_t>::max(); }
  [[nodiscard]] std::unique_ptr<Stream> make_stream() override { return std::make_unique<HostStream>(); }
  void upload(void* to, const void* from, std::size_t bytes, StreamView /*stream*/) override {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }
  void download(void* to, const void* from, std::size_t bytes, StreamView /*stream*/) override {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }
  void wait(StreamView /*stream*/) override {}
  [[nodiscard]] Primitives& primitives() noexcept override { return *primitives_; }
  [[nodiscard]] Operations& operations() noexcept override { return *operations_; }

 private:
  std::string_view name_;
  HugePageMemory memory_;
  std::unique_ptr<Primitives> primitives_;
  std::unique_ptr<Operations> operations_;
};

std::unique_ptr<Backend> make_serial_backend();
std::unique_ptr<Backend> make_cpu_backend();

}  // namespace sluice::kernels
