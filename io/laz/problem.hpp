// SPDX-License-Identifier: Apache-2.0
/// \file
/// What is wrong with a file, for messages.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::laz {

/// As in FormatError: where, in which field, and what was found and expected.
struct Problem {
  std::uint64_t offset = 0;
  std::string field;
  std::string text;
};

}  // namespace sluice::laz
