// SPDX-License-Identifier: Apache-2.0
/// \file
/// The bytes of an input: a mapped file, or memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sluice/io/las.hpp"

namespace sluice::io {

/// Read-only bytes of one input. Any thread.
class InputBytes final : public ByteStore {
 public:
  /// Maps a file; standard input (`-`), pipes and devices are spooled first.
  /// \throws IoError
  static std::shared_ptr<const InputBytes> open(const std::string& path);
  static std::shared_ptr<const InputBytes> of_memory(std::string name, std::vector<std::byte> bytes);

  InputBytes(const InputBytes&) = delete;
  InputBytes& operator=(const InputBytes&) = delete;
  ~InputBytes() override;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// Of these, those in memory that is not the page cache.
  [[nodiscard]] std::uint64_t held_bytes() const noexcept { return memory_.size(); }

  /// \throws IoError where the file is shorter than it was when it was mapped
  void check_length() const;
  /// Starts reading a part from disk.
  void prefetch(std::uint64_t first, std::uint64_t count) const noexcept;
  /// Maps the pages of a part at once, reading from disk what is not in memory.
  void map_pages(const std::byte* first, std::uint64_t count) const noexcept;
  void release(const std::byte* first, std::uint64_t count) const noexcept override;

 private:
  InputBytes() = default;
  void map(int fd, std::uint64_t bytes);
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> bytes_of_window(std::uint64_t window) const noexcept;
  void drop(std::uint64_t from, std::uint64_t to) const noexcept;

  std::string path_;
  std::vector<std::byte> memory_;
  const std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
  int fd_ = -1;
  mutable std::mutex releasing_;                 ///< guards the next two
  mutable std::vector<std::uint64_t> released_;  ///< bytes of each window that were released since it was dropped
  mutable std::uint64_t pending_ = 0;            ///< those of which something was
};

}  // namespace sluice::io
