// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "../columns/sources.hpp"
#include "lzf.hpp"
#include "pcd_file.hpp"
#include "sluice/core/error.hpp"

namespace sluice::io::pcd {
namespace {

constexpr std::array<std::string_view, 11> kKeywords = {"VERSION", "FIELDS",    "COLUMNS", "SIZE",   "TYPE", "COUNT",
                                                        "WIDTH",   "VIEWPOINT", "HEIGHT",  "POINTS", "DATA"};
// A header is text of a few lines; nobody should wait for the end of a file that has no such thing.
constexpr std::size_t kMostHeaderBytes = std::size_t{1} << 20;
constexpr std::size_t kSizesBytes = 8;
constexpr std::size_t kPageBytes = 4096;

std::optional<FieldType> type_of(char type, std::uint64_t size) {
  const bool is_signed = type == 'I' || type == 'i';
  if (type == 'F' || type == 'f') {
    if (size == 4) return FieldType::kFloat32;
    if (size == 8) return FieldType::kFloat64;
    return std::nullopt;
  }
  if (!is_signed && type != 'U' && type != 'u') return std::nullopt;
  switch (size) {
    case 1:
      return is_signed ? FieldType::kInt8 : FieldType::kUint8;
    case 2:
      return is_signed ? FieldType::kInt16 : FieldType::kUint16;
    case 4:
      return is_signed ? FieldType::kInt32 : FieldType::kUint32;
    case 8:
      return is_signed ? FieldType::kInt64 : FieldType::kUint64;
    default:
      return std::nullopt;
  }
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The product, or the largest number where it is larger.
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? ~std::uint64_t{0} : out;
}

class Parser {
 public:
  Parser(std::shared_ptr<const InputBytes> bytes, const ReadOptions& options)
      : bytes_(std::move(bytes)),
        options_(options),
        text_(reinterpret_cast<const char*>(bytes_->data()), bytes_->size()) {}

  std::unique_ptr<ChunkSource> open() {
    read_lines();
    read_columns();
    read_viewpoint();
    read_data();
    switch (metadata_->data) {
      case PcdData::kAscii:
        return open_ascii();
      case PcdData::kBinary:
        return open_binary();
      default:
        return open_compressed();
    }
  }

 private:
  struct Line {
    std::uint64_t at = 0;
    std::vector<std::string_view> words;  ///< without the keyword
  };

  [[noreturn]] void fail(std::uint64_t at, std::string field, const std::string& problem) const {
    throw FormatError(bytes_->path(), at, std::move(field), problem);
  }
  [[noreturn]] void fail(std::string_view keyword, const std::string& problem) const {
    fail(lines_[index_of(keyword)] ? lines_[index_of(keyword)]->at : 0, std::string(keyword), problem);
  }

  static std::size_t index_of(std::string_view keyword) {
    return static_cast<std::size_t>(std::find(kKeywords.begin(), kKeywords.end(), keyword) - kKeywords.begin());
  }
  [[nodiscard]] const Line* line(std::string_view keyword) const {
    const auto& found = lines_[index_of(keyword)];
    return found ? &*found : nullptr;
  }

  void read_lines() {
    line_end_ = columns::line_end_of(text_.substr(0, kMostHeaderBytes));
    std::uint64_t at = 0;
    while (line("DATA") == nullptr) {
      const std::string_view all = text_.substr(at, kMostHeaderBytes);
      const std::size_t end = all.find(line_end_);
      const std::string_view one = all.substr(0, end);
      const auto control = std::find_if(one.begin(), one.end(), [](char c) {
        return (static_cast<unsigned char>(c) < ' ' && !columns::is_blank(c)) || c == '\x7f';
      });
      if (at >= text_.size() || at > kMostHeaderBytes || control != one.end()) {
        fail(at, "PCD header", "it ends without a DATA line");
      }
      if (end == std::string_view::npos && columns::words_of(one).size() < 2)
        fail(at, "PCD header", "it ends without a DATA line");
      read_line(at, one);
      at += end == std::string_view::npos ? one.size() : end + 1;
    }
    body_at_ = at;
  }

