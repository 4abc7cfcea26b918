// SPDX-License-Identifier: Apache-2.0
/// \file
/// The bytes of an input: a mapped file, or memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
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

  /// \throws IoError where the file is shorter than it was when it was mapped
  void check_length() const;
  /// Starts reading a part from disk.
  void prefetch(std::uint64_t first, std::uint64_t count) const noexcept;
  void release(const std::byte* first, std::uint64_t count) const noexcept override;

 private:
  InputBytes() = default;
  void map(int fd, std::uint64_t bytes);

  std::string path_;
  std::vector<std::byte> memory_;
  const std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
  int fd_ = -1;
};

}  // namespace sluice::io
