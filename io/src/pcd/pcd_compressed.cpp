// SPDX-License-Identifier: Apache-2.0
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include "../columns/sources.hpp"
#include "lzf.hpp"
#include "pcd_file.hpp"
#include "sluice/core/copy_values.hpp"
#include "sluice/core/error.hpp"

namespace sluice::io::pcd {
namespace {

constexpr std::uint64_t kTogether = std::uint64_t{1} << 15;
constexpr std::uint64_t kBlockPoints = std::uint64_t{1} << 16;
// Parts are coded on their own, so that threads share the work; far longer than the reach of a copy.
constexpr std::uint64_t kPartBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostBytes = std::numeric_limits<std::uint32_t>::max();

/// A column in a row and among the columns that follow each other.
struct Column {
  std::uint64_t at = 0;     ///< in a row
  std::uint64_t bytes = 0;  ///< per point
};

std::vector<Column> columns_of(const std::vector<ColumnField>& fields) {
  std::vector<Column> out;
  std::uint64_t at = 0;
  for (const ColumnField& field : fields) {
    const std::uint64_t bytes = std::uint64_t{field.count} * field_bytes(field.type);
    if (bytes != 0) out.push_back({at, bytes});
    at += bytes;
  }
  return out;
}

class CompressedSource final : public SourceBase {
 public:
  CompressedSource(std::shared_ptr<const InputBytes> bytes, CloudInfo info, columns::Layout layout, std::uint64_t at,
                   std::uint64_t code)
      : bytes_(std::move(bytes)), info_(std::move(info)), layout_(std::move(layout)), at_(at), code_(code) {
    columns_ = columns_of(dynamic_cast<const PcdMetadata&>(*info_.metadata).columns);
  }

  [[nodiscard]] const CloudInfo& info() const override { return info_; }

  bool next(std::uint64_t max_points, ChunkRange& range) override {
    if (max_points == 0) throw InvalidArgument("a chunk has at least one point");
    if (point_ == info_.point_count) return false;
    range = {point_, std::min(max_points, info_.point_count - point_), 0};
    point_ += range.count;
    return true;
  }

  PointView load(const ChunkRange& range, RecordBuffer& buffer) override {
    if (range.first > info_.point_count || range.count > info_.point_count - range.first) {
      throw InvalidArgument(info_.name + ": points were asked for that the file does not have");
    }
    const std::uint64_t row_bytes = layout_.file_bytes();
    const std::uint64_t record_bytes = layout_.record_bytes();
    buffer.resize(range.count * record_bytes);
    std::vector<std::byte> rows(layout_.is_plain() ? 0 : range.count * row_bytes);
    std::byte* out = layout_.is_plain() ? buffer.data() : rows.data();
    const std::byte* column = unpacked();
    for (const Column& c : columns_) {
      copy_values(column + range.first * c.bytes, c.bytes, out + c.at, row_bytes, c.bytes, range.count);
      column += info_.point_count * c.bytes;
    }
    if (!layout_.is_plain()) {
      const std::uint64_t done = layout_.decode(rows.data(), row_bytes, range.count, false, buffer.data());
      if (done != range.count) {
        throw FormatError(info_.name, at_, "coordinates", columns::misfit(range.first + done));
      }
    }
    return PointView{buffer.data(), range.count, record_bytes};
  }

  void release(const ChunkRange& /*range*/) override {}
  [[nodiscard]] std::uint64_t chunk_bytes(std::uint64_t points) const override {
    return points * (layout_.record_bytes() + (layout_.is_plain() ? 0 : layout_.file_bytes()));
  }
  [[nodiscard]] std::uint64_t held_bytes() const override { return info_.point_count * layout_.file_bytes(); }
  [[nodiscard]] std::uint64_t decoded_together() const override { return kTogether; }
  void rewind() override { point_ = 0; }

 private:
  /// All columns; the first who asks unpacks them, and the others wait.
  const std::byte* unpacked() {
    const std::lock_guard lock(mutex_);
    if (unpacked_ != nullptr) return unpacked_.get();
    bytes_->check_length();
    const std::uint64_t size = info_.point_count * layout_.file_bytes();
    auto memory = std::make_unique_for_overwrite<std::byte[]>(size);
    const std::byte* code = bytes_->data() + at_;
    LzfProblem problem;
    if (!lzf_decode({code, code_}, {memory.get(), size}, problem)) {
      throw FormatError(info_.name, at_ + problem.at, "compressed data", problem.what);
    }
    bytes_->release(code, code_);
    unpacked_ = std::move(memory);
    return unpacked_.get();
  }

  std::shared_ptr<const InputBytes> bytes_;
  CloudInfo info_;
  columns::Layout layout_;
  std::uint64_t at_;
  std::uint64_t code_;
  std::vector<Column> columns_;
  std::mutex mutex_;                       ///< guards the next
  std::unique_ptr<std::byte[]> unpacked_;  ///< column by column
  std::uint64_t point_ = 0;
};

class CompressedSink final : public ChunkSink {
 public:
  CompressedSink(columns::SinkParts parts, const PcdMetadata& metadata)
      : parts_(std::move(parts)),
        file_(parts_.path, parts_.overwrite),
        row_bytes_(parts_.layout.file_bytes()),
        columns_(columns_of(without_padding(metadata.columns))) {}

