// SPDX-License-Identifier: Apache-2.0
#include "common_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "numbers.hpp"
#include "selection_options.hpp"
#include "sluice/io/format.hpp"
#include "usage_error.hpp"

namespace sluice::app {

namespace {

constexpr std::array<std::string_view, 5> kBackends = {"auto", "cuda", "thrust", "cpu", "serial"};
constexpr std::uint64_t kMostThreads = 4096;

}  // namespace

void CommonOptions::add_to(CLI::App& command, Parts parts) {
  const std::string running = "Running";
  has_backend_ = parts.backend;
  if (parts.backend) {
    add_single(command, "--backend", backend_, "NAME", "auto, cuda, thrust, cpu or serial")->group(running);
    add_single(command, "--device", device_, "N", "index of the GPU (0)")->group(running);
  }
  add_single(command, "--threads", threads_, "N", "most threads (all)")->group(running);
  add_single(command, "--memory", memory_, "SIZE", "most memory to hold at once, e.g. 4G (three quarters)")
      ->group(running);
  add_single(command, "--progress", progress_, "WHEN", "auto (on a terminal), always or never")->group(running);
  const std::string files = "Files and results";
  command.add_flag("--json", json_, "print the result as one JSON object")->group(files);
  command.add_flag("--quiet", quiet_, "print errors only")->group(files);
  command.add_flag("--overwrite", overwrite_, "replace outputs that exist")->group(files);
  command.add_flag("--dry-run", dry_run_, "check everything, write nothing")->group(files);
  if (parts.inputs) {
    command.add_flag("--recover", recover_, "read what is sound of a damaged input; exit status 4 if there was any")
        ->group(files);
    add_single(command, "--fields", fields_, "NAME,...|N", "columns of text and .bin inputs, or how many a .bin has")
        ->group(files);
  }
  add_single(command, "--chunk-size", chunk_size_, "N", "points per chunk of a LAZ output (as the input, or 50000)")
      ->group(files);
}

std::string CommonOptions::backend() const {
  if (!has_backend_) return "cpu";
  if (!backend_.empty()) return backend_;
  const char* named = std::getenv("SLUICE_BACKEND");
  return named != nullptr && *named != '\0' ? named : "auto";
}

Execution CommonOptions::execution() const {
  Execution execution;
  const std::string wanted = backend();
  if (has_backend_ && std::find(kBackends.begin(), kBackends.end(), wanted) == kBackends.end()) {
    throw UsageError(fmt::format("{}: {} is none of auto, cuda, thrust, cpu, serial",
                                 backend_.empty() ? "SLUICE_BACKEND" : "--backend", in_quotes(wanted)));
  }
  execution.backend = backend_;
  execution.threads = parse_threads(threads_);
  if (!memory_.empty()) execution.memory_bytes = parse_size(memory_, "--memory");
  if (!device_.empty()) execution.device = static_cast<int>(parse_whole(device_, "--device", 0, 1023));
  return execution;
}

ProgressMode CommonOptions::progress() const {
  if (progress_ == "always") return ProgressMode::kAlways;
  if (progress_ == "never") return ProgressMode::kNever;
  if (progress_ != "auto")
    throw UsageError(fmt::format("--progress: {} is none of auto, always, never", in_quotes(progress_)));
  return quiet_ ? ProgressMode::kNever : ProgressMode::kAuto;
}

void CommonOptions::check_format_options(const std::vector<std::string>& outputs, const CloudInfo& layout) const {
  if (chunk_size_.empty()) return;
  const bool compressed = layout.metadata != nullptr && layout.metadata->format() == "laz";
  const auto is_laz = [&](const std::string& path) {
    return path == "-" ? compressed : io::format_of_path(path) == "laz";
  };
  if (std::any_of(outputs.begin(), outputs.end(), is_laz)) return;
  const bool streamed = std::find(outputs.begin(), outputs.end(), "-") != outputs.end();
  throw UsageError(fmt::format("--chunk-size {}: no output is a LAZ file{}", chunk_size_,
                               streamed ? "; standard output is one only where the input is" : ""));
}

io::WriteOptions CommonOptions::write_options() const {
  io::WriteOptions options;
  options.overwrite = overwrite_;
  if (!chunk_size_.empty()) {
    options.chunk_points =
        static_cast<std::uint32_t>(parse_whole(chunk_size_, "--chunk-size", 1, io::kMostChunkPoints));
  }
  return options;
}

std::vector<std::string> CommonOptions::fields() const { return parse_fields(fields_); }

std::vector<std::string> parse_fields(const std::string& text) {
  std::vector<std::string> out;
  if (text.empty()) return out;
  for (const std::string_view name : split_list(text)) {
    if (name.empty()) throw UsageError(fmt::format("--fields: {} has an empty name", in_quotes(text)));
    out.emplace_back(name);
  }
  return out;
}

int parse_threads(const std::string& text) {
  return text.empty() ? 0 : static_cast<int>(parse_whole(text, "--threads", 1, kMostThreads));
}

}  // namespace sluice::app
