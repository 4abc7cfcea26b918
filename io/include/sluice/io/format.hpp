// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which file formats there are, and how they are told apart.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sluice::io {

/// One file format.
struct FormatInfo {
  std::string name;                     ///< "las"
  std::vector<std::string> extensions;  ///< lower case, with the dot; the first is the usual one
  bool readable = false;
  bool writable = false;
};

/// All formats that are recognised, in the order in which their contents are tried.
[[nodiscard]] std::vector<FormatInfo> formats();

/// Name of the format whose content begins like this; empty where none does.
[[nodiscard]] std::string format_of_content(std::span<const std::byte> head);

/// Name of the format that the extension of a path names, whatever its case; empty where none does.
[[nodiscard]] std::string format_of_path(const std::string& path);

}  // namespace sluice::io
