// SPDX-License-Identifier: Apache-2.0
#include "kernels/simt/emulated/places.hpp"

#include <link.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string_view>
#include <unordered_map>

namespace sluice::simt::emulated {

namespace {

/// The path from the root of the project on; others stay as they are.
std::string short_path(std::string_view path) {
  const std::string normal = std::filesystem::path(path).lexically_normal().string();
  std::size_t best = std::string::npos;
  for (const char* folder :
       {"/kernels/cuda/", "/kernels/family/", "/kernels/simt/", "/kernels/include/", "/apps/", "/tests/"}) {
    const std::size_t at = normal.rfind(folder);
    if (at != std::string::npos && (best == std::string::npos || at > best)) best = at;
  }
  return best == std::string::npos ? normal : normal.substr(best + 1);
}

/// How far the program lies from where it was linked for.
std::uintptr_t program_offset() {
  std::uintptr_t out = 0;
  // The program comes first.
  const auto first = [](dl_phdr_info* info, std::size_t /*bytes*/, void* to) {
    *static_cast<std::uintptr_t*>(to) = info->dlpi_addr;
    return 1;
  };
  dl_iterate_phdr(first, &out);
  return out;
}

/// Asks the tool of the compiler's own package: it reads whatever the compiler writes.
std::vector<Place> look_up(std::uintptr_t address) {
  std::ostringstream command;
  command << "addr2line -i -e /proc/" << getpid() << "/exe " << std::hex << address << " 2>/dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> lines(popen(command.str().c_str(), "r"), pclose);
  std::vector<Place> out;
  char line[4096];
  while (lines != nullptr && std::fgets(line, sizeof line, lines.get()) != nullptr) {
    const std::string_view text = line;
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || text[0] == '?') continue;
    out.push_back({short_path(text.substr(0, colon)), std::atoi(line + colon + 1)});
  }
  return out;
}

}  // namespace

const std::vector<Place>& places_of(const void* return_address) {
  static std::unordered_map<const void*, std::vector<Place>> known;
  const auto [at, fresh] = known.try_emplace(return_address);
  if (fresh && return_address != nullptr) {
    at->second = look_up(reinterpret_cast<std::uintptr_t>(return_address) - 1 - program_offset());
  }
  return at->second;
}

}  // namespace sluice::simt::emulated
