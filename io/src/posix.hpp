// SPDX-License-Identifier: Apache-2.0
/// \file
/// The few system calls that inputs and outputs share, with interruptions and errors handled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/core/error.hpp"

namespace sluice::io {

/// "what: text of errno".
[[nodiscard]] IoError system_error(const std::string& path, const std::string& what, int error);

/// Opens a file that has no name, for bytes that must not stay. In TMPDIR, or /tmp.
/// \throws IoError
[[nodiscard]] int open_unnamed_file();

/// Writes all bytes at the file's position.
/// \throws IoError
void write_all(int fd, const std::byte* data, std::uint64_t count, const std::string& path);
/// Writes all bytes at a given place.
/// \throws IoError
void write_all_at(int fd, const std::byte* data, std::uint64_t count, std::uint64_t at, const std::string& path);
/// Copies from one file's position to another's until the end.
/// \return bytes copied
/// \throws IoError
std::uint64_t copy_all(int from, int to, const std::string& from_path, const std::string& to_path);

}  // namespace sluice::io
