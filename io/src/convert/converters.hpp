// SPDX-License-Identifier: Apache-2.0
/// \file
/// The converters that `make_converter` chooses from, and what they share.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../columns/types.hpp"
#include "sluice/io/columns.hpp"
#include "sluice/io/convert.hpp"

namespace sluice::io::convert {

/// To PCD, PLY, text and raw files.
/// \param format  of the output
std::shared_ptr<const RecordConverter> to_columns(const CloudInfo& source, const ConvertTarget& target,
                                                  const std::string& format);

/// From these to LAS and LAZ.
std::shared_ptr<const RecordConverter> columns_to_las(const CloudInfo& source, const ConvertTarget& target,
                                                      const PointSummary& summary);

/// A field and the name that the file gave it.
struct NamedField {
  Field field;
  std::string name;
  FieldType file_type = FieldType::kUint8;
};
[[nodiscard]] std::vector<NamedField> named_fields(const CloudInfo& info);

/// Collects what would be lost.
class Losses {
 public:
  Losses(std::string name, bool strict) : name_(std::move(name)), strict_(strict) {}
  /// \throws Unsupported where nothing may be lost
  void add(const std::string& what);
  /// Something to know that loses nothing.
  void note(std::string what) { all_.push_back(std::move(what)); }
  [[nodiscard]] bool strict() const noexcept { return strict_; }
  [[nodiscard]] const std::vector<std::string>& all() const noexcept { return all_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  std::string name_;
  bool strict_;
  std::vector<std::string> all_;
};

/// What a file of this kind holds beside the points, and no other can.
void lose_metadata(const CloudInfo& source, Losses& losses);

/// True where the extension of an output asks for another style of text than the source, a text, has: that of a `.csv`
/// or an `.xyz` file, and the source is none.
[[nodiscard]] bool changes_text_style(const CloudInfo& source, const std::string& path);

/// Real value of a field: scaled where the field is.
[[nodiscard]] inline double real_value(const Field& field, const Value& value) {
  if (!field.scaled) return value.as_real();
  const double product = value.as_real() * field.scale;
  return product + field.shift;
}

}  // namespace sluice::io::convert