  void read_line(std::uint64_t at, std::string_view text) {
    std::vector<std::string_view> words = columns::words_of(text);
    if (words.empty() || words[0][0] == '#') return;
    const std::size_t keyword = index_of(words[0]);
    if (keyword == kKeywords.size()) {
      fail(at, "PCD header", "no line of a PCD header begins with '" + std::string(words[0].substr(0, 40)) + "'");
    }
    if (lines_[keyword]) fail(at, std::string(words[0]), "there is a second such line");
    words.erase(words.begin());
    if (words.empty()) fail(at, std::string(kKeywords[keyword]), "the line has no value");
    lines_[keyword] = Line{at, std::move(words)};
  }

  std::string_view single(std::string_view keyword) const {
    const Line& found = *line(keyword);
    if (found.words.size() != 1) {
      fail(keyword, "the line has " + std::to_string(found.words.size()) + " values, not one");
    }
    return found.words[0];
  }

  std::optional<std::uint64_t> number(std::string_view keyword) const {
    if (line(keyword) == nullptr) return std::nullopt;
    const std::string_view text = single(keyword);
    const auto value = columns::whole_number(text);
    if (!value) fail(keyword, "'" + std::string(text) + "' is no number of points");
    return value;
  }

  void read_columns() {
    if (line("VERSION") != nullptr) {
      const std::string_view version = single("VERSION");
      const std::string_view minor = version.substr(std::min(version.size(), version.find('.')));
      const bool known =
          (version[0] == '.' || version.starts_with("0.")) && (minor == ".5" || minor == ".6" || minor == ".7");
      if (!known) fail("VERSION", "'" + std::string(version) + "' is none of 0.5, 0.6 and 0.7");
    }
    if (line("FIELDS") != nullptr && line("COLUMNS") != nullptr) fail("COLUMNS", "there is a FIELDS line too");
    const std::string_view keyword = line("FIELDS") != nullptr ? "FIELDS" : "COLUMNS";
    if (line(keyword) == nullptr) fail(0, "FIELDS", "the header does not name the fields");
    const std::vector<std::string_view>& names = line(keyword)->words;
    for (const std::string_view other : {"SIZE", "TYPE", "COUNT"}) {
      if (line(other) != nullptr && line(other)->words.size() != names.size()) {
        fail(other, "the line has " + std::to_string(line(other)->words.size()) + " values, and there are " +
                        std::to_string(names.size()) + " fields");
      }
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      ColumnField column;
      column.name = names[i];
      // The oldest files say neither, and mean floats of four bytes.
      const auto size = line("SIZE") != nullptr ? columns::whole_number(line("SIZE")->words[i]) : 4;
      const std::string_view type = line("TYPE") != nullptr ? line("TYPE")->words[i] : "F";
      const auto known = type.size() == 1 && size ? type_of(type[0], *size) : std::nullopt;
      if (!known) {
        fail(line("TYPE") != nullptr ? "TYPE" : "SIZE",
             "there is no type " + std::string(type) + " of size " +
                 (line("SIZE") != nullptr ? std::string(line("SIZE")->words[i]) : "4") + " (field " + column.name +
                 ")");
      }
      column.type = *known;
      if (line("COUNT") != nullptr) {
        const auto count = columns::whole_number(line("COUNT")->words[i]);
        if (!count || *count > columns::kMostRecordBytes) {
          fail("COUNT", "'" + std::string(line("COUNT")->words[i]) + "' is no usable number of values (field " +
                            column.name + ")");
        }
        column.count = static_cast<std::uint32_t>(*count);
      }
      metadata_->columns.push_back(std::move(column));
    }
  }

  void read_viewpoint() {
    if (line("VIEWPOINT") == nullptr) return;
    const std::vector<std::string_view>& words = line("VIEWPOINT")->words;
    if (words.size() != 7) fail("VIEWPOINT", "the line has " + std::to_string(words.size()) + " values, not 7");
    std::string text;
    for (const std::string_view word : words) {
      if (!columns::is_number(word.data(), word.data() + word.size())) {
        fail("VIEWPOINT", "'" + std::string(word) + "' is no number");
      }
      text += (text.empty() ? "" : " ") + std::string(word);
    }
    metadata_->viewpoint = text;
  }

