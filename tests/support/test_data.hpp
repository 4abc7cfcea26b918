// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where the real point-cloud files are that some tests read. They are not part of the repository.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace sluice::test {

/// The folder named by the environment variable SLUICE_TEST_DATA, else `../shared/data` beside the source tree.
/// Empty where neither exists; a test that needs files then skips.
inline std::filesystem::path test_data() {
  const char* named = std::getenv("SLUICE_TEST_DATA");
  const std::filesystem::path folder = named != nullptr && *named != '\0'
                                           ? std::filesystem::path(named)
                                           : std::filesystem::path(SLUICE_SOURCE_DIR) / ".." / "shared" / "data";
  return std::filesystem::is_directory(folder) ? folder : std::filesystem::path();
}

}  // namespace sluice::test
