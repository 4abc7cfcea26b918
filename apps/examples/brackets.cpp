// SPDX-License-Identifier: Apache-2.0
// How deep the round brackets of a text go, and where the first one without a partner is: example_brackets [FILE], else
// of what comes from standard input. The exit status is 1 where there is such a bracket.
#include "brackets.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "scans.hpp"

namespace {

std::string all_of(std::istream& in) { return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()}; }

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) {
    std::fprintf(stderr, "usage: %s [FILE]\n", argv[0]);
    return 2;
  }
  try {
    std::string text;
    if (argc == 2) {
      std::ifstream file(argv[1], std::ios::binary);
      if (!file) {
        std::fprintf(stderr, "%s: cannot be read\n", argv[1]);
        return 2;
      }
      text = all_of(file);
    } else {
      text = all_of(std::cin);
    }
    const auto found = sluice::examples::look_at_brackets(text, sluice::examples::HostScan{});
    std::printf("deepest: %d\n", found.deepest);
    if (!found.unmatched) {
      std::printf("all match\n");
      return 0;
    }
    const auto at = text.begin() + static_cast<std::ptrdiff_t>(*found.unmatched);
    const auto line = 1 + std::count(text.begin(), at, '\n');
    const std::size_t before = text.rfind('\n', *found.unmatched);
    const std::size_t column = before == std::string::npos ? *found.unmatched + 1 : *found.unmatched - before;
    std::printf("unmatched '%c' at byte %zu, line %td, column %zu\n", *at, *found.unmatched, line, column);
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
