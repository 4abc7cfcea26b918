// SPDX-License-Identifier: Apache-2.0
/// \file
/// Memory of the emulated device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "kernels/simt/emulated/shadow.hpp"

namespace sluice::simt::emulated {

/// Hands out stretches of one address space, with a margin behind each that belongs to nobody. What is handed out holds
/// a pattern that no test expects.
class Heap {
 public:
  static constexpr std::size_t kBytes = std::size_t{4} << 30;

  explicit Heap(Shadow& shadow) : shadow_(shadow) { free_[0] = kBytes; }

  /// \return null where there is no room
  void* allocate(std::size_t bytes);
  /// \return whether it was allocated
  bool deallocate(void* block);
  /// Whether all bytes belong to one allocation.
  [[nodiscard]] bool holds(const void* at, std::size_t bytes) const;
  /// The allocation that an address is in or, in a margin, next to; size 0 where there is none.
  struct Block {
    std::size_t begin;
    std::size_t bytes;
  };
  [[nodiscard]] Block block_near(std::size_t offset) const;
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  static constexpr std::size_t kAlignment = 256;
  static constexpr std::size_t kMargin = 1024;
  static std::size_t room(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment + kMargin; }

  Shadow& shadow_;
  std::map<std::size_t, std::size_t> free_;  ///< offset, bytes
  std::map<std::size_t, std::size_t> used_blocks_;
  std::size_t used_ = 0;
};

}  // namespace sluice::simt::emulated
