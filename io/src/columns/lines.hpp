// SPDX-License-Identifier: Apache-2.0
/// \file
/// The lines of a text that hold points, found without knowing what is in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "../input_bytes.hpp"

namespace sluice::io::columns {

/// A text and how its lines are to be understood.
struct TextBody {
  std::string_view text;
  char line_end = '\n';   ///< '\r' where the file has no other; before a '\n' it is a blank
  bool comments = false;  ///< lines that begin with '#' or "//" are no points
};

/// The line at the beginning of a text, without its end; `rest` is what follows it.
std::string_view take_line(std::string_view text, char line_end, std::string_view& rest);
/// True where a line holds a point: it is not blank, and no comment where there may be such.
[[nodiscard]] bool is_point(std::string_view line, bool comments);
/// The character that ends lines: that which ends the first one.
[[nodiscard]] char line_end_of(std::string_view text);

/// True for what separates words; '\r' is one of these, as it ends lines before a '\n'.
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
/// The words of a line of a header, which blanks separate.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view line);
/// The number that a word is; nothing where it is none, or no whole one below 2^64.
[[nodiscard]] std::optional<std::uint64_t> whole_number(std::string_view word);

/// Where the lines with points are: in blocks, so that any block can be read without those before it.
class LineIndex {
 public:
  struct Block {
    std::uint64_t at = 0;     ///< offset in the text of a line's beginning
    std::uint64_t first = 0;  ///< points before it
  };

  /// Reads all of the text, in parallel, and releases what it has read.
  /// \param bytes  of which the text is a part
  /// \param also   is called with the lines of each block, by any thread
  LineIndex(const TextBody& body, const InputBytes& bytes,
            const std::function<void(std::string_view lines)>& also = {});

  [[nodiscard]] std::uint64_t points() const noexcept { return blocks_.back().first; }
  /// The last one is the end of the text.
  [[nodiscard]] const std::vector<Block>& blocks() const noexcept { return blocks_; }
  /// The block that holds a point.
  [[nodiscard]] std::size_t block_of(std::uint64_t point) const;

 private:
  std::vector<Block> blocks_;
};

}  // namespace sluice::io::columns
