// SPDX-License-Identifier: Apache-2.0
/// \file
/// The table of occupied cells as CSV.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sluice/io/output_file.hpp"
#include "sluice/operations.hpp"

namespace sluice::app {

/// Columns ix,iy,iz,first,count. Appears under its name, as every output does, when it is finished.
class CellTable {
 public:
  /// \throws IoError as `io::OutputFile`
  CellTable(const std::string& path, bool overwrite);

  /// Adds rows below those that are there. One thread at a time.
  /// \throws IoError
  void add(std::span<const CellRow> rows);
  /// Makes sure that the file system took everything.
  /// \throws IoError
  void seal();
  /// Gives the file its name.
  /// \throws IoError
  void finish();

 private:
  void put(const std::string& text);

  io::OutputFile file_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sluice::app
