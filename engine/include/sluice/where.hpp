// SPDX-License-Identifier: Apache-2.0
/// \file
/// The text form of conditions on fields: `classification in (2,6) && intensity > 100 && !(z < 5)`.
#pragma once

#include <string_view>

#include "sluice/core/region.hpp"

namespace sluice {

/// Reads a condition. Operators, loosest first: `||`, `&&`, `!`, then `== != < <= > >=` and `in (number, ...)`;
/// parentheses group. Either side of a comparison is a field or a number. Numbers are read exactly: whole ones that fit
/// as 64-bit integers, others as the nearest double, with '.' whatever the locale.
/// \throws InvalidArgument naming the column (from 1) and what was expected there
[[nodiscard]] Expression parse_where(std::string_view text);

}  // namespace sluice
