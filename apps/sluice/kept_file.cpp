// SPDX-License-Identifier: Apache-2.0
#include "kept_file.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "messages.hpp"
#include "sluice/core/error.hpp"

namespace sluice::app {

namespace {

/// A name beside the target that nothing has.
std::string free_name_beside(const std::string& target) {
  static std::atomic<unsigned> counter{0};
  const std::filesystem::path folder = std::filesystem::path(target).parent_path();
  for (;;) {
    const std::string name = fmt::format(".sluice-{}-{}.old", ::getpid(), counter++);
    const std::string path = (folder / name).string();
    struct stat there = {};
    if (::lstat(path.c_str(), &there) != 0) return path;
  }
}

}  // namespace

bool is_stream(const std::string& path) {
  if (path == "-") return true;
  struct stat there = {};
  return ::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode);
}

KeptFile::KeptFile(const std::string& path, bool replaces) : stream_(is_stream(path)), target_(path) {
  if (stream_ || !replaces) return;
  std::error_code missing;
  const std::filesystem::path resolved = std::filesystem::canonical(path, missing);
  if (!missing) target_ = resolved.string();
  struct stat there = {};
  // A folder is not replaced by any output: the output fails.
  if (::lstat(target_.c_str(), &there) != 0 || S_ISDIR(there.st_mode)) return;
  const std::string aside = free_name_beside(target_);
  if (::link(target_.c_str(), aside.c_str()) != 0 && ::rename(target_.c_str(), aside.c_str()) != 0) {
    throw IoError(path, "the old file cannot be kept until all outputs are there: " +
                            std::error_code(errno, std::generic_category()).message());
  }
  aside_ = aside;
}

void KeptFile::restore(bool published) const {
  if (stream_) return;
  if (aside_.empty()) {
    if (published) ::unlink(target_.c_str());
    return;
  }
  if (::rename(aside_.c_str(), target_.c_str()) != 0) {
    say_error(fmt::format("{}: the old file could not be put back; it is now {}", target_, aside_));
    return;
  }
  // Two names of one file are both still there after that.
  ::unlink(aside_.c_str());
}

void KeptFile::discard() const noexcept {
  if (!aside_.empty()) ::unlink(aside_.c_str());
}

}  // namespace sluice::app
