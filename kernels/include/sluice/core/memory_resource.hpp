// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where memory comes from: the host's or a device's, plain or limited and counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>

#include "sluice/core/error.hpp"

namespace sluice {

/// A source of memory. Blocks are aligned to 256 bytes.
class MemoryResource {
 public:
  static constexpr std::size_t kAlignment = 256;
  virtual ~MemoryResource() = default;
  /// \throws OutOfMemory
  virtual void* allocate(std::size_t bytes, const char* purpose) = 0;
  virtual void deallocate(void* block, std::size_t bytes) noexcept = 0;
};

/// Plain host memory.
class HostMemory final : public MemoryResource {
 public:
  void* allocate(std::size_t bytes, const char* purpose) override {
    const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    void* block = std::aligned_alloc(kAlignment, rounded == 0 ? kAlignment : rounded);
    if (block == nullptr) throw OutOfMemory(bytes, 0, purpose);
    return block;
  }
  void deallocate(void* block, std::size_t /*bytes*/) noexcept override { std::free(block); }
};

/// Passes on to another resource, refuses to hand out more than a limit, and counts.
class LimitedMemory final : public MemoryResource {
 public:
  LimitedMemory(MemoryResource& upstream, std::uint64_t limit_bytes) : upstream_(upstream), limit_(limit_bytes) {}
  void* allocate(std::size_t bytes, const char* purpose) override {
    if (in_use_.fetch_add(bytes) + bytes > limit_) {
      in_use_.fetch_sub(bytes);
      throw OutOfMemory(bytes, limit_, purpose);
    }
    try {
      void* block = upstream_.allocate(bytes, purpose);
      ++allocations_;
      return block;
    } catch (...) {
      in_use_.fetch_sub(bytes);
      throw;
    }
  }
  void deallocate(void* block, std::size_t bytes) noexcept override {
    upstream_.deallocate(block, bytes);
    in_use_.fetch_sub(bytes);
  }
  [[nodiscard]] std::uint64_t in_use() const { return in_use_.load(); }
  [[nodiscard]] std::uint64_t allocations() const { return allocations_.load(); }

 private:
  MemoryResource& upstream_;
  std::uint64_t limit_;
  std::atomic<std::uint64_t> in_use_{0};
  std::atomic<std::uint64_t> allocations_{0};
};

/// Untyped block of one resource, freed with it. Move only.
class MemoryBlock {
 public:
  MemoryBlock() = default;
  MemoryBlock(MemoryResource& resource, std::size_t bytes, const char* purpose)
      : resource_(&resource), data_(resource.allocate(bytes, purpose)), bytes_(bytes) {}
  MemoryBlock(const MemoryBlock&) = delete;
  MemoryBlock& operator=(const MemoryBlock&) = delete;
  MemoryBlock(MemoryBlock&& other) noexcept : resource_(other.resource_), data_(other.data_), bytes_(other.bytes_) {
    other.data_ = nullptr;
    other.bytes_ = 0;
  }
  MemoryBlock& operator=(MemoryBlock&& other) noexcept {
    if (this != &other) {
      reset();
      resource_ = other.resource_;
      data_ = other.data_;
      bytes_ = other.bytes_;
      other.data_ = nullptr;
      other.bytes_ = 0;
    }
    return *this;
  }
  ~MemoryBlock() { reset(); }
  void reset() noexcept {
    if (data_ != nullptr) resource_->deallocate(data_, bytes_);
    data_ = nullptr;
    bytes_ = 0;
  }
  [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  template <typename T>
  [[nodiscard]] T* as() const noexcept {
    return static_cast<T*>(data_);
  }

 private:
  MemoryResource* resource_ = nullptr;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace sluice
