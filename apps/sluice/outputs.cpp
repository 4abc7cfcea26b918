// SPDX-License-Identifier: Apache-2.0
#include "outputs.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <system_error>

#include "kept_file.hpp"
#include "signals.hpp"
#include "sluice/io/format.hpp"
#include "sluice/io/write.hpp"
#include "usage_error.hpp"

namespace sluice::app {

namespace {

bool exists(const std::string& path) {
  struct stat there = {};
  return ::lstat(path.c_str(), &there) == 0;
}

/// True where both names lead to one file; names of files that do not exist are compared as paths.
bool same_file(const std::string& a, const std::string& b) {
  if (a == "-" || b == "-") return a == b;
  struct stat there_a = {};
  struct stat there_b = {};
  const bool exists_a = ::stat(a.c_str(), &there_a) == 0;
  const bool exists_b = ::stat(b.c_str(), &there_b) == 0;
  if (exists_a && exists_b) return there_a.st_dev == there_b.st_dev && there_a.st_ino == there_b.st_ino;
  if (exists_a != exists_b) return false;
  const auto full = [](const std::string& path) {
    std::error_code error;
    const auto folder = std::filesystem::canonical(std::filesystem::absolute(path).parent_path(), error);
    return folder / std::filesystem::path(path).filename();
  };
  return full(a) == full(b);
}

std::string writable_extensions() {
  std::string out;
  for (const io::FormatInfo& format : io::formats()) {
    if (!format.writable) continue;
    for (const std::string& extension : format.extensions) out += (out.empty() ? "" : ", ") + extension;
  }
  return out;
}

void check_format(const std::string& path) {
  if (path == "-") return;
  const std::string name = io::format_of_path(path);
  if (name.empty()) {
    throw UsageError(
        fmt::format("{}: the extension names no format; these can be written: {}", path, writable_extensions()));
  }
  for (const io::FormatInfo& format : io::formats()) {
    if (format.name != name || format.writable) continue;
    throw UsageError(fmt::format("{}: {} files cannot be written; these can: {}", path, format.extensions.front(),
                                 writable_extensions()));
  }
}

void check_target(const std::string& path, bool overwrite) {
  // What is there already, and takes bytes one after the other, is not replaced.
  if (is_stream(path)) return;
  struct stat there = {};
  if (::stat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode)) throw IoError(path, "is a folder");
  if (!overwrite && exists(path)) throw IoError(path, "exists; use --overwrite to replace it");
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (::stat(folder.c_str(), &there) != 0) throw IoError(path, "its folder does not exist");
  if (!S_ISDIR(there.st_mode)) throw IoError(path, folder + " is no folder");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) throw IoError(path, "its folder cannot be written to");
  // Such a folder, /tmp for one, lets nobody rename onto what belongs to somebody else.
  struct stat old = {};
  const uid_t self = ::geteuid();
  if ((there.st_mode & S_ISVTX) != 0 && self != 0 && self != there.st_uid && ::lstat(path.c_str(), &old) == 0 &&
      self != old.st_uid) {
    throw IoError(path, "belongs to somebody else and cannot be replaced in this folder");
  }
}

}  // namespace

void check_outputs(const std::vector<std::string>& inputs, const std::vector<std::string>& points,
                   const std::vector<std::string>& tables, bool overwrite) {
  for (const std::string& path : points) check_format(path);
  std::vector<std::string> all = points;
  all.insert(all.end(), tables.begin(), tables.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (same_file(all[i], all[k])) throw UsageError(fmt::format("{}: two outputs cannot be one file", all[i]));
    }
    if (all[i] == "-") continue;
    for (const std::string& input : inputs) {
      if (same_file(all[i], input)) {
        throw UsageError(fmt::format("{}: an output cannot be an input, and {} is read", all[i], input));
      }
    }
    check_target(all[i], overwrite);
  }
}

ChunkSink& Outputs::add_points(const std::string& path, const CloudInfo& like) {
  files_.push_back({path, io::create_sink(path, like, options_), nullptr});
  paths_.push_back(path);
  return *files_.back().points;
}

ChunkSink& Outputs::add_points(const std::string& path, std::shared_ptr<const io::RecordConverter> converter) {
  files_.push_back({path, io::create_converting_sink(path, std::move(converter), options_), nullptr});
  paths_.push_back(path);
  return *files_.back().points;
}

CellTable& Outputs::add_table(const std::string& path) {
  files_.push_back({path, nullptr, std::make_unique<CellTable>(path, options_.overwrite)});
  paths_.push_back(path);
  return *files_.back().table;
}

void Outputs::commit() {
  for (const File& file : files_) file.points != nullptr ? file.points->seal() : file.table->seal();

  const auto finish = [](const File& file) { file.points != nullptr ? file.points->finish() : file.table->finish(); };
  std::vector<const File*> named;
  // Streams come first, while nothing has its name yet: a reader may stall or go away, and a signal may end the wait.
  for (const File& file : files_) {
    if (is_stream(file.path)) {
      finish(file);
    } else {
      named.push_back(&file);
    }
  }

  const HoldSignals hold;
  // A single output takes the old one's place or does not, so there is nothing to put back.
  const bool keeps = options_.overwrite && named.size() > 1;
  std::vector<KeptFile> kept;
  kept.reserve(named.size());
  std::size_t published = 0;
  try {
    for (const File* file : named) {
      kept.emplace_back(file->path, keeps);
      finish(*file);
      ++published;
    }
  } catch (...) {
    for (std::size_t i = kept.size(); i-- > 0;) kept[i].restore(i < published);
    throw;
  }
  for (const KeptFile& file : kept) file.discard();
}

std::vector<std::string> Outputs::warnings() const {
  std::vector<std::string> out;
  for (const File& file : files_) {
    if (file.points == nullptr) continue;
    for (const std::string& warning : file.points->warnings()) out.push_back(fmt::format("{}: {}", file.path, warning));
  }
  return out;
}

}  // namespace sluice::app
