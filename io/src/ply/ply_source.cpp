// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "../columns/sources.hpp"
#include "../columns/types.hpp"
#include "ply_file.hpp"
#include "sluice/core/error.hpp"
#include "sluice/io/ply.hpp"

namespace sluice::io {
namespace ply {
namespace {

constexpr std::size_t kMostHeaderBytes = std::size_t{1} << 20;

struct Property {
  std::string name;
  FieldType type = FieldType::kFloat32;
  std::optional<FieldType> list;  ///< type of the number of values, of a list
};

struct Element {
  std::string name;
  std::uint64_t count = 0;
  std::vector<Property> properties;

  [[nodiscard]] bool has_lists() const {
    return std::any_of(properties.begin(), properties.end(), [](const Property& p) { return p.list.has_value(); });
  }
  /// Lines that count, in ascii: those of an element without properties are blank.
  [[nodiscard]] std::uint64_t lines() const { return properties.empty() ? 0 : count; }
  /// Bytes of an element without lists.
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const Property& property : properties) sum += field_bytes(property.type);
    return sum;
  }
};

class Parser {
 public:
  Parser(std::shared_ptr<const InputBytes> bytes, const ReadOptions& options)
      : bytes_(std::move(bytes)),
        options_(options),
        text_(reinterpret_cast<const char*>(bytes_->data()), bytes_->size()) {}

  std::unique_ptr<ChunkSource> open() {
    read_header();
    const auto found =
        std::find_if(elements_.begin(), elements_.end(), [](const Element& e) { return e.name == "vertex"; });
    if (found == elements_.end()) fail(0, "PLY header", "there is no element 'vertex'");
    vertex_ = static_cast<std::size_t>(found - elements_.begin());
    points_ = vertex().count;
    for (const Property& property : vertex().properties) {
      if (property.list) {
        leave_out("the list '" + property.name + "' of the points is not kept");
      } else {
        metadata_->columns.push_back({property.name, property.type, 1});
      }
    }
    for (const Element& element : elements_) {
      if (&element == &vertex() || element.count == 0) continue;
      leave_out("the " + std::to_string(element.count) + " elements '" + element.name + "' are not kept");
    }
    columns::Layout layout = [&] {
      try {
        return columns::Layout(metadata_->columns);
      } catch (const InvalidArgument& error) {
        fail(vertex_at_, "element vertex", error.what());
      }
    }();
    return metadata_->data == PlyData::kAscii ? open_ascii(std::move(layout)) : open_binary(std::move(layout));
  }

 private:
  [[noreturn]] void fail(std::uint64_t at, std::string field, const std::string& problem) const {
    throw FormatError(bytes_->path(), at, std::move(field), problem);
  }
  [[nodiscard]] const Element& vertex() const { return elements_[vertex_]; }

  void leave_out(std::string what) {
    metadata_->left_out.push_back(what);
    warnings_.push_back(std::move(what));
  }

  void read_header() {
    line_end_ = columns::line_end_of(text_.substr(0, kMostHeaderBytes));
    std::uint64_t at = 0;
    for (bool first = true;; first = false) {
      const std::string_view all = text_.substr(at, kMostHeaderBytes);
      const std::size_t end = all.find(line_end_);
      const std::string_view line = all.substr(0, end);
      if (all.empty() || at > kMostHeaderBytes || line.size() == kMostHeaderBytes) {
        fail(at, "PLY header", "it ends without an end_header line");
      }
      if (std::any_of(line.begin(), line.end(), [](char c) {
            return (static_cast<unsigned char>(c) < ' ' && !columns::is_blank(c)) || c == '\x7f';
          })) {
        fail(at, "PLY header", "a line of it is no text");
      }
      body_at_ = at + line.size() + (end == std::string_view::npos ? 0 : 1);
      const std::vector<std::string_view> words = columns::words_of(line);
      if (first) {
        if (words.size() != 1 || words[0] != "ply") fail(at, "PLY header", "its first line is not 'ply'");
      } else if (!words.empty() && words[0] == "end_header") {
        break;
      } else {
        read_line(at, line, words);
      }
      at = body_at_;
    }
    if (!has_format_) fail(0, "format", "the header has no such line");
  }

