// SPDX-License-Identifier: Apache-2.0
/// \file
/// Points in the order of a real scan, made on the host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/core/types.hpp"

namespace sluice::bench {

/// A made scan, stretched to fill the box of the benchmarks on every axis, which keeps its order and what is near what.
struct ScanPoints {
  std::vector<Record16> points;
  std::string made_by;  ///< what was scanned, for readers of the figures
};

/// Points for a cloud of `items`: that many of a spinning sensor where they are a frame, else of an airborne scan, of
/// which at most kMostScanPoints are made. Made once for each number of points.
[[nodiscard]] const ScanPoints& scan_points(std::uint64_t items);

inline constexpr std::uint64_t kMostFramePoints = 300'000;
inline constexpr std::uint64_t kMostScanPoints = std::uint64_t{1} << 22;

}  // namespace sluice::bench
