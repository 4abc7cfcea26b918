// SPDX-License-Identifier: Apache-2.0
/// \file
/// Memory of the host that nobody has to clear first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace sluice::laz {

/// Bytes that grow at the end.
class Buffer {
 public:
  [[nodiscard]] std::byte* data() { return data_.get(); }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_.get(), size_}; }
  void clear() { size_ = 0; }

  /// Sees that `more` bytes can be put behind the present ones; those may move.
  void reserve(std::uint64_t more);
  /// Makes the buffer end there; bytes that are new hold anything. Within what was reserved.
  void resize(std::uint64_t size) { size_ = size; }
  void append(const std::byte* from, std::uint64_t count);

 private:
  std::unique_ptr<std::byte[]> data_;
  std::uint64_t size_ = 0;
  std::uint64_t capacity_ = 0;
};

}  // namespace sluice::laz
