// SPDX-License-Identifier: Apache-2.0
/// \file
/// Whether tests have to be quick.
#pragma once

#include <cstdlib>
#include <string_view>

namespace sluice::test {

/// True where a sanitizer runs, under which sizes must be small: where SLUICE_TEST_QUICK is 1.
inline bool quick() {
  const char* text = std::getenv("SLUICE_TEST_QUICK");
  return text != nullptr && std::string_view(text) == "1";
}

}  // namespace sluice::test
