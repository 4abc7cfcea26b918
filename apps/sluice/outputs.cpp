// SPDX-License-Identifier: Apache-2.0
#include "outputs.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <system_error>

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

void check_format(const std::string& path) {
  if (path == "-") return;
  const std::string name = io::format_of_path(path);
  std::string writable;
  for (const io::FormatInfo& format : io::formats()) {
    if (!format.writable) continue;
    if (format.name == name) return;
    for (const std::string& extension : format.extensions) writable += (writable.empty() ? "" : ", ") + extension;
  }
  throw UsageError(name.empty()
                       ? fmt::format("{}: the extension names no format; these can be written: {}", path, writable)
                       : fmt::format("{}: the format {} cannot be written; these can: {}", path, name, writable));
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
      if (same_file(all[i], input)) throw UsageError(fmt::format("{}: an output cannot be an input", all[i]));
    }
    if (!overwrite && exists(all[i])) throw IoError(all[i], "exists; use --overwrite to replace it");
    const std::filesystem::path folder = std::filesystem::path(all[i]).parent_path();
    if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) {
      throw IoError(all[i], "the folder does not exist or cannot be written to");
    }
  }
}

ChunkSink& Outputs::add_points(const std::string& path, const CloudInfo& like) {
  sinks_.push_back(io::create_sink(path, like, {.overwrite = overwrite_, .generator = {}}));
  paths_.push_back(path);
  return *sinks_.back();
}

CellTable& Outputs::add_table(const std::string& path) {
  table_ = std::make_unique<CellTable>(path, overwrite_);
  table_path_ = path;
  paths_.push_back(path);
  return *table_;
}

void Outputs::commit() {
  for (const auto& sink : sinks_) sink->seal();
  if (table_ != nullptr) table_->seal();

  // Standard output comes last: what was sent there cannot be taken back.
  const HoldSignals hold;
  std::vector<std::string> made;
  try {
    for (const bool to_stdout : {false, true}) {
      for (std::size_t i = 0; i < sinks_.size(); ++i) {
        if ((paths_[i] == "-") != to_stdout) continue;
        const bool existed = exists(paths_[i]);
        sinks_[i]->finish();
        if (!existed && !to_stdout) made.push_back(paths_[i]);
      }
      if (table_ != nullptr && (table_path_ == "-") == to_stdout) {
        const bool existed = exists(table_path_);
        table_->finish();
        if (!existed && !to_stdout) made.push_back(table_path_);
      }
    }
  } catch (...) {
    for (const std::string& path : made) ::unlink(path.c_str());
    throw;
  }
}

std::vector<std::string> Outputs::warnings() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < sinks_.size(); ++i) {
    for (const std::string& warning : sinks_[i]->warnings()) out.push_back(fmt::format("{}: {}", paths_[i], warning));
  }
  return out;
}

}  // namespace sluice::app
