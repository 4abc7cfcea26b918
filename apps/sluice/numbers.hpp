// SPDX-License-Identifier: Apache-2.0
/// \file
/// Numbers of the command line: '.' whatever the locale, nothing before or after them but blanks, never NaN.
/// Every function throws UsageError that names the option.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/core/decimal.hpp"

namespace sluice::app {

/// Splits at commas; blanks around the parts are dropped.
[[nodiscard]] std::vector<std::string_view> split_list(std::string_view text);

/// A finite number.
[[nodiscard]] double parse_real(std::string_view text, std::string_view option);
/// A number that may be `inf` or `-inf`.
[[nodiscard]] double parse_bound(std::string_view text, std::string_view option);
/// A list of bounds with one of the given lengths.
/// \param form  what the option wants, for the message: "x,y,z,r"
[[nodiscard]] std::vector<double> parse_bounds(std::string_view text, std::string_view option,
                                               std::initializer_list<std::size_t> lengths, std::string_view form);
/// One value for all three axes, or three.
[[nodiscard]] std::array<double, 3> parse_axes(std::string_view text, std::string_view option);
/// The same for `--scale`, the steps of coordinates: each larger than 0.
[[nodiscard]] std::array<double, 3> parse_scale(std::string_view text);
/// A whole number from `least` to `most`.
[[nodiscard]] std::uint64_t parse_whole(std::string_view text, std::string_view option, std::uint64_t least,
                                        std::uint64_t most);
/// Bytes: a whole number, alone or with K, M, G, T (powers of 1024, as KiB, MiB, ...) or KB, MB, GB, TB (of 1000), any
/// case.
[[nodiscard]] std::uint64_t parse_size(std::string_view text, std::string_view option);
/// `1.0` to `1.5`.
/// \return what follows the point
[[nodiscard]] int parse_las_version(std::string_view text);
/// The exact number that was typed.
[[nodiscard]] Decimal parse_decimal(std::string_view text, std::string_view option);

/// A value as messages show it: in quotes, on one line, and cut where it is long.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// The shortest text that reads back as this double.
[[nodiscard]] std::string text_of(double value);
/// All digits of an exact decimal; with an exponent only where there would be many zeros.
[[nodiscard]] std::string text_of(const Decimal& value);

}  // namespace sluice::app
