// SPDX-License-Identifier: Apache-2.0
/// \file
/// Points as lines of text: `.xyz`, `.txt`, `.csv`. There is no specification.
#pragma once

#include <cstdint>
#include <string>

#include "sluice/io/columns.hpp"

namespace sluice::io {

/// Where a text says what its columns are.
enum class TextHeader : std::uint8_t {
  kNone,     ///< nowhere
  kLine,     ///< in its first line
  kComment,  ///< in a comment: `//x y z`
};

/// Columns are float64; one of whole numbers that float64 cannot all hold is int64 or uint64. All values of the file
/// decide. Where such a column also has values that no integer is, it is float64, with a warning that it is rounded.
class TextMetadata final : public ColumnMetadata {
 public:
  char separator = ' ';  ///< ' ', '\t', ',' or ';'
  TextHeader header = TextHeader::kNone;

  [[nodiscard]] std::string format() const override { return "text"; }
};

}  // namespace sluice::io
