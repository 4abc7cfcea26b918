// SPDX-License-Identifier: Apache-2.0
/// \file
/// Scratch memory that shows who trusts what is in it, or writes beyond it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "sluice/core/memory_resource.hpp"
#include "sluice/core/random.hpp"
#include "sluice/kernels/backend.hpp"

namespace sluice::test {

/// \param seed  0: all bits set; else random bytes
inline std::vector<std::byte> garbage(std::size_t bytes, std::uint64_t seed) {
  std::vector<std::byte> out(bytes, std::byte{0xff});
  if (seed == 0) return out;
  for (std::size_t i = 0; i < bytes; i += sizeof(std::uint64_t)) {
    const std::uint64_t word = counter_random(seed, i);
    std::memcpy(out.data() + i, &word, std::min(sizeof word, bytes - i));
  }
  return out;
}

/// Memory of a backend, full of garbage when handed out, between margins that must be untouched when it comes back.
class DirtyMemory final : public MemoryResource {
 public:
  DirtyMemory(kernels::Backend& backend, kernels::StreamView stream) : backend_(backend), stream_(stream) {}

  void* allocate(std::size_t bytes, const char* purpose) override {
    auto* block = static_cast<std::byte*>(backend_.memory().allocate(bytes + 2 * kMargin, purpose));
    const std::vector<std::byte> margin(kMargin, kPoison);
    put(block, margin);
    put(block + kMargin, garbage(bytes, allocations_++));
    put(block + kMargin + bytes, margin);
    return block + kMargin;
  }

  void deallocate(void* at, std::size_t bytes) noexcept override {
    std::byte* const block = static_cast<std::byte*>(at) - kMargin;
    EXPECT_TRUE(is_margin(block)) << "bytes before scratch memory were written";
    EXPECT_TRUE(is_margin(block + kMargin + bytes)) << "bytes behind scratch memory were written";
    backend_.memory().deallocate(block, bytes + 2 * kMargin);
  }

 private:
  static constexpr std::size_t kMargin = 4 * kAlignment;
  static constexpr std::byte kPoison{0xcd};

  void put(std::byte* to, const std::vector<std::byte>& from) {
    backend_.upload(to, from.data(), from.size(), stream_);
    backend_.wait(stream_);
  }
  bool is_margin(const std::byte* at) {
    std::vector<std::byte> found(kMargin);
    backend_.download(found.data(), at, kMargin, stream_);
    backend_.wait(stream_);
    return std::all_of(found.begin(), found.end(), [](std::byte b) { return b == kPoison; });
  }

  kernels::Backend& backend_;
  kernels::StreamView stream_;
  std::uint64_t allocations_ = 0;
};

}  // namespace sluice::test
