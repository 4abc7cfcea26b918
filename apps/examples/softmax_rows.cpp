// SPDX-License-Identifier: Apache-2.0
// The softmax of each line of numbers from standard input.
#include "softmax_rows.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>

#include "scans.hpp"

namespace {

/// \return false where something is no number; `-inf` is one
bool parse_row(const std::string& line, std::vector<float>& row) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    char* end = nullptr;
    row.push_back(std::strtof(word.c_str(), &end));
    if (*end != '\0' || std::isnan(row.back()) || row.back() == std::numeric_limits<float>::infinity()) return false;
  }
  return true;
}

}  // namespace

int main() {
  try {
    std::size_t number = 0;
    for (std::string line; std::getline(std::cin, line);) {
      ++number;
      std::vector<float> row;
      if (!parse_row(line, row)) {
        std::fprintf(stderr, "line %zu: not all are finite numbers or -inf\n", number);
        return 2;
      }
      const std::vector<float> out = sluice::examples::softmax(row, sluice::examples::HostScan{});
      for (std::size_t i = 0; i < out.size(); ++i) std::printf(i == 0 ? "%g" : " %g", static_cast<double>(out[i]));
      std::printf("\n");
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
