// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the columns of a text hold, which it does not say itself: all of its values decide.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "../columns/lines.hpp"
#include "../columns/text_row.hpp"

namespace sluice::io::text {

/// What the values of a column have in common.
struct ColumnKind {
  bool whole = true;      ///< all are whole numbers, in digits alone
  bool wide = false;      ///< one is a whole number that float64 does not hold
  bool negative = false;  ///< one is below zero
  bool above = false;     ///< one is beyond int64, within uint64
  bool unheld = false;    ///< one is a whole number beyond both

  /// int64 or uint64 where one of them holds all values and float64 does not; else float64.
  [[nodiscard]] FieldType type() const;
};

/// True where some value may be wide; false where none is. Fast: nearly all texts are done with that.
/// \param lines  whole lines
[[nodiscard]] bool may_be_wide(std::string_view lines);

/// Reads all of the columns, in parallel, and releases what it has read. Lines with fewer or more values are left to
/// those who need them.
[[nodiscard]] std::vector<ColumnKind> kinds_of(const columns::TextBody& body, const InputBytes& bytes,
                                               const columns::LineIndex& index, columns::Separator separator,
                                               std::size_t columns);

}  // namespace sluice::io::text
