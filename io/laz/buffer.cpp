// SPDX-License-Identifier: Apache-2.0
#include "buffer.hpp"

#include <algorithm>
#include <cstring>

namespace sluice::laz {

void Buffer::reserve(std::uint64_t more) {
  if (size_ + more <= capacity_) return;
  const std::uint64_t capacity = std::max(size_ + more, capacity_ + capacity_ / 2);
  auto larger = std::make_unique_for_overwrite<std::byte[]>(capacity);
  if (size_ != 0) std::memcpy(larger.get(), data_.get(), size_);
  data_ = std::move(larger);
  capacity_ = capacity;
}

void Buffer::append(const std::byte* from, std::uint64_t count) {
  if (count == 0) return;
  reserve(count);
  std::memcpy(data_.get() + size_, from, count);
  size_ += count;
}

}  // namespace sluice::laz
