// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <tbb/global_control.h>
#include <tbb/info.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "sluice/core/error.hpp"

namespace sluice::detail {

int thread_count(const Execution& execution) {
  if (execution.threads < 0) throw InvalidArgument("the number of threads must not be negative");
  // More than TBB has would get none, and a warning of TBB's own on standard error.
  const auto most = static_cast<int>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
  const int wanted = execution.threads > 0 ? execution.threads : tbb::info::default_concurrency();
  return std::max(1, std::min(wanted, most));
}

std::string processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

std::string gpu_label(int device) {
  std::vector<std::string> models;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", none)) {
    std::ifstream information(entry.path() / "information");
    for (std::string line; std::getline(information, line);) {
      // The bus address tells which of several is meant.
      if (line.rfind("Model:", 0) == 0) models.push_back(entry.path().filename().string() + " " + line.substr(6));
    }
  }
  if (models.empty()) return {};
  std::sort(models.begin(), models.end());
  std::string out = "GPU " + std::to_string(device);
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) out += std::string(" ") + name + "=" + value;
  }
  for (const std::string& model : models) out += ", " + model;
  // The label becomes part of one line of a file.
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return out;
}

std::string readable_bytes(std::uint64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < kUnits.size()) {
    value /= 1024.0;
    ++unit;
  }
  std::array<char, 64> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, unit == 0 ? 0 : 1).ptr;
  return std::string(text.data(), end) + " " + kUnits.at(unit);
}

}  // namespace sluice::detail
