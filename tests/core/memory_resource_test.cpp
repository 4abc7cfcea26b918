// SPDX-License-Identifier: Apache-2.0
#include "sluice/core/memory_resource.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace sluice {
namespace {

TEST(HostMemory, AlignsBlocks) {
  HostMemory memory;
  for (const std::size_t bytes : {0U, 1U, 255U, 256U, 100000U}) {
    MemoryBlock block(memory, bytes, "a test");
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data()) % MemoryResource::kAlignment, 0U);
    EXPECT_EQ(block.size(), bytes);
  }
}

TEST(LimitedMemory, CountsAndRefuses) {
  HostMemory host;
  LimitedMemory memory(host, 1000);
  {
    MemoryBlock first(memory, 600, "first");
    EXPECT_EQ(memory.in_use(), 600U);
    try {
      MemoryBlock second(memory, 401, "second");
      FAIL() << "the limit was passed";
    } catch (const OutOfMemory& error) {
      EXPECT_EQ(error.bytes(), 401U);
      EXPECT_EQ(error.limit(), 1000U);
      EXPECT_NE(std::string(error.what()).find("second"), std::string::npos);
    }
    EXPECT_EQ(memory.in_use(), 600U);
    MemoryBlock third(memory, 400, "third");
    EXPECT_EQ(memory.allocations(), 2U);
  }
  EXPECT_EQ(memory.in_use(), 0U);
}

TEST(MemoryBlock, MovesWithoutCopyingOrLeaking) {
  HostMemory host;
  LimitedMemory memory(host, 1 << 20);
  MemoryBlock a(memory, 100, "a");
  const std::byte* data = a.data();
  MemoryBlock b(std::move(a));
  EXPECT_EQ(b.data(), data);
  MemoryBlock c(memory, 50, "c");
  c = std::move(b);
  EXPECT_EQ(c.data(), data);
  EXPECT_EQ(memory.in_use(), 100U);
  c.reset();
  EXPECT_EQ(memory.in_use(), 0U);
}

}  // namespace
}  // namespace sluice
