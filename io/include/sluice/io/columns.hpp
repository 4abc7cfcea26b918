// SPDX-License-Identifier: Apache-2.0
/// \file
/// What PCD, PLY, text and raw files have in common: points are rows of columns that the file names and types itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/core/point_cloud.hpp"

namespace sluice::io {

/// One column of a file, in the order of the file.
struct ColumnField {
  std::string name;  ///< as the file spells it; "_" is padding, which is carried and has no field
  FieldType type = FieldType::kFloat32;
  std::uint32_t count = 1;  ///< values of this type; 0: a name without values
  bool operator==(const ColumnField&) const = default;
};

/// Metadata of all formats whose points are rows of columns.
///
/// A record in memory has the columns in the order of the file without gaps, in little-endian order. Coordinates that
/// are neither all float32 nor all float64 in the file are float64 in memory, and get their own types back on the way
/// out. The schema's names are lower case; values of a column of several are name[0], name[1], ...; a name that is
/// taken gets a number.
class ColumnMetadata : public FormatMetadata {
 public:
  std::vector<ColumnField> columns;
  std::vector<std::string> left_out;  ///< what of the file is not in the records, as warnings that were given

  /// The types of columns too, which decide what a writer can hold.
  [[nodiscard]] std::string difference(const FormatMetadata& other) const override;
};

/// Schema and frame of records with these columns.
/// \throws InvalidArgument where x, y or z is missing or has several values, or records are too long
[[nodiscard]] CloudInfo make_column_info(std::shared_ptr<const ColumnMetadata> metadata);

}  // namespace sluice::io