  void read_line(std::uint64_t at, std::string_view line, const std::vector<std::string_view>& words) {
    if (words.empty()) return;
    if (words[0] == "comment" || words[0] == "obj_info") {
      // A comment without words only fills a header up.
      while (columns::is_blank(line.back())) line.remove_suffix(1);
      if (words.size() > 1) metadata_->comments.emplace_back(line);
    } else if (words[0] == "format") {
      read_format(at, words);
    } else if (words[0] == "element") {
      const auto count = words.size() == 3 ? columns::whole_number(words[2]) : std::nullopt;
      if (!count) fail(at, "element", "the line is not 'element NAME COUNT'");
      if (words[1] == "vertex") vertex_at_ = at;
      for (const Element& element : elements_) {
        if (element.name == words[1]) fail(at, "element", "there are two called '" + element.name + "'");
      }
      elements_.push_back({std::string(words[1]), *count, {}});
    } else if (words[0] == "property") {
      read_property(at, words);
    } else {
      fail(at, "PLY header", "no line of a PLY header begins with '" + shown(words[0]) + "'");
    }
  }

  static std::string shown(std::string_view word) {
    std::string out(word.substr(0, 40));
    for (char& c : out) {
      if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
    }
    return out;
  }

  void read_format(std::uint64_t at, const std::vector<std::string_view>& words) {
    if (has_format_) fail(at, "format", "there is a second such line");
    has_format_ = true;
    for (const PlyData data : {PlyData::kAscii, PlyData::kLittleEndian, PlyData::kBigEndian}) {
      if (words.size() == 3 && words[1] == name_of(data) && words[2] == "1.0") {
        metadata_->data = data;
        return;
      }
    }
    fail(at, "format", "it is none of ascii, binary_little_endian and binary_big_endian, version 1.0");
  }

  void read_property(std::uint64_t at, const std::vector<std::string_view>& words) {
    if (elements_.empty()) fail(at, "property", "it belongs to no element");
    const bool list = words.size() == 5 && words[1] == "list";
    if (!list && words.size() != 3) fail(at, "property", "the line is neither 'property TYPE NAME' nor a list");
    Property property;
    property.name = words.back();
    property.type = type_of(at, words[words.size() - 2]);
    if (list) {
      property.list = type_of(at, words[2]);
      if (*property.list == FieldType::kFloat32 || *property.list == FieldType::kFloat64) {
        fail(at, "property", "the number of values of a list is no float");
      }
    }
    for (const Property& other : elements_.back().properties) {
      if (other.name == property.name) fail(at, "property", "there are two called '" + shown(other.name) + "'");
    }
    // One line of a header may not stand for a record of any length.
    if (elements_.back().properties.size() >= columns::kMostRecordBytes) fail(at, "property", "there are too many");
    elements_.back().properties.push_back(std::move(property));
  }

  FieldType type_of(std::uint64_t at, std::string_view word) {
    for (const TypeNames& names : kTypes) {
      if (word != names.plain && word != names.sized) continue;
      if (elements_.back().name == "vertex") metadata_->sized_names = word == names.sized;
      return names.type;
    }
    fail(at, "property", "there is no type '" + shown(word) + "'");
  }

  /// Points with lists are copied without them.
  void require_memory() const {
    if (options_.memory_bytes == 0 || bytes_->size() <= options_.memory_bytes) return;
    throw OutOfMemory(bytes_->size(), options_.memory_bytes, "taking the lists out of " + bytes_->path());
  }

  /// Refuses fewer points than counted, or takes those that are there.
  void check_stored(std::uint64_t stored) {
    if (stored >= points_) return;
    const std::string problem =
        "the header counts " + std::to_string(points_) + " points, the file has " + std::to_string(stored);
    if (!options_.recover) fail(vertex_at_, "element vertex", problem);
    warnings_.push_back(problem + "; those were read");
    points_ = stored;
    recovered_ = true;
  }

