// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/output_file.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>

#include "posix.hpp"
#include "sluice/io/write.hpp"

namespace sluice::io {
namespace {

// Large enough that asking for room costs nothing beside filling it; small files do without.
constexpr std::uint64_t kAllocationStep = std::uint64_t{16} << 20;

/// One hidden file that a signal handler may have to remove. Slots are used again but never freed, so that the handler
/// can walk the list at any moment.
struct Slot {
  enum State : int { kFree, kFilling, kInUse, kRemoved };
  std::atomic<int> state{kFree};
  pid_t owner = 0;
  char path[PATH_MAX] = {};
  Slot* next = nullptr;
};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<Slot*>::is_always_lock_free);

std::atomic<Slot*> all_slots{nullptr};

Slot* register_unfinished(const std::string& path) {
  if (path.size() >= PATH_MAX) return nullptr;
  Slot* slot = all_slots.load();
  for (; slot != nullptr; slot = slot->next) {
    int expected = Slot::kFree;
    if (slot->state.compare_exchange_strong(expected, Slot::kFilling)) break;
  }
  if (slot == nullptr) {
    slot = new Slot;
    slot->state.store(Slot::kFilling);
    slot->next = all_slots.load();
    while (!all_slots.compare_exchange_weak(slot->next, slot)) {
    }
  }
  std::memcpy(slot->path, path.c_str(), path.size() + 1);
  slot->owner = ::getpid();
  slot->state.store(Slot::kInUse);
  return slot;
}

void unregister(Slot* slot) {
  if (slot == nullptr) return;
  // A slot that the handler has taken stays with it.
  int expected = Slot::kInUse;
  slot->state.compare_exchange_strong(expected, Slot::kFree);
}

std::string absolute(const std::string& path) {
  if (!path.empty() && path.front() == '/') return path;
  char directory[PATH_MAX];
  if (::getcwd(directory, sizeof directory) == nullptr) return path;
  return std::string(directory) + "/" + path;
}

std::string unique_part() {
  static std::atomic<unsigned> counter{0};
  std::random_device random;
  char text[80];
  std::snprintf(text, sizeof text, ".sluice-%ld-%u-%08x.tmp", static_cast<long>(::getpid()), counter++,
                static_cast<unsigned>(random()));
  return text;
}

}  // namespace

void remove_unfinished_outputs() noexcept {
  const int saved = errno;
  const pid_t self = ::getpid();
  for (Slot* slot = all_slots.load(); slot != nullptr; slot = slot->next) {
    int expected = Slot::kInUse;
    // A forked child shares the list but not the files.
    if (slot->state.load() != Slot::kInUse || slot->owner != self) continue;
    if (slot->state.compare_exchange_strong(expected, Slot::kRemoved)) ::unlink(slot->path);
  }
  errno = saved;
}

OutputFile::OutputFile(const std::string& path, bool overwrite)
    : path_(path == "-" ? "<standard output>" : path), overwrite_(overwrite) {
  if (path == "-") {
    fd_ = open_unnamed_file();
    return;
  }
  if (path.empty()) throw IoError(path, "the name of the output is empty");
  target_ = path;
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) {
    const bool is_link = S_ISLNK(status.st_mode);
    const bool dangling = is_link && ::stat(path.c_str(), &status) != 0;
    if (!dangling && S_ISDIR(status.st_mode)) throw IoError(path, "is a directory");
    if (!dangling && !S_ISREG(status.st_mode)) {
      target_.clear();
      fd_ = open_unnamed_file();
      return;
    }
    if (!overwrite) throw IoError(path, "exists already");
    if (is_link && !dangling) {
      char* resolved = ::realpath(path.c_str(), nullptr);
      if (resolved == nullptr) throw system_error(path, "cannot be resolved", errno);
      target_ = resolved;
      std::free(resolved);
    }
    create_beside();
    // The new file takes the place of the old one, with its permissions; where that is not allowed it has its own.
    if (!dangling && ::fchmod(fd_, status.st_mode & 07777) != 0) errno = 0;
    return;
  }
  if (errno != ENOENT) throw system_error(path, "cannot be created", errno);
  create_beside();
}