  void read_data() {
    const std::string_view data = single("DATA");
    for (const PcdData known : {PcdData::kAscii, PcdData::kBinary, PcdData::kCompressed}) {
      if (data == name_of(known)) {
        metadata_->data = known;
        return;
      }
    }
    fail("DATA", "'" + std::string(data) + "' is none of ascii, binary and binary_compressed");
  }

  columns::Layout layout_of(const std::vector<ColumnField>& columns) const {
    try {
      return columns::Layout(columns);
    } catch (const InvalidArgument& error) {
      fail(line("FIELDS") != nullptr ? "FIELDS" : "COLUMNS", error.what());
    }
  }

  /// Rows and columns of the grid as far as the header says, which must agree.
  /// \param stored  points that the rest of the file has, for a header that says nothing
  void read_size(std::uint64_t stored) {
    std::optional<std::uint64_t> points = number("POINTS");
    std::optional<std::uint64_t> width = number("WIDTH");
    std::optional<std::uint64_t> height = number("HEIGHT");
    if (!points && !width)
      points = height ? std::optional(product(*height, stored / std::max<std::uint64_t>(*height, 1))) : stored;
    if (!width && !height) {
      width = points;
      height = 1;
    } else if (!height) {
      height = !points || *width == 0 || *points % *width != 0 ? 1 : *points / *width;
    } else if (!width) {
      width = *height == 0 ? 0 : *points / *height;
    }
    if (!points) points = product(*width, *height);
    if (product(*width, *height) != *points) {
      fail("POINTS",
           std::to_string(*points) + " points are not " + std::to_string(*width) + " times " + std::to_string(*height));
    }
    metadata_->width = *width;
    metadata_->height = *height;
    points_ = *points;
  }

  /// Refuses a header that counts more points than there are, or takes what is there. Fewer are read, with a warning.
  void check_stored(std::uint64_t stored) {
    if (points_ > stored) {
      const std::string problem =
          "the header counts " + std::to_string(points_) + " points, the file has " + std::to_string(stored);
      if (!options_.recover) fail(line("POINTS") != nullptr ? "POINTS" : "WIDTH", problem);
      warnings_.push_back(problem + "; those were read");
      metadata_->width = points_ = stored;
      metadata_->height = 1;
      recovered_ = true;
    } else if (points_ < stored) {
      warnings_.push_back("the header counts " + std::to_string(points_) + " points, the file has " +
                          std::to_string(stored) + "; the counted ones are read");
    }
  }

  CloudInfo info_of(const columns::Layout& layout) {
    CloudInfo info;
    info.name = bytes_->path();
    info.schema = layout.schema();
    info.frame = layout.frame();
    info.point_count = points_;
    info.metadata = metadata_;
    info.warnings = std::move(warnings_);
    return info;
  }

  std::unique_ptr<ChunkSource> open_ascii() {
    columns::Layout layout = layout_of(metadata_->columns);
    const columns::TextBody body{text_.substr(body_at_), line_end_, false};
    columns::LineIndex index(body, *bytes_);
    std::uint64_t stored = index.points();
    if (options_.recover && columns::is_cut_short(body, layout, ' ')) {
      --stored;
      recovered_ = true;
      warnings_.push_back("the last line is cut short; the points before it were read");
    }
    read_size(stored);
    check_stored(stored);
    CloudInfo info = info_of(layout);
    return columns::make_text_source(
        {bytes_, std::move(info), std::move(layout), ' ', body, std::move(index), 0, recovered_});
  }

  std::unique_ptr<ChunkSource> open_binary() {
    columns::Layout layout = layout_of(metadata_->columns);
    const std::uint64_t bytes = text_.size() - body_at_;
    const std::uint64_t stored = bytes / layout.file_bytes();
    read_size(stored);
    check_stored(stored);
    if (const std::uint64_t rest = bytes % layout.file_bytes(); rest != 0) {
      warnings_.push_back(std::to_string(rest) + " bytes at the end of the file belong to no point; they are not kept");
    }
    CloudInfo info = info_of(layout);
    return columns::make_binary_source({bytes_, std::move(info), std::move(layout), body_at_, false, recovered_});
  }

