// SPDX-License-Identifier: Apache-2.0
#include "text_row.hpp"

#include <algorithm>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <type_traits>

#include "types.hpp"

namespace sluice::io::columns {
namespace {

constexpr std::uint64_t kMostValueChars = 25;  // -2.2250738585072014e-308 and a separator

/// The nearest double whatever its size; what from_chars leaves aside as out of range is decided here.
bool parse_extreme(std::string_view token, double& out) {
  static const locale_t plain = ::newlocale(LC_ALL_MASK, "C", nullptr);
  const std::string text(token);
  char* end = nullptr;
  out = ::strtod_l(text.c_str(), &end, plain);
  return end == text.c_str() + text.size() && std::isfinite(out);
}

bool parse_double(std::string_view token, double& out) {
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), out);
  if (end != token.data() + token.size()) return false;
  return error == std::errc() || (error == std::errc::result_out_of_range && parse_extreme(token, out));
}

bool is_whole_text(std::string_view token) {
  return token.find_first_not_of("0123456789", token.starts_with('-') ? 1 : 0) == std::string_view::npos;
}

/// The tokens that the fast path does not take: a plus sign, numbers beyond all ranges, 1e3 as an integer.
template <typename T>
bool parse_slowly(std::string_view token, T& out) {
  if (token.starts_with('+') && token.size() > 1 && token[1] != '-') token.remove_prefix(1);
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), out);
  if (error == std::errc() && end == token.data() + token.size()) return true;
  double value = 0.0;
  if (!parse_double(token, value)) return false;
  if constexpr (std::is_floating_point_v<T>) {
    out = static_cast<T>(value);
    return std::isfinite(out) || !std::isfinite(value);
  } else {
    // Digits that do not fit the type do not become a rounded double first.
    if (is_whole_text(token) || value != std::trunc(value)) return false;
    constexpr FieldType kType = std::is_signed_v<T> ? FieldType::kInt64 : FieldType::kUint64;
    std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t> wide = 0;
    if (!narrow(value, kType, reinterpret_cast<std::byte*>(&wide))) return false;
    out = static_cast<T>(wide);
    return static_cast<decltype(wide)>(out) == wide;
  }
}

template <typename T>
char* format(T value, char* out) {
  return std::to_chars(out, out + kMostValueChars, value).ptr;
}

std::string shown(std::string_view token) {
  constexpr std::size_t kMost = 40;
  std::string out = "'";
  for (const char c : token.substr(0, kMost)) out += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c;
  return out + (token.size() > kMost ? "...'" : "'");
}

}  // namespace

bool parse_row(const Layout& layout, Separator separator, const char* begin, const char* end, std::byte* out,
               RowProblem& problem) {
  const bool by_blanks = separator == ' ';
  const auto ends_value = [&](char c) { return is_blank(c) || (!by_blanks && c == separator); };
  const char* p = begin;
  std::size_t column = 0;
  const auto fail = [&](const char* at, std::string what) {
    problem = {at, column, std::move(what)};
    return false;
  };
  for (const StoredValue& stored : layout.values()) {
    while (p < end && is_blank(*p)) ++p;
    if (!by_blanks && column != 0) {
      if (p == end || *p != separator) {
        return fail(
            p, "the line has " + std::to_string(column) + " values, not " + std::to_string(layout.values().size()));
      }
      ++p;
      while (p < end && is_blank(*p)) ++p;
    }
    if (p == end) {
      return fail(p,
                  "the line has " + std::to_string(column) + " values, not " + std::to_string(layout.values().size()));
    }
    const char* next = nullptr;
    const bool good = with_type(stored.file_type, [&]<typename T>(T value) {
      const auto [stop, error] = std::from_chars(p, end, value);
      next = stop;
      bool right = error == std::errc() && (stop == end || ends_value(*stop));
      if (!right) {
        next = p;
        while (next < end && !ends_value(*next)) ++next;
        right = parse_slowly(std::string_view(p, static_cast<std::size_t>(next - p)), value);
      }
      if (!right) return false;
      if (stored.type == stored.file_type) {
        store_unaligned(out + stored.at, value);
        return true;
      }
      double wide = 0.0;
      if (!widen(stored.file_type, reinterpret_cast<const std::byte*>(&value), wide)) return false;
      store_unaligned(out + stored.at, wide);
      return true;
    });
    if (!good) {
      const std::string_view token(p, static_cast<std::size_t>(next - p));
      const bool whole = stored.file_type != FieldType::kFloat32 && stored.file_type != FieldType::kFloat64;
      if (token.empty()) return fail(p, "a value is missing");
      const bool digits = is_number(token.data(), token.data() + token.size());
      return fail(p, shown(token) + (!digits ? " is no number"
                                     : whole ? " does not fit the integer type of the column"
                                             : " is out of range"));
    }
    p = next;
    ++column;
  }
  while (p < end && is_blank(*p)) ++p;
  if (p != end) return fail(p, "the line has more than " + std::to_string(column) + " values");
  return true;
}

bool is_cut_short(const TextBody& body, const Layout& layout, Separator separator) {
  const std::string_view line = body.text.substr(body.text.rfind(body.line_end) + 1);
  if (!is_point(line, body.comments)) return false;
  std::vector<std::byte> record(layout.record_bytes());
  RowProblem problem;
  return !parse_row(layout, separator, line.data(), line.data() + line.size(), record.data(), problem);
}

bool is_number(const char* begin, const char* end) {
  if (end - begin > 1 && begin[0] == '+' && begin[1] != '-') ++begin;
  double value = 0.0;
  const auto [stop, error] = std::from_chars(begin, end, value);
  return stop == end && begin != end && error != std::errc::invalid_argument;
}

std::uint64_t most_row_chars(const Layout& layout) { return kMostValueChars * layout.values().size() + 1; }

char* format_row(const Layout& layout, Separator separator, const std::byte* record, char* out) {
  bool first = true;
  for (const StoredValue& stored : layout.values()) {
    if (!first) *out++ = separator;
    first = false;
    const bool fits = with_type(stored.file_type, [&]<typename T>(T value) {
      if (stored.type == stored.file_type) {
        value = load_unaligned<T>(record + stored.at);
      } else if (!narrow(load_unaligned<double>(record + stored.at), stored.file_type,
                         reinterpret_cast<std::byte*>(&value))) {
        return false;
      }
      out = format(value, out);
      return true;
    });
    if (!fits) return nullptr;
  }
  *out++ = '\n';
  return out;
}

}  // namespace sluice::io::columns
