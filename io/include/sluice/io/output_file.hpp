// SPDX-License-Identifier: Apache-2.0
/// \file
/// A file that gets its name when it is complete.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

namespace sluice::io {

/// Written beside its target under a hidden unique name and renamed by `publish`; destruction without that removes it,
/// as does `remove_unfinished_outputs`. A symbolic link is followed (one that leads nowhere is replaced), and a file
/// that is replaced leaves its permissions to the new one. Standard output (`-`), pipes and devices are spooled to an
/// unnamed file and sent by `publish`.
class OutputFile {
 public:
  /// \throws IoError where the target is a folder, exists and must not be replaced, or nothing can be created beside it
  OutputFile(const std::string& path, bool overwrite);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// As the user named it, for messages.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Writes `count` bytes at byte `at`. Any thread; ranges of calls at the same time must not overlap.
  /// \throws IoError
  void write_at(std::uint64_t at, const std::byte* data, std::uint64_t count) const;
  /// Sets the length and makes sure that all bytes were taken by the file system. Nothing can be written afterwards.
  /// \throws IoError
  void complete(std::uint64_t length);
  /// Gives the file its name.
  /// \throws IoError
  void publish();

 private:
  void create_beside();
  void allocate(std::uint64_t end) const noexcept;
  void rename_without_replacing() const;

  std::string path_;
  std::string target_;     ///< where the file goes, with symbolic links followed; empty for a spooled output
  std::string temporary_;  ///< absolute
  void* slot_ = nullptr;   ///< of the registry of unfinished outputs
  int fd_ = -1;
  bool overwrite_ = false;
  bool published_ = false;
  mutable std::mutex allocating_;
  mutable std::atomic<std::uint64_t> allocated_{0};  ///< bytes from the beginning that have their place on the disk
};

}  // namespace sluice::io
