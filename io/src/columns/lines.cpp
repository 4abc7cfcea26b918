// SPDX-License-Identifier: Apache-2.0
#include "lines.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace sluice::io::columns {
namespace {

// About as many points as a chunk of a stream has.
constexpr std::uint64_t kBlockBytes = std::uint64_t{1} << 20;

}  // namespace

std::string_view take_line(std::string_view text, char line_end, std::string_view& rest) {
  const std::size_t end = text.find(line_end);
  rest = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return text.substr(0, end);
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < line.size();) {
    while (i < line.size() && is_blank(line[i])) ++i;
    std::size_t end = i;
    while (end < line.size() && !is_blank(line[end])) ++end;
    if (end > i) out.push_back(line.substr(i, end - i));
    i = end;
  }
  return out;
}

std::optional<std::uint64_t> whole_number(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

bool is_point(std::string_view line, bool comments) {
  std::size_t i = 0;
  while (i < line.size() && is_blank(line[i])) ++i;
  if (i == line.size()) return false;
  return !comments || !(line[i] == '#' || (line[i] == '/' && i + 1 < line.size() && line[i + 1] == '/'));
}

char line_end_of(std::string_view text) {
  const std::size_t at = text.find_first_of("\r\n");
  if (at == std::string_view::npos || text[at] == '\n') return '\n';
  return at + 1 < text.size() && text[at + 1] == '\n' ? '\n' : '\r';
}

LineIndex::LineIndex(const TextBody& body, const InputBytes& bytes,
                     const std::function<void(std::string_view lines)>& also) {
  const std::string_view text = body.text;
  // A block begins behind the first line end at or after its nominal place.
  for (std::uint64_t at = 0; at < text.size();) {
    blocks_.push_back({at, 0});
    const std::uint64_t nominal = at + kBlockBytes;
    const std::size_t end = nominal < text.size() ? text.find(body.line_end, nominal) : std::string_view::npos;
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  blocks_.push_back({text.size(), 0});
  std::vector<std::uint64_t> counts(blocks_.size() - 1);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, counts.size()), [&](const auto& range) {
    for (std::size_t b = range.begin(); b < range.end(); ++b) {
      const std::string_view lines = text.substr(blocks_[b].at, blocks_[b + 1].at - blocks_[b].at);
      if (also) also(lines);
      for (std::string_view rest = lines; !rest.empty();)
        counts[b] += is_point(take_line(rest, body.line_end, rest), body.comments) ? 1U : 0U;
      bytes.release(reinterpret_cast<const std::byte*>(lines.data()), lines.size());
    }
  });
  for (std::size_t b = 0; b < counts.size(); ++b) blocks_[b + 1].first = blocks_[b].first + counts[b];
}

std::size_t LineIndex::block_of(std::uint64_t point) const {
  const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), point,
                                      [](std::uint64_t p, const Block& block) { return p < block.first; });
  return static_cast<std::size_t>(after - blocks_.begin()) - 1;
}

}  // namespace sluice::io::columns
