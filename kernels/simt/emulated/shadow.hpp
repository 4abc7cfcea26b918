// SPDX-License-Identifier: Apache-2.0
/// \file
/// What is known of every byte of a stretch of emulated memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/simt/emulated/pages.hpp"

namespace sluice::simt::emulated {

enum class ByteState : std::uint8_t {
  kNone = 0,     ///< not part of an allocation
  kRaw = 1,      ///< nobody has written it
  kWritten = 2,  ///< what a kernel may read
  kCopying = 3,  ///< target of a copy that nobody has waited for
};

/// Who touched some bytes last, as stamps of the checker; 0: nobody since the cells were cleared. Two readers are
/// enough: whoever writes is at most one of them.
struct Cell {
  std::uint64_t write = 0;
  std::uint64_t reads[2] = {0, 0};
};

/// Cells stand for four bytes, or for single bytes in pages where something smaller has been touched. They count for
/// one generation (a launch, or a block in shared memory) and are cleared when a page is first touched in the next one.
class Shadow {
 public:
  explicit Shadow(std::size_t bytes)
      : memory_(bytes),
        states_(bytes),
        cells_(bytes * sizeof(Cell)),
        pages_((bytes / kPage + 1) * sizeof(Page)),
        base_(reinterpret_cast<std::uintptr_t>(memory_.data())) {}

  [[nodiscard]] std::byte* data() const { return memory_.data(); }
  [[nodiscard]] std::size_t size() const { return memory_.size(); }
  [[nodiscard]] bool holds(std::uintptr_t at) const { return at - base_ < memory_.size(); }
  [[nodiscard]] std::size_t offset_of(std::uintptr_t at) const { return at - base_; }

  [[nodiscard]] ByteState* states(std::size_t offset) const {
    return reinterpret_cast<ByteState*>(states_.data()) + offset;
  }
  void set_states(std::size_t offset, std::size_t bytes, ByteState state) const {
    std::memset(states_.data() + offset, static_cast<int>(state), bytes);
  }

  /// Calls `body(cell, offset)` for the cells of some bytes until it gives back false.
  template <typename BodyT>
  void for_cells(std::size_t offset, std::size_t bytes, std::uint32_t generation, const BodyT& body) {
    const bool small = (offset | bytes) % 4 != 0;
    for (std::size_t at = offset; at < offset + bytes;) {
      const bool by_bytes = prepare(at / kPage, generation, small);
      const std::size_t page_end = (at / kPage + 1) * kPage;
      const std::size_t end = page_end < offset + bytes ? page_end : offset + bytes;
      for (; at < end; at += by_bytes ? 1 : 4) {
        if (!body(cells()[at], at)) return;
      }
    }
  }
  /// The last write to a byte, or 0.
  [[nodiscard]] std::uint64_t last_write(std::size_t offset, std::uint32_t generation) const {
    const Page& page = pages()[offset / kPage];
    if (page.generation != generation) return 0;
    return cells()[page.by_bytes ? offset : offset / 4 * 4].write;
  }

 private:
  static constexpr std::size_t kPage = 4096;
  struct Page {
    std::uint32_t generation;
    bool by_bytes;
  };

  [[nodiscard]] Cell* cells() const { return reinterpret_cast<Cell*>(cells_.data()); }
  [[nodiscard]] Page* pages() const { return reinterpret_cast<Page*>(pages_.data()); }

  /// \return whether there is a cell for each byte
  bool prepare(std::size_t index, std::uint32_t generation, bool small) {
    Page& page = pages()[index];
    Cell* const first = cells() + index * kPage;
    if (page.generation != generation) {
      page = {generation, small};
      for (std::size_t i = 0; i < kPage; i += small ? 1 : 4) first[i] = Cell{};
    } else if (small && !page.by_bytes) {
      page.by_bytes = true;
      for (std::size_t i = 0; i < kPage; ++i) first[i] = first[i / 4 * 4];
    }
    return page.by_bytes;
  }

  Pages memory_;
  Pages states_;
  Pages cells_;
  Pages pages_;
  std::uintptr_t base_;
};

}  // namespace sluice::simt::emulated
