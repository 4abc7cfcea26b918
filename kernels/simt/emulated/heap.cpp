// SPDX-License-Identifier: Apache-2.0
#include "kernels/simt/emulated/heap.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "kernels/simt/emulated/fiber.hpp"

namespace sluice::simt::emulated {

namespace {

/// Larger blocks keep what they hold: filling them would take longer than most tests.
constexpr std::size_t kMostFilled = std::size_t{8} << 20;
constexpr int kPattern = 0xa5;

}  // namespace

void* Heap::allocate(std::size_t bytes) {
  if (bytes > kBytes) return nullptr;
  const std::size_t wanted = room(bytes);
  const auto at = std::find_if(free_.begin(), free_.end(), [&](const auto& hole) { return hole.second >= wanted; });
  if (at == free_.end()) return nullptr;
  const auto [begin, hole] = *at;
  free_.erase(at);
  if (hole > wanted) free_[begin + wanted] = hole - wanted;
  used_blocks_[begin] = bytes;
  used_ += wanted;
  std::byte* const block = shadow_.data() + begin;
  allow(block, bytes);
  forbid(block + bytes, wanted - bytes);
  shadow_.set_states(begin, bytes, ByteState::kRaw);
  shadow_.set_states(begin + bytes, wanted - bytes, ByteState::kNone);
  std::memset(block, kPattern, std::min(bytes, kMostFilled));
  return block;
}

bool Heap::deallocate(void* block) {
  const std::size_t begin = shadow_.offset_of(reinterpret_cast<std::uintptr_t>(block));
  const auto at = used_blocks_.find(begin);
  if (at == used_blocks_.end()) return false;
  const std::size_t bytes = at->second;
  used_blocks_.erase(at);
  used_ -= room(bytes);
  shadow_.set_states(begin, bytes, ByteState::kNone);
  forbid(block, bytes);
  auto hole = free_.emplace(begin, room(bytes)).first;
  const auto next = std::next(hole);
  if (next != free_.end() && hole->first + hole->second == next->first) {
    hole->second += next->second;
    free_.erase(next);
  }
  if (hole != free_.begin()) {
    const auto before = std::prev(hole);
    if (before->first + before->second == hole->first) {
      before->second += hole->second;
      free_.erase(hole);
    }
  }
  return true;
}

bool Heap::holds(const void* at, std::size_t bytes) const {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  if (!shadow_.holds(address)) return false;
  const std::size_t offset = shadow_.offset_of(address);
  const Block block = block_near(offset);
  return bytes <= block.bytes && offset - block.begin <= block.bytes - bytes;
}

Heap::Block Heap::block_near(std::size_t offset) const {
  auto at = used_blocks_.upper_bound(offset);
  if (at == used_blocks_.begin()) return {0, 0};
  --at;
  return {at->first, at->second};
}

}  // namespace sluice::simt::emulated
