// SPDX-License-Identifier: Apache-2.0
/// \file
/// Address space that is backed by memory where it is touched.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace sluice::simt::emulated {

/// Zero until written.
class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : begin_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
        bytes_(bytes) {
    if (begin_ == MAP_FAILED) throw std::bad_alloc();
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(begin_, bytes_); }

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(begin_); }
  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  void* begin_;
  std::size_t bytes_;
};

}  // namespace sluice::simt::emulated
