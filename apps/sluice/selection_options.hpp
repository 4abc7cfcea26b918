// SPDX-License-Identifier: Apache-2.0
/// \file
/// The options that say which points to keep; `filter`, `thin` and `bin` share them.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "sluice/core/point_cloud.hpp"
#include "sluice/core/region.hpp"

namespace sluice::app {

class SelectionOptions {
 public:
  /// Declares the options on a command; the object must outlive the parsing.
  void add_to(CLI::App& command);
  /// Reads what was given.
  /// \throws UsageError, InputError (a polygon file), InvalidArgument (a condition)
  [[nodiscard]] Selection build() const;
  /// Refuses conditions that do not fit points of this layout, naming the option and the fields that there are.
  /// \throws UsageError
  void check(const CloudInfo& layout) const;
  /// Files that `build` reads.
  [[nodiscard]] std::vector<std::string> files() const;
  /// `--seed`, which `thin --keep random` shares.
  [[nodiscard]] std::uint64_t seed() const;

 private:
  std::vector<std::string> boxes_, oriented_boxes_, spheres_, cylinders_, polygons_, half_spaces_, ranges_, sectors_;
  std::vector<std::string> where_;
  std::string every_, fraction_, seed_;
  bool invert_ = false;
  bool drop_zero_ = false;
};

/// Reads of single options, each throws UsageError.
[[nodiscard]] Box parse_box(const std::string& text);
[[nodiscard]] OrientedBox parse_oriented_box(const std::string& text);
[[nodiscard]] Sphere parse_sphere(const std::string& text);
[[nodiscard]] Cylinder parse_cylinder(const std::string& text);
[[nodiscard]] HalfSpace parse_half_space(const std::string& text);
[[nodiscard]] RangeRing parse_range(const std::string& text);
[[nodiscard]] Sector parse_sector(const std::string& text);

/// An option with one value that may be given many times; the value may begin with a minus sign, and is not empty.
CLI::Option* add_repeated(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                          const std::string& form, const std::string& help);
/// The files that follow a command without an option; at least one, none of them an empty name.
CLI::Option* add_files(CLI::App& command, std::vector<std::string>& values, const std::string& form,
                       const std::string& help);
/// An option with one value that may be given once, and is not empty.
CLI::Option* add_single(CLI::App& command, const std::string& name, std::string& value, const std::string& form,
                        const std::string& help);

}  // namespace sluice::app
