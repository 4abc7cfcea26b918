// SPDX-License-Identifier: Apache-2.0
/// \file
/// Brackets of a text by two kinds of scan: the sum of +1 for each '(' and -1 for each ')' is the depth, and minima of
/// the depth tell which brackets have no partner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "kernels/family/operators.hpp"

namespace sluice::examples {

struct Brackets {
  /// The most that are open at a time; a ')' without a partner takes one off for all that follows it.
  std::int32_t deepest = 0;
  /// Where the first one without a partner is.
  std::optional<std::size_t> unmatched;
};

/// \param scan  as `HostScan`
template <typename ScanT>
Brackets look_at_brackets(std::string_view text, const ScanT& scan) {
  using kernels::family::Min;
  using kernels::family::Sum;
  if (text.size() > std::numeric_limits<std::int32_t>::max()) throw std::length_error("a text of 2 GiB or more");
  Brackets out;
  if (text.empty()) return out;
  std::vector<std::int32_t> steps(text.size());
  std::transform(text.begin(), text.end(), steps.begin(), [](char c) { return c == '(' ? 1 : c == ')' ? -1 : 0; });
  std::vector<std::int32_t> depths = scan(Sum{}, steps);
  out.deepest = std::max(0, *std::max_element(depths.begin(), depths.end()));

  // What has been the lowest depth so far never rises, so a search by halves finds where it falls below zero.
  const std::vector<std::int32_t> lowest = scan(Min{}, depths);
  const auto below = std::partition_point(lowest.begin(), lowest.end(), [](std::int32_t depth) { return depth >= 0; });
  if (below != lowest.end()) {
    out.unmatched = static_cast<std::size_t>(below - lowest.begin());
  } else if (depths.back() > 0) {
    // A '(' has no partner where the depth never falls below its own again: the same scan from the end.
    std::reverse(depths.begin(), depths.end());
    std::vector<std::int32_t> lowest_from = scan(Min{}, depths);
    std::reverse(depths.begin(), depths.end());
    std::reverse(lowest_from.begin(), lowest_from.end());
    std::size_t at = 0;
    while (steps[at] != 1 || lowest_from[at] < depths[at]) ++at;
    out.unmatched = at;
  }
  return out;
}

}  // namespace sluice::examples
