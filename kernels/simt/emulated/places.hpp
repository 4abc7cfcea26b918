// SPDX-License-Identifier: Apache-2.0
/// \file
/// From an address in a program to lines of its source.
#pragma once

#include <string>
#include <vector>

namespace sluice::simt::emulated {

struct Place {
  std::string file;  ///< from the root of the project on where that is known
  int line = 0;
};

/// The line that a return address comes back to, and before it what was inlined there: from the inside out. Empty where
/// the program has no line numbers. Remembers what it has found.
const std::vector<Place>& places_of(const void* return_address);

}  // namespace sluice::simt::emulated
