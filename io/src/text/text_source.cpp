// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "../columns/sources.hpp"
#include "sluice/core/error.hpp"
#include "sluice/io/text.hpp"
#include "text_file.hpp"
#include "text_types.hpp"

namespace sluice::io::text {
namespace {

using columns::is_number;

// What precedes the points, and any one of their lines, is not longer.
constexpr std::size_t kMostHeadBytes = std::size_t{1} << 20;

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t\r");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\r") - from + 1);
}

char separator_of(std::string_view line) {
  for (const char separator : {';', ','}) {
    if (line.find(separator) != std::string_view::npos) return separator;
  }
  return trimmed(line).find('\t') != std::string_view::npos ? '\t' : ' ';
}

/// Values, or names without their quotes. Blanks and tabs separate where nothing else does.
std::vector<std::string_view> split(std::string_view line, char separator) {
  std::vector<std::string_view> out;
  line = trimmed(line);
  const std::string_view ends = separator == ',' ? "," : separator == ';' ? ";" : " \t";
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find_first_of(ends, at), line.size());
    std::string_view part = trimmed(line.substr(at, end - at));
    const bool is_word = !part.empty() || ends.size() == 1;
    // An empty name in quotes is a name, so that a line with anything on it has one.
    if (part.size() >= 2 && part.front() == '"' && part.back() == '"') part = part.substr(1, part.size() - 2);
    if (is_word) out.push_back(part);
    at = end + 1;
  }
  return out;
}

bool is_axis(std::string_view name, char axis) {
  return name.size() == 1 && (name[0] == axis || name[0] == static_cast<char>(axis - 'a' + 'A'));
}

bool names_all_axes(const std::vector<std::string_view>& names) {
  return std::all_of(std::begin("xyz"), std::end("xyz") - 1, [&](char axis) {
    return std::any_of(names.begin(), names.end(), [axis](std::string_view name) { return is_axis(name, axis); });
  });
}