void OutputFile::create_beside() {
  const std::string full = absolute(target_);
  const std::string directory = full.substr(0, full.rfind('/') + 1);
  for (int attempt = 0;; ++attempt) {
    temporary_ = directory + unique_part();
    // Known before it exists, so that a signal between the two does not leave it behind.
    slot_ = register_unfinished(temporary_);
    fd_ = ::open(temporary_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    if (fd_ >= 0) return;
    const int error = errno;
    unregister(static_cast<Slot*>(slot_));
    slot_ = nullptr;
    if (error != EEXIST || attempt == 100) {
      temporary_.clear();
      throw system_error(path_, "cannot be created", error);
    }
  }
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty() && !published_) ::unlink(temporary_.c_str());
  unregister(static_cast<Slot*>(slot_));
}

/// Asks for room ahead of the writes. File systems let one thread at a time write to a file, and finding room page by
/// page is a quarter of what they do then (ext4).
void OutputFile::allocate(std::uint64_t end) const noexcept {
  if (end <= allocated_ || end < kAllocationStep) return;
  const std::lock_guard lock(allocating_);
  const std::uint64_t from = allocated_;
  if (end <= from) return;
  const std::uint64_t to = (end / kAllocationStep + 1) * kAllocationStep;
  const bool done = ::fallocate(fd_, 0, static_cast<off_t>(from), static_cast<off_t>(to - from)) == 0;
  // Where it cannot be had, or not that much of it, writes find their own room, or say that there is none.
  allocated_ = done ? to : ~std::uint64_t{0};
}

void OutputFile::write_at(std::uint64_t at, const std::byte* data, std::uint64_t count) const {
  allocate(at + count);
  write_all_at(fd_, data, count, at, path_);
}

void OutputFile::complete(std::uint64_t length) {
  if (::ftruncate(fd_, static_cast<off_t>(length)) != 0) throw system_error(path_, "cannot set the length", errno);
  if (target_.empty()) {
    if (::lseek(fd_, 0, SEEK_SET) != 0) throw system_error(path_, "cannot rewind the temporary copy", errno);
    return;
  }
  // Some file systems report only here that the disk is full.
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0 && errno != EINTR) throw system_error(path_, "cannot write", errno);
}

void OutputFile::publish() {
  if (target_.empty()) {
    const bool standard_output = path_ == "<standard output>";
    const int to = standard_output ? STDOUT_FILENO : ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (to < 0) throw system_error(path_, "cannot open", errno);
    try {
      copy_all(fd_, to, "temporary copy of " + path_, path_);
    } catch (...) {
      if (!standard_output) ::close(to);
      throw;
    }
    if (!standard_output && ::close(to) != 0 && errno != EINTR) throw system_error(path_, "cannot write", errno);
  } else if (overwrite_) {
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) throw system_error(path_, "cannot be renamed", errno);
  } else {
    rename_without_replacing();
  }
  published_ = true;
}

void OutputFile::rename_without_replacing() const {
  const auto exists = [&] { return IoError(path_, "exists already; it was made while this ran"); };
  if (::syscall(SYS_renameat2, AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE) == 0) return;
  if (errno == EEXIST) throw exists();
  if (errno != ENOSYS && errno != EINVAL) throw system_error(path_, "cannot be renamed", errno);
  // An old kernel or a file system without that call: a hard link refuses an existing name too.
  if (::link(temporary_.c_str(), target_.c_str()) == 0) {
    ::unlink(temporary_.c_str());
    return;
  }
  if (errno == EEXIST) throw exists();
  // A file system without hard links: all that is left is to look first.
  struct stat status {};
  if (::lstat(target_.c_str(), &status) == 0) throw exists();
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) throw system_error(path_, "cannot be renamed", errno);
}

}  // namespace sluice::io
