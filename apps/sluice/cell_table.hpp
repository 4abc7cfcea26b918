// SPDX-License-Identifier: Apache-2.0
/// \file
/// The table of occupied cells as CSV.
#pragma once

#include <cstdio>
#include <span>
#include <string>

#include "sluice/operations.hpp"

namespace sluice::app {

/// Written beside its target under a hidden name and renamed when complete; destruction without that removes it.
/// `-` is standard output, which gets the table when it is complete.
class CellTable {
 public:
  /// \throws IoError where the target exists and must not be replaced, or cannot be created
  CellTable(std::string path, bool overwrite);
  ~CellTable();
  CellTable(const CellTable&) = delete;
  CellTable& operator=(const CellTable&) = delete;

  /// \throws IoError
  void add(std::span<const CellRow> rows);
  /// Makes sure that the file system took everything.
  /// \throws IoError
  void seal();
  /// Gives the file its name.
  /// \throws IoError
  void finish();

 private:
  [[noreturn]] void fail(const char* what) const;
  void put(const std::string& text);

  std::string path_;
  std::string temporary_;
  std::FILE* file_ = nullptr;
  bool overwrite_;
};

}  // namespace sluice::app
