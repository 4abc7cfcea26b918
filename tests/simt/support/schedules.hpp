// SPDX-License-Identifier: Apache-2.0
/// \file
/// The schedules that all kernels are run under.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "kernels/simt/emulated/settings.hpp"

namespace sluice::test {

/// Devices that differ in what kernels are shaped for: a small one with few blocks in flight, and one with as much
/// shared memory as large tiles need.
inline simt::emulated::Settings settings_of(std::uint64_t seed) {
  constexpr unsigned kInFlight[] = {1, 4, 2, 8};
  simt::emulated::Settings out;
  out.seed = seed;
  out.multiprocessors = 1;
  out.blocks_in_flight = kInFlight[seed / 2 % 4];
  out.shared_per_block = seed % 2 == 0 ? std::size_t{48} << 10 : std::size_t{227} << 10;
  return out;
}

/// Schedules: 8, or as many as SLUICE_SIMT_SEEDS says; fewer under sanitizers, which look at something else.
inline std::uint64_t seeds() {
  const char* text = std::getenv("SLUICE_SIMT_SEEDS");
  if (text != nullptr) return std::strtoull(text, nullptr, 10);
  return simt::emulated::kInstrumented ? 8 : 2;
}

}  // namespace sluice::test
