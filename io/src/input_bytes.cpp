// SPDX-License-Identifier: Apache-2.0
#include "input_bytes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "posix.hpp"

namespace sluice::io {
namespace {

// The kernel maps up to this much around the page that was touched (64 KiB of small pages; since Linux 6.18 the whole
// of a large folio), so this is the unit in which pages are given back.
constexpr std::uint64_t kFaultAround = std::uint64_t{2} << 20;
constexpr std::uintptr_t kPageBytes = 4096;
// Most windows that were read in part only.
constexpr std::uint64_t kMostPending = 16;

}  // namespace

std::shared_ptr<const InputBytes> InputBytes::open(const std::string& path) {
  const std::shared_ptr<InputBytes> out(new InputBytes);
  const bool standard_input = path == "-";
  out->path_ = standard_input ? "<standard input>" : path;
  int fd = standard_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw system_error(out->path_, "cannot open", errno);
  out->fd_ = fd;  // from here on the destructor closes it
  struct stat status {};
  if (::fstat(fd, &status) != 0) throw system_error(out->path_, "cannot be examined", errno);
  if (S_ISDIR(status.st_mode)) throw IoError(out->path_, "is a directory");
  // Standard input may be a file of which somebody has read the beginning, so it is copied from its position on.
  if (standard_input || !S_ISREG(status.st_mode)) {
    const int spool = open_unnamed_file();
    out->fd_ = spool;
    try {
      out->size_ = copy_all(fd, spool, out->path_, "temporary copy of " + out->path_);
    } catch (...) {
      ::close(fd);
      throw;
    }
    ::close(fd);
    fd = spool;
  } else {
    out->size_ = static_cast<std::uint64_t>(status.st_size);
  }
  out->map(fd, out->size_);
  return out;
}

std::shared_ptr<const InputBytes> InputBytes::of_memory(std::string name, std::vector<std::byte> bytes) {
  const std::shared_ptr<InputBytes> out(new InputBytes);
  out->path_ = std::move(name);
  out->memory_ = std::move(bytes);
  out->data_ = out->memory_.data();
  out->size_ = out->memory_.size();
  return out;
}

void InputBytes::map(int fd, std::uint64_t bytes) {
  if (bytes == 0) return;
  void* base = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) throw system_error(path_, "cannot map", errno);
  data_ = static_cast<const std::byte*>(base);
  ::madvise(base, bytes, MADV_SEQUENTIAL);
  released_.resize((bytes + kFaultAround - 1) / kFaultAround + 1);
}

InputBytes::~InputBytes() {
  if (fd_ >= 0) {
    if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
    ::close(fd_);
  }
}

void InputBytes::check_length() const {
  if (fd_ < 0) return;
  struct stat status {};
  if (::fstat(fd_, &status) != 0) throw system_error(path_, "cannot be examined", errno);
  if (static_cast<std::uint64_t>(status.st_size) < size_) {
    throw IoError(path_, "became shorter while it was read: " + std::to_string(size_) + " bytes at first, now " +
                             std::to_string(status.st_size));
  }
}

void InputBytes::prefetch(std::uint64_t first, std::uint64_t count) const noexcept {
  if (fd_ < 0 || first >= size_) return;
  const std::uint64_t begin = first / kFaultAround * kFaultAround;
  const std::uint64_t end = std::min(size_, first + std::min(count, size_ - first));
  ::madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_WILLNEED);
}

void InputBytes::map_pages(const std::byte* first, std::uint64_t count) const noexcept {
#ifdef MADV_POPULATE_READ
  if (fd_ < 0 || count == 0) return;
  const auto base = reinterpret_cast<std::uintptr_t>(data_);
  const auto at = reinterpret_cast<std::uintptr_t>(first);
  const std::uintptr_t from = std::max(base, at / kPageBytes * kPageBytes);
  // Kernels before 5.14 do not know that; the pages then come one by one.
  ::madvise(const_cast<std::byte*>(data_) + (from - base), at + count - from, MADV_POPULATE_READ);
#else
  (void)first, (void)count;
#endif
}

/// The part of the file in a window: these lie at multiples of their size in memory, not in the file.
std::pair<std::uint64_t, std::uint64_t> InputBytes::bytes_of_window(std::uint64_t window) const noexcept {
  const std::uint64_t shift = reinterpret_cast<std::uintptr_t>(data_) % kFaultAround;
  const std::uint64_t from = window == 0 ? 0 : window * kFaultAround - shift;
  return {from, std::min(size_, (window + 1) * kFaultAround - shift)};
}

/// A window is dropped when all of it was released: earlier, pages that somebody reads would have to be mapped again,
/// and a system call that they were handed to would find them missing.
void InputBytes::release(const std::byte* first, std::uint64_t count) const noexcept {
  if (fd_ < 0 || count == 0) return;
  const auto begin = static_cast<std::uint64_t>(first - data_);
  count = std::min(count, size_ - begin);
  const std::uint64_t shift = reinterpret_cast<std::uintptr_t>(data_) % kFaultAround;
  const std::uint64_t last = (begin + count - 1 + shift) / kFaultAround;
  const std::lock_guard lock(releasing_);
  std::uint64_t drop_from = begin;
  std::uint64_t drop_to = begin;
  for (std::uint64_t window = (begin + shift) / kFaultAround; window <= last; ++window) {
    const auto [from, to] = bytes_of_window(window);
    const std::uint64_t part = std::min(to, begin + count) - std::max(from, begin);
    if (released_[window] == 0) ++pending_;
    released_[window] += part;
    if (released_[window] < to - from) continue;
    --pending_;
    released_[window] = 0;
    if (drop_to != from) {
      drop(drop_from, drop_to);
      drop_from = from;
    }
    drop_to = to;
  }
  drop(drop_from, drop_to);
  // Where parts of many windows are never read, what was read of them does not pile up.
  if (pending_ <= kMostPending) return;
  drop(0, size_);
  std::fill(released_.begin(), released_.end(), 0);
  pending_ = 0;
}

void InputBytes::drop(std::uint64_t from, std::uint64_t to) const noexcept {
  if (from < to) ::madvise(const_cast<std::byte*>(data_) + from, to - from, MADV_DONTNEED);
}

}  // namespace sluice::io
