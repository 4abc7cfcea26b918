// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of numbers as text: '.' whatever the locale, floats with as many digits as it takes to read them back exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "layout.hpp"
#include "lines.hpp"

namespace sluice::io::columns {

/// Between the values of a row: a character, or with ' ' any blanks and tabs.
using Separator = char;

/// What is wrong with a row.
struct RowProblem {
  const char* at = nullptr;
  std::size_t column = 0;  ///< from 0
  std::string what;
};

/// Reads one row, without its line end, into a record. Numbers are rounded once, to the type of the column; a column of
/// integers also takes other spellings of whole numbers.
/// \return false where something is wrong
bool parse_row(const Layout& layout, Separator separator, const char* begin, const char* end, std::byte* out,
               RowProblem& problem);

/// True where the last line of a text has no end and is no whole row, as where a file was cut short.
[[nodiscard]] bool is_cut_short(const TextBody& body, const Layout& layout, Separator separator);

/// True where all of a text is a number, NaN or infinity.
[[nodiscard]] bool is_number(const char* begin, const char* end);

/// Most characters of a row with its line end.
[[nodiscard]] std::uint64_t most_row_chars(const Layout& layout);

/// Writes a record as a row that ends in '\n' to `out`, which has room for `most_row_chars`.
/// \return the end of what was written; null where a coordinate does not fit the type that it has in the file
char* format_row(const Layout& layout, Separator separator, const std::byte* record, char* out);

}  // namespace sluice::io::columns
