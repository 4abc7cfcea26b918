// SPDX-License-Identifier: Apache-2.0
/// \file
/// Files whose points are rows, as text or in binary form.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "layout.hpp"
#include "sluice/core/chunk_stream.hpp"
#include "sluice/io/output_file.hpp"
#include "sluice/io/write.hpp"
#include "text_row.hpp"

namespace sluice::io::columns {

/// What precedes the points: a text whose length does not depend on their number.
using Header = std::function<std::string(std::uint64_t points)>;

/// What all such files have.
struct SinkParts {
  std::string path;
  bool overwrite = false;
  Layout layout;
  Header header;
  std::vector<std::string> warnings{};
};

/// Rows go straight to their places.
[[nodiscard]] std::unique_ptr<ChunkSink> make_binary_sink(SinkParts parts, bool big_endian);
/// Rows become text where they are stored, in parallel, and get their places once the rows before them have theirs.
[[nodiscard]] std::unique_ptr<ChunkSink> make_text_sink(SinkParts parts, Separator separator);

/// Makes a header as long as it is with the largest numbers, so that its length does not depend on them, and a multiple
/// of 64 bytes: points that come from such a file then lie in memory as they will in the file, and are copied faster.
/// \param at       where blanks do not matter: the end of a comment
/// \param numbers  those in it that depend on the points
[[nodiscard]] std::string filled_up(std::string text, std::size_t at, std::initializer_list<std::uint64_t> numbers);

}  // namespace sluice::io::columns
