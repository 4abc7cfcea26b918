// SPDX-License-Identifier: Apache-2.0
// Running sums that start anew with each key: reads lines of a key and a whole number from standard input, those of a
// key together, and prints each with the sum so far. The sums of all keys come from one scan.
#include "segmented_scan.hpp"

#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "scans.hpp"

int main() {
  try {
    std::vector<std::string> keys;
    std::vector<std::uint32_t> values;
    std::vector<bool> starts;
    for (std::string key; std::cin >> key;) {
      std::int32_t value = 0;
      if (!(std::cin >> value)) {
        std::fprintf(stderr, "line %zu: no key and whole number\n", keys.size() + 1);
        return 2;
      }
      starts.push_back(keys.empty() || keys.back() != key);
      keys.push_back(key);
      values.push_back(static_cast<std::uint32_t>(value));
    }
    using sluice::kernels::family::Sum;
    const auto sums = sluice::examples::segmented_scan<Sum>(values, starts, sluice::examples::HostScan{});
    for (std::size_t i = 0; i < sums.size(); ++i) {
      std::printf("%s\t%d\t%d\n", keys[i].c_str(), static_cast<std::int32_t>(values[i]),
                  static_cast<std::int32_t>(sums[i]));
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
