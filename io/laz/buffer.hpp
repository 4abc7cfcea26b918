// SPDX-License-Identifier: Apache-2.0
/// \file
/// Memory of the host that nobody has to clear first, and streams encoded into it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "encoder.hpp"

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

/// Appends one arithmetic stream of the points 1 to `count` - 1, making room for a block of points at a time.
///
/// \param point_bytes  that a coded point takes at most
/// \param code         code(coder, first, count) codes a block
template <typename Code>
void encode_stream(Buffer& out, std::uint64_t count, std::uint64_t point_bytes, const Code& code) {
  constexpr std::uint64_t kBlock = 512;
  const std::uint64_t begin = out.size();
  const std::uint64_t room = kBlock * point_bytes + Encoder::kSlack;
  out.reserve(room);
  Encoder coder;
  coder.start(out.data() + begin);
  for (std::uint64_t i = 1; i < count; i += kBlock) {
    out.resize(begin + coder.written());
    out.reserve(room);
    coder.rebase(out.data() + begin);
    code(coder, i, std::min(kBlock, count - i));
  }
  out.resize(begin + coder.finish());
}

}  // namespace sluice::laz
