// SPDX-License-Identifier: Apache-2.0
/// \file
/// Streams and scratch memory of a backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "sluice/core/error.hpp"
#include "sluice/core/memory_resource.hpp"

namespace sluice::kernels {

/// Names a queue of work of one backend; does not own it. On the CPU all work is done when a call returns and the
/// handle is null; on a GPU it is a `cudaStream_t` of the backend's device, whoever made it.
class StreamView {
 public:
  explicit StreamView(void* handle) : handle_(handle) {}
  [[nodiscard]] void* handle() const noexcept { return handle_; }

 private:
  void* handle_;
};

/// Owns a queue of work.
class Stream {
 public:
  virtual ~Stream() = default;
  [[nodiscard]] virtual StreamView view() const noexcept = 0;
};

/// Scratch memory for one stream or thread: allocated once, handed out from the front, given back all at once. It must
/// live until the work enqueued with it is done.
class Workspace {
 public:
  Workspace(MemoryResource& memory, std::size_t bytes, const char* purpose = "scratch")
      : block_(memory, bytes == 0 ? MemoryResource::kAlignment : bytes, purpose) {}

  /// Uninitialised room for `count` values of T, aligned to 256 bytes.
  /// \throws OutOfMemory where the workspace is too small, which means that a scratch size was computed wrongly
  template <typename T>
  T* take(std::uint64_t count) {
    const std::size_t bytes = bytes_for<T>(count);
    if (bytes > block_.size() - used_) throw OutOfMemory(used_ + bytes, block_.size(), "a workspace");
    std::byte* out = block_.data() + used_;
    used_ += bytes;
    return reinterpret_cast<T*>(out);
  }

  /// Bytes that `take<T>(count)` uses.
  template <typename T>
  [[nodiscard]] static std::size_t bytes_for(std::uint64_t count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
    return (bytes + MemoryResource::kAlignment - 1) / MemoryResource::kAlignment * MemoryResource::kAlignment;
  }

  [[nodiscard]] std::size_t used() const noexcept { return used_; }
  [[nodiscard]] std::size_t size() const noexcept { return block_.size(); }
  /// Gives back everything taken since `used()` was `mark`.
  void rewind(std::size_t mark) noexcept { used_ = mark; }

 private:
  MemoryBlock block_;
  std::size_t used_ = 0;
};

/// Gives back at the end of a scope what was taken in it.
class WorkspaceScope {
 public:
  explicit WorkspaceScope(Workspace& workspace) : workspace_(workspace), mark_(workspace.used()) {}
  WorkspaceScope(const WorkspaceScope&) = delete;
  WorkspaceScope& operator=(const WorkspaceScope&) = delete;
  ~WorkspaceScope() { workspace_.rewind(mark_); }

 private:
  Workspace& workspace_;
  std::size_t mark_;
};

}  // namespace sluice::kernels
