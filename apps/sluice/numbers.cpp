// SPDX-License-Identifier: Apache-2.0
#include "numbers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "usage_error.hpp"

namespace sluice::app {

namespace {

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.push_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

double parse_bound(std::string_view text, std::string_view option) {
  std::string_view digits = trimmed(text);
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) {
    throw UsageError(fmt::format("{}: {} is outside the range of numbers", option, in_quotes(text)));
  }
  if (error != std::errc() || end != digits.data() + digits.size() || std::isnan(value)) {
    throw UsageError(fmt::format("{}: {} is not a number", option, in_quotes(text)));
  }
  return value;
}

double parse_real(std::string_view text, std::string_view option) {
  const double value = parse_bound(text, option);
  if (!std::isfinite(value)) throw UsageError(fmt::format("{}: {} is not a finite number", option, in_quotes(text)));
  return value;
}

std::vector<double> parse_bounds(std::string_view text, std::string_view option,
                                 std::initializer_list<std::size_t> lengths, std::string_view form) {
  const std::vector<std::string_view> parts = split_list(text);
  if (std::find(lengths.begin(), lengths.end(), parts.size()) == lengths.end()) {
    throw UsageError(fmt::format("{}: {} has {} numbers; wanted is {}", option, in_quotes(text), parts.size(), form));
  }
  std::vector<double> values;
  values.reserve(parts.size());
  for (const std::string_view part : parts) values.push_back(parse_bound(part, option));
  return values;
}

std::array<double, 3> parse_axes(std::string_view text, std::string_view option) {
  const std::vector<std::string_view> parts = split_list(text);
  if (parts.size() != 1 && parts.size() != 3) {
    throw UsageError(fmt::format("{}: {} has {} numbers; wanted is one for all axes, or x,y,z", option, in_quotes(text),
                                 parts.size()));
  }
  std::array<double, 3> values{};
  for (std::size_t d = 0; d < 3; ++d) values[d] = parse_real(parts[parts.size() == 1 ? 0 : d], option);
  return values;
}

std::array<double, 3> parse_scale(std::string_view text) {
  const std::array<double, 3> scale = parse_axes(text, "--scale");
  for (const double step : scale) {
    if (!(step > 0.0)) throw UsageError(fmt::format("--scale: {}; a step must be larger than 0", in_quotes(text)));
  }
  return scale;
}

std::uint64_t parse_whole(std::string_view text, std::string_view option, std::uint64_t least, std::uint64_t most) {
  const std::string_view digits = trimmed(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < least || value > most) {
    throw UsageError(fmt::format("{}: {} is not a whole number from {} to {}", option, in_quotes(text), least, most));
  }
  return value;
}

std::uint64_t parse_size(std::string_view text, std::string_view option) {
  const auto refuse = [&] {
    return UsageError(fmt::format("{}: {} is not a size; wanted is a number of bytes, or one with K, M, G, T", option,
                                  in_quotes(text)));
  };
  const std::string_view whole = trimmed(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), value);
  if (error != std::errc()) throw refuse();
  std::string unit(trimmed(whole.substr(static_cast<std::size_t>(end - whole.data()))));
  for (char& c : unit) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  std::uint64_t factor = 1;
  if (!unit.empty() && unit != "B") {
    constexpr std::string_view kPrefixes = "KMGT";
    const std::size_t power = kPrefixes.find(unit[0]);
    const std::string_view rest = std::string_view(unit).substr(1);
    if (power == std::string_view::npos || (!rest.empty() && rest != "B" && rest != "IB")) throw refuse();
    for (std::size_t i = 0; i <= power; ++i) factor *= rest == "B" ? 1000 : 1024;
  }
  if (value == 0 || value > std::numeric_limits<std::uint64_t>::max() / factor) throw refuse();
  return value * factor;
}

int parse_las_version(std::string_view text) {
  const std::string_view version = trimmed(text);
  if (version.size() != 3 || version.substr(0, 2) != "1." || version[2] < '0' || version[2] > '5') {
    throw UsageError(fmt::format("--las-version: {} is none of 1.0 to 1.5", in_quotes(text)));
  }
  return version[2] - '0';
}

Decimal parse_decimal(std::string_view text, std::string_view option) {
  try {
    return Decimal::parse(trimmed(text));
  } catch (const Unsupported&) {
    throw UsageError(fmt::format("{}: {} has more digits than 128 bits hold", option, in_quotes(text)));
  } catch (const InvalidArgument&) {
    throw UsageError(fmt::format("{}: {} is not a decimal number", option, in_quotes(text)));
  }
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 60;  // bytes that are shown
  std::size_t shown = std::min(text.size(), kMost);
  // Never within a character of UTF-8.
  while (shown < text.size() && shown > 0 && (static_cast<unsigned char>(text[shown]) & 0xc0U) == 0x80U) --shown;
  std::string out = "'";
  for (const char c : text.substr(0, shown)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return out + (shown < text.size() ? "...'" : "'");
}

// The shortest digits that read back, whatever the locale; an exponent only where there would be many zeros.
std::string text_of(double value) { return fmt::format("{}", value); }

std::string text_of(const Decimal& value) {
  std::string digits = value.digits_text();
  const bool negative = digits[0] == '-';
  if (negative) digits.erase(0, 1);
  const int length = static_cast<int>(digits.size());
  std::string text;
  if (value.exponent > 20 || value.exponent < -60) {
    text = fmt::format("{}e{}", digits, value.exponent);
  } else if (value.exponent >= 0) {
    text = digits + std::string(static_cast<std::size_t>(value.digits == 0 ? 0 : value.exponent), '0');
  } else if (-value.exponent < length) {
    digits.insert(static_cast<std::size_t>(length) - static_cast<std::size_t>(-value.exponent), ".");
    text = digits;
  } else {
    text = "0." + std::string(static_cast<std::size_t>(-value.exponent - length), '0') + digits;
  }
  return negative ? "-" + text : text;
}

}  // namespace sluice::app
