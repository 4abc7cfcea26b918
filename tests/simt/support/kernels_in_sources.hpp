// SPDX-License-Identifier: Apache-2.0
/// \file
/// What kernels there are, so that a test can tell which ones nobody launches.
#pragma once

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace sluice::test {

/// Kernels in the sources of a folder and those below it, as they are named there.
/// \param folder  from the root of the project
inline std::set<std::string> kernels_in_sources(const std::string& folder) {
  std::set<std::string> out;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(std::string(SLUICE_SOURCE_DIR) + "/" + folder)) {
    std::ifstream in(file.path());
    std::string line;
    std::string type;
    while (std::getline(in, line)) {
      std::istringstream words(line);
      std::string word;
      if (line.rfind("struct ", 0) == 0) words >> word >> type;
      if (line.find("operator()(ContextT& simt, SharedT& ") != std::string::npos) out.insert(type);
    }
  }
  return out;
}

}  // namespace sluice::test
