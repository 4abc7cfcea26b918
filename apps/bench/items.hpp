// SPDX-License-Identifier: Apache-2.0
/// \file
/// Numbers of items as people write them.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>

namespace sluice::bench {

/// 1500000 for 1.5M, likewise with k and G; 0 where it is no number of at least one and fewer than `limit` items.
inline std::uint64_t parse_items(const std::string& text, std::uint64_t limit) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return 0;
  const std::string unit(end, text.data() + text.size());
  const double factor = unit.empty() ? 1.0 : unit == "k" ? 1e3 : unit == "M" ? 1e6 : unit == "G" ? 1e9 : 0.0;
  const double items = value * factor + 0.5;
  return items >= 1.0 && items < static_cast<double>(limit) ? static_cast<std::uint64_t>(items) : 0;
}

}  // namespace sluice::bench
