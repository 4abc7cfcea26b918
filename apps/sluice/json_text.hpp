// SPDX-License-Identifier: Apache-2.0
/// \file
/// JSON as the program prints it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sluice/core/decimal.hpp"

namespace sluice::app {

/// Members keep the order in which they were put in.
using Json = nlohmann::ordered_json;

/// A number with all digits of an exact decimal, which may be more than a double holds.
[[nodiscard]] Json exact_number(const Decimal& value);

/// The document, indented, with lists of plain values on one line; doubles in their shortest form, those that are
/// not finite as null, bytes that are not UTF-8 replaced. Ends with a line break.
[[nodiscard]] std::string json_text(const Json& document);

}  // namespace sluice::app
