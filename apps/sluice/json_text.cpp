// SPDX-License-Identifier: Apache-2.0
#include "json_text.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "numbers.hpp"

namespace sluice::app {

namespace {

std::string scalar_text(const Json& value) {
  if (value.is_binary()) return {value.get_binary().begin(), value.get_binary().end()};
  if (value.is_number_float()) {
    const double number = value.get<double>();
    return std::isfinite(number) ? text_of(number) : "null";
  }
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Lists of scalars stay on one line.
void append(const Json& value, int depth, std::string& out) {
  if (!value.is_structured()) {
    out += scalar_text(value);
    return;
  }
  const bool object = value.is_object();
  bool flat = true;
  for (const Json& member : value) flat = flat && !member.is_structured();
  flat = flat && (!object || depth > 0);
  const std::string line_break = flat ? " " : "\n" + std::string(2 * (static_cast<std::size_t>(depth) + 1), ' ');
  out += object ? '{' : '[';
  bool first = true;
  for (auto it = value.begin(); it != value.end(); ++it) {
    if (!first) out += ',';
    if (!first || !flat) out += line_break;
    first = false;
    if (object) out += Json(it.key()).dump(-1, ' ', false, Json::error_handler_t::replace) + ": ";
    append(it.value(), depth + 1, out);
  }
  if (!flat && !first) out += "\n" + std::string(2 * static_cast<std::size_t>(depth), ' ');
  out += object ? '}' : ']';
}

}  // namespace

Json exact_number(const Decimal& value) {
  // JSON of this library has no numbers beyond double; its bytes type carries the digits to `scalar_text`.
  const std::string text = text_of(value);
  return Json::binary(std::vector<std::uint8_t>(text.begin(), text.end()));
}

std::string json_text(const Json& document) {
  std::string out;
  append(document, 0, out);
  out += '\n';
  return out;
}

}  // namespace sluice::app