  std::uint64_t reserve(std::uint64_t count) override {
    const std::lock_guard lock(mutex_);
    const std::uint64_t first = count_;
    if (count > kMostBytes / row_bytes_ - first) {
      throw Unsupported(parts_.path + ": compressed PCD files hold less than 4 GiB of points; binary ones hold more");
    }
    count_ += count;
    while (blocks_.size() * kBlockPoints < count_) {
      blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kBlockPoints * row_bytes_));
    }
    return first;
  }

  void store(std::uint64_t first, const PointView& view) override {
    for (std::uint64_t done = 0; done < view.count;) {
      const std::uint64_t in_block = (first + done) % kBlockPoints;
      const PointView part{view.records + done * view.stride, std::min(view.count - done, kBlockPoints - in_block),
                           view.stride};
      std::byte* to = place_of(first + done, part.count);
      if (parts_.layout.is_plain()) {
        copy_records(part, row_bytes_, to);
      } else if (const std::uint64_t row = parts_.layout.encode(part, false, to); row != part.count) {
        throw Unsupported(parts_.path + ": a coordinate of point " + std::to_string(first + done + row) +
                          " does not fit the integer type that it has in the file");
      }
      done += part.count;
    }
  }

  [[nodiscard]] std::uint64_t held_bytes(std::uint64_t /*points*/, std::uint64_t total,
                                         int /*threads*/) const override {
    // The rows, and what they are packed into, which may be as long.
    return 2 * total * row_bytes_;
  }

  void seal() override {
    const std::vector<std::vector<std::byte>> coded = encode();
    std::uint64_t code = 0;
    for (const auto& part : coded) code += part.size();
    if (code > kMostBytes) {
      throw Unsupported(parts_.path + ": the compressed points take more than 4 GiB; a binary PCD file holds them");
    }
    std::string head = parts_.header(count_);
    for (const std::uint64_t size : {code, count_ * row_bytes_}) {
      const auto stored = static_cast<std::uint32_t>(size);
      head.append(reinterpret_cast<const char*>(&stored), sizeof stored);
    }
    file_.write_at(0, reinterpret_cast<const std::byte*>(head.data()), head.size());
    std::uint64_t at = head.size();
    for (const auto& part : coded) {
      file_.write_at(at, part.data(), part.size());
      at += part.size();
    }
    file_.complete(at);
  }

  void finish() override { file_.publish(); }
  [[nodiscard]] std::uint64_t count() const override { return count_; }
  [[nodiscard]] std::vector<std::string> warnings() const override { return parts_.warnings; }

 private:
  std::byte* place_of(std::uint64_t point, std::uint64_t count) {
    const std::lock_guard lock(mutex_);
    if (point > count_ || count > count_ - point) {
      throw InvalidArgument(parts_.path + ": points are stored at places that were not reserved");
    }
    return blocks_[point / kBlockPoints].get() + point % kBlockPoints * row_bytes_;
  }

  /// Codes the columns in parts, in parallel.
  [[nodiscard]] std::vector<std::vector<std::byte>> encode() const {
    struct Part {
      Column column;
      std::uint64_t first;
      std::uint64_t count;
    };
    std::vector<Part> parts;
    for (const Column& column : columns_) {
      const std::uint64_t step = std::max<std::uint64_t>(1, kPartBytes / column.bytes);
      for (std::uint64_t first = 0; first < count_; first += step) {
        parts.push_back({column, first, std::min(step, count_ - first)});
      }
    }
    std::vector<std::vector<std::byte>> coded(parts.size());
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, parts.size(), 1), [&](const auto& range) {
      std::vector<std::byte> values;
      for (std::size_t i = range.begin(); i < range.end(); ++i) {
        const Part& part = parts[i];
        values.resize(part.count * part.column.bytes);
        for (std::uint64_t done = 0; done < part.count;) {
          const std::uint64_t point = part.first + done;
          const std::uint64_t in_block = point % kBlockPoints;
          const std::uint64_t count = std::min(part.count - done, kBlockPoints - in_block);
          copy_values(blocks_[point / kBlockPoints].get() + in_block * row_bytes_ + part.column.at, row_bytes_,
                      values.data() + done * part.column.bytes, part.column.bytes, part.column.bytes, count);
          done += count;
        }
        lzf_encode(values, coded[i]);
      }
    });
    return coded;
  }

  columns::SinkParts parts_;
  OutputFile file_;
  std::uint64_t row_bytes_;
  std::vector<Column> columns_;
  mutable std::mutex mutex_;  ///< guards the next two while points are stored
  std::deque<std::unique_ptr<std::byte[]>> blocks_;
  std::uint64_t count_ = 0;
};

}  // namespace

std::unique_ptr<ChunkSource> make_compressed_source(std::shared_ptr<const InputBytes> bytes, CloudInfo info,
                                                    columns::Layout layout, std::uint64_t at, std::uint64_t code) {
  return std::make_unique<CompressedSource>(std::move(bytes), std::move(info), std::move(layout), at, code);
}

std::unique_ptr<ChunkSink> make_compressed_sink(columns::SinkParts parts, const PcdMetadata& metadata) {
  return std::make_unique<CompressedSink>(std::move(parts), metadata);
}

}  // namespace sluice::io::pcd
