// SPDX-License-Identifier: Apache-2.0
/// \file
/// The options that say what a cell is; `thin` and `bin` share them.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "sluice/operations.hpp"

namespace sluice::app {

class GridChoice {
 public:
  void add_to(CLI::App& command);
  /// \throws UsageError
  [[nodiscard]] GridOptions build() const;
  /// Refuses cells that cannot be decided exactly for points of this layout.
  /// \throws InputError
  void check(const GridOptions& grid, const CloudInfo& layout) const;

 private:
  std::string cell_, dims_ = "xyz", origin_;
};

}  // namespace sluice::app
