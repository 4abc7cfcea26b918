// SPDX-License-Identifier: Apache-2.0
#include "posix.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <vector>

namespace sluice::io {
namespace {

// One system call moves at most 2 GiB - 4 KiB. Kernels look for pages as large as a step, and where large ones are rare
// that takes several times as long as the copy; steps much smaller cost more calls.
constexpr std::uint64_t kMaxStep = std::uint64_t{256} << 10;
constexpr std::size_t kCopyBuffer = std::size_t{1} << 20;

}  // namespace

IoError system_error(const std::string& path, const std::string& what, int error) {
  return {path, what + ": " + std::system_category().message(error)};
}

int open_unnamed_file() {
  const char* chosen = std::getenv("TMPDIR");
  const std::string directory = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  int fd = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  // Not every file system has O_TMPFILE.
  std::string name = directory + "/sluice-XXXXXX";
  fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) throw system_error(directory, "cannot create a temporary file", errno);
  ::unlink(name.c_str());
  return fd;
}

void write_all(int fd, const std::byte* data, std::uint64_t count, const std::string& path) {
  while (count > 0) {
    const ssize_t done = ::write(fd, data, static_cast<std::size_t>(count < kMaxStep ? count : kMaxStep));
    if (done < 0) {
      if (errno == EINTR) continue;
      throw system_error(path, "cannot write", errno);
    }
    data += done;
    count -= static_cast<std::uint64_t>(done);
  }
}

void write_all_at(int fd, const std::byte* data, std::uint64_t count, std::uint64_t at, const std::string& path) {
  while (count > 0) {
    // Steps end where a page of their size would.
    const std::uint64_t step = std::min(count, kMaxStep - at % kMaxStep);
    const ssize_t done = ::pwrite(fd, data, static_cast<std::size_t>(step), static_cast<off_t>(at));
    if (done < 0) {
      if (errno == EINTR) continue;
      // The bytes come from a mapping whose file was cut short meanwhile.
      if (errno == EFAULT) throw IoError(path, "cannot write: an input became shorter while it was read");
      throw system_error(path, "cannot write", errno);
    }
    data += done;
    at += static_cast<std::uint64_t>(done);
    count -= static_cast<std::uint64_t>(done);
  }
}

std::uint64_t copy_all(int from, int to, const std::string& from_path, const std::string& to_path) {
  std::vector<std::byte> buffer(kCopyBuffer);
  std::uint64_t total = 0;
  for (;;) {
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got < 0) {
      if (errno == EINTR) continue;
      throw system_error(from_path, "cannot read", errno);
    }
    if (got == 0) return total;
    write_all(to, buffer.data(), static_cast<std::uint64_t>(got), to_path);
    total += static_cast<std::uint64_t>(got);
  }
}

}  // namespace sluice::io
