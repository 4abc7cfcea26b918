// SPDX-License-Identifier: Apache-2.0
#include "kernels/simt/emulated/places.hpp"

#include <backtrace.h>

#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace sluice::simt::emulated {

namespace {

/// The path from the root of the project on.
std::string short_path(std::string_view path) {
  std::size_t best = std::string_view::npos;
  for (const std::string_view folder : {"/kernels/", "/tests/"}) {
    const std::size_t at = path.find(folder);
    if (at != std::string_view::npos && (best == std::string_view::npos || at < best)) best = at;
  }
  return std::string(best == std::string_view::npos ? path : path.substr(best + 1));
}

int add(void* places, std::uintptr_t /*address*/, const char* file, int line, const char* /*function*/) {
  if (file != nullptr) static_cast<std::vector<Place>*>(places)->push_back({short_path(file), line});
  return 0;
}

void ignore(void* /*places*/, const char* /*message*/, int /*code*/) {}

}  // namespace

const std::vector<Place>& places_of(const void* return_address) {
  static backtrace_state* const state = backtrace_create_state(nullptr, 0, ignore, nullptr);
  static std::unordered_map<const void*, std::vector<Place>> known;
  const auto [at, fresh] = known.try_emplace(return_address);
  if (fresh && return_address != nullptr) {
    backtrace_pcinfo(state, reinterpret_cast<std::uintptr_t>(return_address) - 1, add, ignore, &at->second);
  }
  return at->second;
}

}  // namespace sluice::simt::emulated