  std::unique_ptr<ChunkSource> open_compressed() {
    const std::uint64_t bytes = text_.size() - body_at_;
    if (bytes == 0 && number("POINTS").value_or(number("WIDTH").value_or(1)) == 0) return open_binary();
    if (bytes < kSizesBytes) fail(body_at_, "compressed size", "the file ends before it");
    const std::uint64_t code = load_unaligned<std::uint32_t>(bytes_->data() + body_at_);
    const std::uint64_t unpacked = load_unaligned<std::uint32_t>(bytes_->data() + body_at_ + 4);
    const std::uint64_t code_at = body_at_ + kSizesBytes;
    if (code > bytes - kSizesBytes) {
      fail(body_at_, "compressed size",
           std::to_string(code) + " bytes are announced, the file has " + std::to_string(bytes - kSizesBytes));
    }
    // No memory is taken for what the code cannot hold.
    if (unpacked > product(code, kMostLzfGain)) {
      fail(body_at_ + 4, "uncompressed size",
           std::to_string(unpacked) + " bytes cannot come from " + std::to_string(code));
    }
    columns::Layout layout = layout_of(metadata_->columns);
    const std::vector<ColumnField> named = without_padding(metadata_->columns);
    columns::Layout named_layout = layout_of(named);
    read_size(unpacked / named_layout.file_bytes());
    // Some writers leave padding out of the data and in the header, and some store it.
    if (unpacked == product(points_, named_layout.file_bytes())) {
      metadata_->columns = named;
      layout = std::move(named_layout);
    } else if (unpacked != product(points_, layout.file_bytes())) {
      fail(body_at_ + 4, "uncompressed size",
           std::to_string(unpacked) + " bytes are not " + std::to_string(points_) + " points of " +
               std::to_string(layout.file_bytes()) + " bytes");
    }
    // PCL once left its files as long as the memory pages that it wrote them through.
    const std::string_view behind = text_.substr(code_at + code);
    const bool only_zeros = behind.find_first_not_of('\0') == std::string_view::npos;
    if (const std::uint64_t rest = behind.size(); rest != 0 && !(only_zeros && rest < kPageBytes)) {
      warnings_.push_back(std::to_string(rest) + " bytes at the end of the file belong to no point; they are not kept");
    }
    if (options_.memory_bytes != 0 && unpacked > options_.memory_bytes) {
      throw OutOfMemory(unpacked, options_.memory_bytes, "unpacking " + bytes_->path());
    }
    CloudInfo info = info_of(layout);
    return make_compressed_source(bytes_, std::move(info), std::move(layout), code_at, code);
  }

  std::shared_ptr<const InputBytes> bytes_;
  ReadOptions options_;
  std::string_view text_;
  char line_end_ = '\n';
  std::array<std::optional<Line>, kKeywords.size()> lines_;
  std::uint64_t body_at_ = 0;
  std::shared_ptr<PcdMetadata> metadata_ = std::make_shared<PcdMetadata>();
  std::uint64_t points_ = 0;
  bool recovered_ = false;
  std::vector<std::string> warnings_;
};

}  // namespace

bool matches(std::span<const std::byte> head) {
  std::string_view rest = text_of(head);
  const char line_end = columns::line_end_of(rest);
  // The first line that is no comment tells; a comment may say so as well.
  while (!rest.empty()) {
    const std::string_view line = columns::take_line(rest, line_end, rest);
    const std::vector<std::string_view> words = columns::words_of(line);
    if (words.empty()) continue;
    if (words[0][0] == '#') {
      if (line.starts_with("# .PCD")) return true;
      continue;
    }
    return std::find(kKeywords.begin(), kKeywords.end(), words[0]) != kKeywords.end();
  }
  return false;
}

std::unique_ptr<ChunkSource> open(std::shared_ptr<const InputBytes> bytes, const ReadOptions& options) {
  return Parser(std::move(bytes), options).open();
}

std::vector<ColumnField> without_padding(const std::vector<ColumnField>& columns) {
  std::vector<ColumnField> out;
  for (const ColumnField& column : columns) {
    if (column.name != "_") out.push_back(column);
  }
  return out;
}

}  // namespace sluice::io::pcd
