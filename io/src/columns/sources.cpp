// SPDX-License-Identifier: Apache-2.0
#include "sources.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "sluice/core/error.hpp"

namespace sluice::io::columns {
namespace {

constexpr std::uint64_t kDecodedTogether = std::uint64_t{1} << 15;

void check_range(const CloudInfo& info, const ChunkRange& range) {
  if (range.first > info.point_count || range.count > info.point_count - range.first) {
    throw InvalidArgument(info.name + ": points " + std::to_string(range.first) + " to " +
                          std::to_string(range.first + range.count) + " were asked for, the file has " +
                          std::to_string(info.point_count));
  }
}

class TextSource final : public SourceBase {
 public:
  explicit TextSource(TextPoints points) : p_(std::move(points)) {
    recovered_ = p_.recovered;
    const auto& blocks = p_.index.blocks();
    for (std::size_t b = 0; b + 1 < blocks.size(); ++b) {
      together_ = std::max(together_, blocks[b + 1].first - blocks[b].first);
    }
    TextSource::rewind();
  }

  [[nodiscard]] const CloudInfo& info() const override { return p_.info; }

  bool next(std::uint64_t max_points, ChunkRange& range) override {
    if (max_points == 0) throw InvalidArgument("a chunk has at least one point");
    const std::uint64_t left = p_.info.point_count - point_;
    if (left == 0) return false;
    // The token says where in the text the range begins, so that it can be read alone.
    const std::uint64_t row = point_ + p_.skipped;
    const std::size_t block = p_.index.block_of(row);
    const LineIndex::Block& after = p_.index.blocks()[block + 1];
    if (at_ < p_.index.blocks()[block].at) at_ = p_.index.blocks()[block].at;
    range.first = point_;
    range.count = std::min({max_points, left, after.first - row});
    range.token = at_;
    point_ += range.count;
    at_ = row + range.count == after.first ? after.at : behind(at_, range.count);
    return true;
  }

  PointView load(const ChunkRange& range, RecordBuffer& buffer) override {
    check_range(p_.info, range);
    p_.bytes->check_length();
    const std::uint64_t bytes = p_.layout.record_bytes();
    buffer.resize(range.count * bytes);
    std::string_view rest = p_.body.text.substr(range.token);
    RowProblem problem;
    for (std::uint64_t i = 0; i < range.count;) {
      const std::string_view line = take_line(rest, p_.body.line_end, rest);
      if (!is_point(line, p_.body.comments)) continue;
      const char* begin = line.data();
      if (!parse_row(p_.layout, p_.separator, begin, begin + line.size(), buffer.data() + i * bytes, problem)) {
        refuse(problem);
      }
      ++i;
    }
    return PointView{buffer.data(), range.count, bytes};
  }

  void release(const ChunkRange& range) override {
    if (range.count == 0) return;
    const std::size_t block = p_.index.block_of(range.first + range.count - 1 + p_.skipped);
    const std::uint64_t end = p_.index.blocks()[block + 1].at;
    p_.bytes->release(reinterpret_cast<const std::byte*>(p_.body.text.data()) + range.token, end - range.token);
  }

  [[nodiscard]] std::uint64_t chunk_bytes(std::uint64_t points) const override {
    return points * p_.layout.record_bytes();
  }
  [[nodiscard]] std::uint64_t held_bytes() const override { return p_.bytes->held_bytes(); }
  [[nodiscard]] std::uint64_t decoded_together() const override { return std::max<std::uint64_t>(together_, 1); }

  void rewind() override {
    point_ = 0;
    at_ = 0;
    if (p_.info.point_count == 0) return;
    const LineIndex::Block& block = p_.index.blocks()[p_.index.block_of(p_.skipped)];
    at_ = behind(block.at, p_.skipped - block.first);
  }

 private:
  /// Where the text goes on behind so many points.
  [[nodiscard]] std::uint64_t behind(std::uint64_t at, std::uint64_t points) const {
    std::string_view rest = p_.body.text.substr(at);
    while (points > 0) points -= is_point(take_line(rest, p_.body.line_end, rest), p_.body.comments) ? 1U : 0U;
    return p_.body.text.size() - rest.size();
  }

