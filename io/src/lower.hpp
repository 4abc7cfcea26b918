// SPDX-License-Identifier: Apache-2.0
/// \file
/// Names and extensions are compared whatever their case.
#pragma once

#include <string>

namespace sluice::io {

/// The same with the letters of ASCII in lower case, whatever the locale.
[[nodiscard]] inline std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace sluice::io
