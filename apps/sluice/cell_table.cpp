// SPDX-License-Identifier: Apache-2.0
#include "cell_table.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <utility>

#include "signals.hpp"
#include "sluice/core/error.hpp"

namespace sluice::app {

CellTable::CellTable(std::string path, bool overwrite) : path_(std::move(path)), overwrite_(overwrite) {
  if (path_ == "-") {
    file_ = std::tmpfile();
    if (file_ == nullptr) fail("cannot create a temporary file");
  } else {
    struct stat there = {};
    if (!overwrite_ && ::lstat(path_.c_str(), &there) == 0) {
      throw IoError(path_, "exists; use --overwrite to replace it");
    }
    const std::filesystem::path target(path_);
    temporary_ = (target.parent_path() / fmt::format(".{}.{}.part", target.filename().string(), ::getpid())).string();
    // Known before it exists, so that a signal between the two does not leave it behind.
    set_file_to_remove(temporary_.c_str());
    const int fd = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
      const std::string reason = std::strerror(errno);
      set_file_to_remove(nullptr);
      temporary_.clear();
      throw IoError(path_, "cannot be created: " + reason);
    }
    file_ = ::fdopen(fd, "w");
    if (file_ == nullptr) {
      ::close(fd);
      ::unlink(temporary_.c_str());
      set_file_to_remove(nullptr);
      throw IoError(path_, "out of memory");
    }
  }
  put("ix,iy,iz,first,count\n");
}

CellTable::~CellTable() {
  if (file_ != nullptr) std::fclose(file_);
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
    set_file_to_remove(nullptr);
  }
}

void CellTable::fail(const char* what) const {
  throw IoError(path_, fmt::format("{}: {}", what, std::strerror(errno)));
}

void CellTable::put(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail("cannot be written");
}

void CellTable::add(std::span<const CellRow> rows) {
  constexpr std::size_t kBatch = 4096;  // rows whose text is made at once
  std::string text;
  for (std::size_t from = 0; from < rows.size(); from += kBatch) {
    text.clear();
    for (const CellRow& row : rows.subspan(from, std::min(kBatch, rows.size() - from))) {
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{}\n", row.cell[0], row.cell[1], row.cell[2], row.first,
                     row.count);
    }
    put(text);
  }
}

void CellTable::seal() {
  if (std::fflush(file_) != 0) fail("cannot be written");
}

void CellTable::finish() {
  if (path_ == "-") {
    std::rewind(file_);
    std::array<char, 65536> buffer{};
    while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), file_)) {
      if (std::fwrite(buffer.data(), 1, count, stdout) != count) fail("cannot be written");
    }
    if (std::ferror(file_) != 0 || std::fflush(stdout) != 0) fail("cannot be written");
    return;
  }
  std::FILE* const file = std::exchange(file_, nullptr);
  if (std::fclose(file) != 0) fail("cannot be written");
  // A link fails where a rename would replace what another program has made meanwhile; not every file system has links.
  const bool linked = !overwrite_ && ::link(temporary_.c_str(), path_.c_str()) == 0;
  if (linked) {
    ::unlink(temporary_.c_str());
  } else {
    if (!overwrite_ && errno == EEXIST) throw IoError(path_, "was made by another program meanwhile");
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be renamed into place");
  }
  temporary_.clear();
  set_file_to_remove(nullptr);
}

}  // namespace sluice::app