  void check_rest(std::uint64_t bytes) {
    if (bytes == 0 || vertex_ + 1 != elements_.size()) return;
    warnings_.push_back(std::to_string(bytes) + " bytes at the end of the file belong to no point; they are not kept");
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

  // ---- ascii: an element is a line

  std::unique_ptr<ChunkSource> open_ascii(columns::Layout layout) {
    std::shared_ptr<const InputBytes> bytes = vertex().has_lists() ? without_lists() : bytes_;
    const std::string_view all(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    const columns::TextBody body{all.substr(body_at_), line_end_, false};
    columns::LineIndex index(body, *bytes);
    std::uint64_t before = 0;
    for (std::size_t e = 0; e < vertex_; ++e) {
      if (__builtin_add_overflow(before, elements_[e].lines(), &before)) before = ~std::uint64_t{0};
    }
    before = std::min(before, index.points());
    std::uint64_t stored = index.points() - before;
    // The last line may be that of another element.
    if (options_.recover && stored != 0 && stored <= points_ && columns::is_cut_short(body, layout, ' ')) {
      --stored;
      warnings_.push_back("the last line is cut short");
    }
    check_stored(stored);
    if (vertex_ + 1 == elements_.size() && stored > points_) {
      warnings_.push_back("the header counts " + std::to_string(points_) + " points, the file has " +
                          std::to_string(stored) + "; the counted ones are read");
    }
    CloudInfo info = info_of(layout);
    return columns::make_text_source(
        {std::move(bytes), std::move(info), std::move(layout), ' ', body, std::move(index), before, recovered_});
  }

  /// The same text with the lists cut out of the lines of points, so that lines keep their numbers.
  [[nodiscard]] std::shared_ptr<const InputBytes> without_lists() const {
    require_memory();
    std::vector<std::byte> out;
    out.reserve(text_.size());
    const auto add = [&](std::string_view part) {
      const auto* data = reinterpret_cast<const std::byte*>(part.data());
      out.insert(out.end(), data, data + part.size());
    };
    add(text_.substr(0, body_at_));
    std::uint64_t row = 0;
    std::uint64_t first = 0;
    for (std::size_t e = 0; e < vertex_; ++e) first += elements_[e].lines();
    for (std::string_view rest = text_.substr(body_at_); !rest.empty();) {
      const std::string_view line = columns::take_line(rest, line_end_, rest);
      const bool is_row = columns::is_point(line, false);
      const bool has_end = line.data() + line.size() != text_.data() + text_.size();
      if (is_row && row >= first && row - first < points_) {
        const Property* cut = add_without_lists(line, add);
        // Of a last line that is cut short so much is left that `is_cut_short` sees it.
        if (cut != nullptr && (!options_.recover || has_end)) {
          fail(static_cast<std::uint64_t>(line.data() - text_.data()), "list '" + cut->name + "'",
               "the line does not have as many values as it says");
        }
      } else {
        add(line);
      }
      if (is_row) ++row;
      if (has_end) add(std::string_view(&line_end_, 1));
    }
    return InputBytes::of_memory(bytes_->path(), std::move(out));
  }

  /// \return a list that does not have as many values as it says, or null
  template <typename Add>
  const Property* add_without_lists(std::string_view line, const Add& add) const {
    const std::vector<std::string_view> words = columns::words_of(line);
    std::size_t at = 0;
    for (const Property& property : vertex().properties) {
      if (property.list) {
        const auto stated = at < words.size() ? columns::whole_number(words[at]) : std::nullopt;
        if (!stated || *stated >= words.size() - at) return &property;
        at += 1 + *stated;
        continue;
      }
      if (at < words.size()) add(words[at]);
      add(" ");
      ++at;
    }
    for (; at < words.size(); ++at) {
      add(words[at]);
      add(" ");
    }
    return nullptr;
  }

  // ---- binary

  std::unique_ptr<ChunkSource> open_binary(columns::Layout layout) {
    const bool big_endian = metadata_->data == PlyData::kBigEndian;
    std::uint64_t at = body_at_;
    for (std::size_t e = 0; e < vertex_; ++e) at = skip(elements_[e], elements_[e].count, at, nullptr);
    if (vertex().has_lists()) {
      require_memory();
      std::vector<std::byte> rows;
      try {
        check_rest(bytes_->size() - skip(vertex(), points_, at, &rows));
      } catch (const FormatError&) {
        if (!options_.recover) throw;
        warnings_.push_back("the file ends within the points or their lists");
        recovered_ = true;
        check_stored(rows.size() / layout.file_bytes());
      }
      CloudInfo info = info_of(layout);
      return columns::make_binary_source({InputBytes::of_memory(bytes_->path(), std::move(rows)), std::move(info),
                                          std::move(layout), 0, big_endian, recovered_});
    }
    check_stored((bytes_->size() - at) / layout.file_bytes());
    check_rest(bytes_->size() - at - points_ * layout.file_bytes());
    CloudInfo info = info_of(layout);
    return columns::make_binary_source({bytes_, std::move(info), std::move(layout), at, big_endian, recovered_});
  }

  /// Goes past elements.
  /// \param rows  receives what is in no list
  /// \return where they end
  std::uint64_t skip(const Element& element, std::uint64_t count, std::uint64_t at,
                     std::vector<std::byte>* rows) const {
    const auto need = [&](std::uint64_t bytes) {
      if (bytes > bytes_->size() - at) {
        fail(at, "element " + element.name, "the file ends before the last of " + std::to_string(count));
      }
    };
    if (!element.has_lists()) {
      std::uint64_t bytes = 0;
      if (__builtin_mul_overflow(count, element.bytes(), &bytes)) bytes = ~std::uint64_t{0};
      need(bytes);
      return at + bytes;
    }
    // Each has a byte at least, so that a large count ends with the file.
    for (std::uint64_t i = 0; i < count; ++i) {
      for (const Property& property : element.properties) {
        std::uint64_t bytes = field_bytes(property.type);
        if (property.list) {
          need(field_bytes(*property.list));
          const std::uint64_t values = number_at(at, *property.list);
          at += field_bytes(*property.list);
          if (values > bytes_->size())
            fail(at, "list '" + property.name + "'", "it has more values than the file bytes");
          bytes *= values;
        }
        need(bytes);
        const std::byte* from = bytes_->data() + at;
        if (rows != nullptr && !property.list) rows->insert(rows->end(), from, from + bytes);
        at += bytes;
      }
    }
    return at;
  }

  /// A number of values; a negative one is as large as no file.
  [[nodiscard]] std::uint64_t number_at(std::uint64_t at, FieldType type) const {
    std::byte straight[8];
    const std::uint32_t bytes = field_bytes(type);
    std::memcpy(straight, bytes_->data() + at, bytes);
    if (metadata_->data == PlyData::kBigEndian) std::reverse(straight, straight + bytes);
    return columns::with_type(type, [&]<typename T>(T /*tag*/) {
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(load_unaligned<T>(straight)));
    });
  }

  std::shared_ptr<const InputBytes> bytes_;
  ReadOptions options_;
  std::string_view text_;
  char line_end_ = '\n';
  bool has_format_ = false;
  std::vector<Element> elements_;
  std::size_t vertex_ = 0;
  std::uint64_t vertex_at_ = 0;
  std::uint64_t body_at_ = 0;
  std::shared_ptr<PlyMetadata> metadata_ = std::make_shared<PlyMetadata>();
  std::uint64_t points_ = 0;
  bool recovered_ = false;
  std::vector<std::string> warnings_;
};

}  // namespace

bool matches(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (!text.starts_with("ply")) return false;
  const std::size_t at = text.find_first_not_of(" \t", 3);
  return at != std::string_view::npos && (text[at] == '\n' || text[at] == '\r');
}

std::unique_ptr<ChunkSource> open(std::shared_ptr<const InputBytes> bytes, const ReadOptions& options) {
  return Parser(std::move(bytes), options).open();
}

}  // namespace ply

std::string_view name_of(PlyData data) {
  switch (data) {
    case PlyData::kAscii:
      return "ascii";
    case PlyData::kLittleEndian:
      return "binary_little_endian";
    default:
      return "binary_big_endian";
  }
}

}  // namespace sluice::io