  [[noreturn]] void refuse(const RowProblem& problem) const {
    const auto* file = reinterpret_cast<const char*>(p_.bytes->data());
    const auto line = 1 + std::count(file, problem.at, p_.body.line_end);
    throw FormatError(p_.info.name, static_cast<std::uint64_t>(problem.at - file),
                      "line " + std::to_string(line) + ", value " + std::to_string(problem.column + 1), problem.what);
  }

  TextPoints p_;
  std::uint64_t together_ = 0;
  std::uint64_t point_ = 0;  ///< next one
  std::uint64_t at_ = 0;     ///< in the text, where its line or something before it begins
};

class BinarySource final : public SourceBase {
 public:
  explicit BinarySource(BinaryPoints points) : p_(std::move(points)) {
    recovered_ = p_.recovered;
    row_bytes_ = p_.layout.file_bytes();
    in_place_ = p_.layout.is_plain() && !p_.big_endian;
  }

  [[nodiscard]] const CloudInfo& info() const override { return p_.info; }

  bool next(std::uint64_t max_points, ChunkRange& range) override {
    if (max_points == 0) throw InvalidArgument("a chunk has at least one point");
    if (point_ == p_.info.point_count) return false;
    range.first = point_;
    range.count = std::min(max_points, p_.info.point_count - point_);
    range.token = 0;
    point_ += range.count;
    // The caller loads this range at once; what comes after it can be on its way meanwhile.
    p_.bytes->prefetch(p_.at + point_ * row_bytes_, std::min(range.count, p_.info.point_count - point_) * row_bytes_);
    return true;
  }

  PointView load(const ChunkRange& range, RecordBuffer& buffer) override {
    check_range(p_.info, range);
    p_.bytes->check_length();
    if (in_place_) {
      // A sink that writes them as they are hands these pages to the kernel, which starts over at each that is missing.
      p_.bytes->map_pages(rows(range), range.count * row_bytes_);
      return PointView{rows(range), range.count, row_bytes_};
    }
    const std::uint64_t bytes = p_.layout.record_bytes();
    buffer.resize(range.count * bytes);
    const std::uint64_t done = p_.layout.decode(rows(range), row_bytes_, range.count, p_.big_endian, buffer.data());
    if (done != range.count) {
      throw FormatError(p_.info.name, p_.at + (range.first + done) * row_bytes_, "coordinates",
                        misfit(range.first + done));
    }
    return PointView{buffer.data(), range.count, bytes};
  }

  void release(const ChunkRange& range) override { p_.bytes->release(rows(range), range.count * row_bytes_); }

  [[nodiscard]] std::uint64_t chunk_bytes(std::uint64_t points) const override {
    return points * p_.layout.record_bytes();
  }
  [[nodiscard]] std::uint64_t held_bytes() const override { return p_.bytes->held_bytes(); }
  [[nodiscard]] std::uint64_t decoded_together() const override { return in_place_ ? 0 : kDecodedTogether; }

  void rewind() override { point_ = 0; }

 private:
  [[nodiscard]] const std::byte* rows(const ChunkRange& range) const {
    return p_.bytes->data() + p_.at + range.first * row_bytes_;
  }

  BinaryPoints p_;
  std::uint64_t row_bytes_ = 0;
  bool in_place_ = false;
  std::uint64_t point_ = 0;
};

}  // namespace

std::string misfit(std::uint64_t point) {
  return "a coordinate of point " + std::to_string(point) + " is an integer that no float64 is equal to";
}

std::unique_ptr<ChunkSource> make_text_source(TextPoints points) {
  return std::make_unique<TextSource>(std::move(points));
}

std::unique_ptr<ChunkSource> make_binary_source(BinaryPoints points) {
  return std::make_unique<BinarySource>(std::move(points));
}

}  // namespace sluice::io::columns