bool is_whole(std::string_view text, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

class Parser {
 public:
  Parser(std::shared_ptr<const InputBytes> bytes, const ReadOptions& options)
      : bytes_(std::move(bytes)),
        options_(options),
        text_(reinterpret_cast<const char*>(bytes_->data()), bytes_->size()) {}

  std::unique_ptr<ChunkSource> open() {
    at_ = text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    line_end_ = columns::line_end_of(text_.substr(at_, kMostHeadBytes));
    read_head();
    name_columns();
    const columns::TextBody body{text_.substr(at_), line_end_, true};
    const columns::Separator separator = metadata_->separator == '\t' ? ' ' : metadata_->separator;
    std::atomic<bool> wide = false;
    columns::LineIndex index(body, *bytes_, [&wide](std::string_view lines) {
      if (!wide && may_be_wide(lines)) wide = true;
    });
    CloudInfo info;
    if (wide) type_columns(kinds_of(body, *bytes_, index, separator, metadata_->columns.size()), info);
    columns::Layout layout = layout_of_columns();
    std::uint64_t stored = index.points();
    if (options_.recover && columns::is_cut_short(body, layout, separator)) {
      --stored;
      recovered_ = true;
      info.warnings.push_back("the last line is cut short; the points before it were read");
    }
    info.point_count = stored;
    if (counted_) check_count(stored, info);
    info.name = bytes_->path();
    info.schema = layout.schema();
    info.frame = layout.frame();
    info.metadata = metadata_;
    return columns::make_text_source(
        {bytes_, std::move(info), std::move(layout), separator, body, std::move(index), 0, recovered_});
  }

 private:
  [[noreturn]] void fail(std::uint64_t at, const std::string& problem) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), line_end_);
    throw FormatError(bytes_->path(), at, "line " + std::to_string(line), problem);
  }

  /// The next line that is not blank, without going past it; empty at the end.
  std::string_view peek(std::uint64_t at, std::uint64_t& begin, std::uint64_t& end) const {
    while (at < text_.size()) {
      begin = at;
      const std::string_view all = text_.substr(at, kMostHeadBytes);
      const std::size_t size = all.find(line_end_);
      if (size == std::string_view::npos && text_.size() - at > kMostHeadBytes) fail(at, "the line is too long");
      const std::string_view line = all.substr(0, size);
      end = at = at + line.size() + (size == std::string_view::npos ? 0 : 1);
      if (!trimmed(line).empty()) return line;
    }
    begin = end = text_.size();
    return {};
  }

  /// Everything before the first point, and how that looks.
  void read_head() {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    for (;;) {
      const std::string_view line = peek(at_, begin, end);
      if (line.empty()) break;
      if (!columns::is_point(line, true)) {
        read_comment(line);
        at_ = end;
        continue;
      }
      const std::vector<std::string_view> words = split(line, separator_of(line));
      if (!counted_ && names_at_ == kNowhere && is_count(words, end)) {
        counted_at_ = begin;
        at_ = end;
        continue;
      }
      const bool is_value = is_number(words[0].data(), words[0].data() + words[0].size());
      if (names_at_ == kNowhere && !is_value) {
        names_ = words;
        names_at_ = begin;
        metadata_->header = TextHeader::kLine;
        metadata_->separator = separator_of(line);
        at_ = end;
        continue;
      }
      metadata_->separator = separator_of(line);
      first_ = split(line, metadata_->separator);
      first_at_ = begin;
      break;
    }
  }

  /// CloudCompare and others name the columns there.
  void read_comment(std::string_view line) {
    line = trimmed(line);
    line.remove_prefix(line.starts_with('#') ? 1 : 2);
    const std::vector<std::string_view> words = split(line, separator_of(trimmed(line)));
    if (names_at_ == kNowhere && names_all_axes(words)) {
      said_names_ = words;
      metadata_->header = TextHeader::kComment;
      said_separator_ = separator_of(trimmed(line));
    }
  }

  /// One whole number, above a line of several values.
  bool is_count(const std::vector<std::string_view>& words, std::uint64_t behind) {
    std::uint64_t number = 0;
    if (words.size() != 1 || !is_whole(words[0], number)) return false;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::string_view line = peek(behind, begin, end);
    while (!line.empty() && !columns::is_point(line, true)) line = peek(end, begin, end);
    if (!line.empty() && split(line, separator_of(line)).size() < 2) return false;
    counted_ = number;
    return true;
  }

  void name_columns() {
    std::vector<std::string> names;
    if (!options_.fields.empty()) {
      names = options_.fields;
    } else if (names_at_ != kNowhere) {
      names.assign(names_.begin(), names_.end());
    } else if (!said_names_.empty() && (first_.empty() || said_names_.size() == first_.size())) {
      names.assign(said_names_.begin(), said_names_.end());
      if (first_.empty()) metadata_->separator = said_separator_;
    } else {
      metadata_->header = TextHeader::kNone;
      for (std::size_t i = 0; i < std::max<std::size_t>(first_.size(), 3); ++i) {
        names.push_back(i < 3 ? std::string(1, static_cast<char>('x' + i)) : "c" + std::to_string(i));
      }
    }
    if (!first_.empty() && first_.size() != names.size()) {
      fail(first_at_, "the line has " + std::to_string(first_.size()) + " values, and there " +
                          (options_.fields.empty() && names_at_ == kNowhere ? "must be at least "
                           : names.size() == 1                              ? "is a name for "
                                                                            : "are names for ") +
                          std::to_string(names.size()));
    }
    for (std::string& name : names) metadata_->columns.push_back({std::move(name), FieldType::kFloat64, 1});
  }

  void type_columns(const std::vector<ColumnKind>& kinds, CloudInfo& info) {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      ColumnField& column = metadata_->columns[i];
      const bool is_coordinate = is_axis(column.name, 'x') || is_axis(column.name, 'y') || is_axis(column.name, 'z');
      if (!is_coordinate) column.type = kinds[i].type();
      if (!kinds[i].wide || column.type != FieldType::kFloat64) continue;
      metadata_->left_out.push_back(
          "column '" + column.name + "' has whole numbers of more digits than " +
          (is_coordinate ? "a coordinate can have" : "a float64 and numbers that no integer is") +
          "; they are rounded");
      info.warnings.push_back(metadata_->left_out.back());
    }
  }

  [[nodiscard]] columns::Layout layout_of_columns() const {
    try {
      return columns::Layout(metadata_->columns);
    } catch (const InvalidArgument& error) {
      if (!options_.fields.empty()) throw InvalidArgument(bytes_->path() + ": " + error.what());
      fail(names_at_ != kNowhere ? names_at_ : first_at_, error.what());
    }
  }

  void check_count(std::uint64_t stored, CloudInfo& info) {
    const std::string problem =
        "the line counts " + std::to_string(*counted_) + " points, the file has " + std::to_string(stored);
    if (*counted_ > stored) {
      if (!options_.recover) fail(counted_at_, problem);
      recovered_ = true;
      info.warnings.push_back(problem + "; those were read");
    } else if (*counted_ < stored) {
      info.point_count = *counted_;
      info.warnings.push_back(problem + "; the counted ones are read");
    }
  }

  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

  std::shared_ptr<const InputBytes> bytes_;
  ReadOptions options_;
  std::string_view text_;
  char line_end_ = '\n';
  std::uint64_t at_ = 0;  ///< behind what was read
  std::shared_ptr<TextMetadata> metadata_ = std::make_shared<TextMetadata>();
  std::vector<std::string_view> names_;  ///< of the first line
  std::uint64_t names_at_ = kNowhere;
  std::vector<std::string_view> said_names_;  ///< of a comment
  char said_separator_ = ' ';
  std::optional<std::uint64_t> counted_;
  std::uint64_t counted_at_ = 0;
  std::vector<std::string_view> first_;  ///< values of the first point
  std::uint64_t first_at_ = 0;
  bool recovered_ = false;
};

}  // namespace

bool matches(std::span<const std::byte> head) {
  return !head.empty() && std::all_of(head.begin(), head.end(), [](std::byte byte) {
    const auto c = std::to_integer<unsigned char>(byte);
    return (c >= ' ' && c != 0x7f) || c == '\t' || c == '\r' || c == '\n';
  });
}

bool is_numbers(std::span<const std::byte> head) {
  constexpr std::string_view kCharacters = "0123456789+-.eE,; \t\r\n";
  return !head.empty() && std::all_of(head.begin(), head.end(), [&](std::byte byte) {
    return kCharacters.find(std::to_integer<char>(byte)) != std::string_view::npos;
  });
}

std::unique_ptr<ChunkSource> open(std::shared_ptr<const InputBytes> bytes, const ReadOptions& options) {
  return Parser(std::move(bytes), options).open();
}

}  // namespace sluice::io::text
