// SPDX-License-Identifier: Apache-2.0
#include "text_types.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <mutex>

#include "../columns/layout.hpp"

namespace sluice::io::text {
namespace {

// A float64 holds every whole number of so many digits.
constexpr std::size_t kSafeDigits = 15;
constexpr std::string_view kMostInt64 = "9223372036854775807";
constexpr std::size_t kWord = sizeof(std::uint64_t);

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// True where all eight bytes are digits.
bool are_digits(std::uint64_t word) {
  const std::uint64_t values = word ^ 0x3030303030303030U;
  return ((values | (values + 0x7676767676767676U)) & 0x8080808080808080U) == 0;
}

/// True where the number in these digits is a float64.
bool is_exact(std::string_view digits) {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.size() <= kSafeDigits) return true;
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  if (std::from_chars(digits.data(), end, number).ec == std::errc()) {
    double wide = 0.0;
    return columns::widen(FieldType::kUint64, reinterpret_cast<const std::byte*>(&number), wide);
  }
  // The digits of the nearest float64 are those of the number where it is the same.
  double nearest = 0.0;
  if (std::from_chars(digits.data(), end, nearest).ec != std::errc()) return false;
  char spelt[400];  // of the largest float64
  const char* const spelt_end = std::to_chars(spelt, spelt + sizeof spelt, nearest, std::chars_format::fixed, 0).ptr;
  return digits == std::string_view(spelt, static_cast<std::size_t>(spelt_end - spelt));
}

void add(std::string_view value, ColumnKind& kind) {
  if (!kind.whole && (kind.wide || value.size() <= kSafeDigits)) return;
  const bool negative = value.starts_with('-');
  const std::string_view digits = value.substr(negative || value.starts_with('+') ? 1 : 0);
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) {
    kind.whole = false;
    return;
  }
  kind.negative = kind.negative || negative;
  if (digits.size() <= kSafeDigits) return;
  kind.wide = kind.wide || !is_exact(digits);
  if (digits.size() < kMostInt64.size() || (digits.size() == kMostInt64.size() && digits <= kMostInt64)) return;
  const auto fits = [](std::string_view text, auto number) {
    return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc();
  };
  if (fits(negative ? value : digits, std::int64_t{})) return;
  (!negative && fits(digits, std::uint64_t{}) ? kind.above : kind.unheld) = true;
}

void add(const ColumnKind& part, ColumnKind& kind) {
  kind.whole = kind.whole && part.whole;
  kind.wide = kind.wide || part.wide;
  kind.negative = kind.negative || part.negative;
  kind.above = kind.above || part.above;
  kind.unheld = kind.unheld || part.unheld;
}

void add_line(std::string_view line, columns::Separator separator, std::vector<ColumnKind>& kinds) {
  const char* p = line.data();
  const char* const end = p + line.size();
  for (ColumnKind& kind : kinds) {
    while (p < end && columns::is_blank(*p)) ++p;
    const char* const begin = p;
    while (p < end && !columns::is_blank(*p) && *p != separator) ++p;
    if (p == begin) return;
    add(std::string_view(begin, static_cast<std::size_t>(p - begin)), kind);
    while (p < end && columns::is_blank(*p)) ++p;
    if (p < end && *p == separator) ++p;
  }
}

}  // namespace

FieldType ColumnKind::type() const {
  if (!wide || !whole || unheld || (above && negative)) return FieldType::kFloat64;
  return above ? FieldType::kUint64 : FieldType::kInt64;
}

bool may_be_wide(std::string_view lines) {
  const char* const begin = lines.data();
  const char* const end = begin + lines.size();
  // More digits than are safe fill one of the words that follow each other.
  for (const char* p = begin; static_cast<std::size_t>(end - p) >= kWord;) {
    if (!are_digits(load_unaligned<std::uint64_t>(reinterpret_cast<const std::byte*>(p)))) {
      p += kWord;
      continue;
    }
    const char* first = p;
    while (first > begin && is_digit(first[-1])) --first;
    p += kWord;
    while (p < end && is_digit(*p)) ++p;
    if (first > begin && first[-1] == '.') continue;
    if (p < end && (*p == '.' || *p == 'e' || *p == 'E')) continue;
    if (!is_exact(std::string_view(first, static_cast<std::size_t>(p - first)))) return true;
  }
  return false;
}

std::vector<ColumnKind> kinds_of(const columns::TextBody& body, const InputBytes& bytes,
                                 const columns::LineIndex& index, columns::Separator separator, std::size_t columns) {
  std::vector<ColumnKind> out(columns);
  std::mutex mutex;
  const std::vector<columns::LineIndex::Block>& blocks = index.blocks();
  tbb::parallel_for(tbb::blocked_range<std::size_t>(1, blocks.size()), [&](const auto& range) {
    std::vector<ColumnKind> part(columns);
    for (std::size_t b = range.begin(); b < range.end(); ++b) {
      const std::string_view lines = body.text.substr(blocks[b - 1].at, blocks[b].at - blocks[b - 1].at);
      for (std::string_view rest = lines; !rest.empty();) {
        const std::string_view line = columns::take_line(rest, body.line_end, rest);
        if (columns::is_point(line, body.comments)) add_line(line, separator, part);
      }
      bytes.release(reinterpret_cast<const std::byte*>(lines.data()), lines.size());
    }
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < columns; ++i) add(part[i], out[i]);
  });
  return out;
}

}  // namespace sluice::io::text
