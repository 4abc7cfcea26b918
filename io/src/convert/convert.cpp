// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/convert.hpp"

#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <mutex>
#include <string_view>
#include <utility>

#include "converters.hpp"
#include "sluice/core/error.hpp"
#include "sluice/core/pool.hpp"
#include "sluice/io/format.hpp"
#include "sluice/io/las.hpp"
#include "sluice/io/pcd.hpp"
#include "sluice/io/ply.hpp"

namespace sluice::io {
namespace convert {
namespace {

constexpr std::uint64_t kChunkPoints = std::uint64_t{1} << 15;

bool is_las(const std::string& format) { return format == "las" || format == "laz"; }

std::string format_of(const CloudInfo& source) {
  return source.metadata != nullptr ? source.metadata->format() : std::string();
}

std::string target_format(const CloudInfo& source, const std::string& path) {
  return path == "-" ? format_of(source) : format_of_path(path);
}

/// `LasConverter` behind the common interface.
class LasToLas final : public RecordConverter {
 public:
  LasToLas(const CloudInfo& source, const LasTarget& target) : converter_(source, target) {}
  [[nodiscard]] const CloudInfo& info() const override { return converter_.info(); }
  void convert(const PointView& in, std::uint64_t first, std::byte* out) const override {
    converter_.convert(in, first, out);
  }
  [[nodiscard]] std::vector<std::string> warnings() const override { return converter_.warnings(); }

 private:
  LasConverter converter_;
};

class ConvertingSink final : public ChunkSink {
 public:
  ConvertingSink(const std::string& path, std::shared_ptr<const RecordConverter> converter, const WriteOptions& options)
      : converter_(std::move(converter)), sink_(create_sink(path, converter_->info(), options)) {}

  std::uint64_t reserve(std::uint64_t count) override { return sink_->reserve(count); }

  void store(std::uint64_t first, const PointView& view) override {
    if (converter_->keeps_records()) return sink_->store(first, view);
    constexpr std::uint64_t kTogether = 8192;
    const std::uint64_t bytes = converter_->info().schema.record_bytes;
    std::vector<std::byte> converted(std::min(kTogether, view.count) * bytes);
    for (std::uint64_t done = 0; done < view.count; done += kTogether) {
      const std::uint64_t count = std::min(kTogether, view.count - done);
      converter_->convert({view.records + done * view.stride, count, view.stride}, first + done, converted.data());
      sink_->store(first + done, PointView{converted.data(), count, bytes});
    }
  }

  [[nodiscard]] std::uint64_t held_bytes(std::uint64_t points, std::uint64_t total, int threads) const override {
    return sink_->held_bytes(points, total, threads);
  }
  void seal() override { sink_->seal(); }
  void finish() override { sink_->finish(); }
  [[nodiscard]] std::uint64_t count() const override { return sink_->count(); }
  [[nodiscard]] std::vector<std::string> warnings() const override {
    std::vector<std::string> out = converter_->warnings();
    for (std::string& warning : sink_->warnings()) out.push_back(std::move(warning));
    return out;
  }

 private:
  std::shared_ptr<const RecordConverter> converter_;
  std::unique_ptr<ChunkSink> sink_;
};

PointSummary empty_summary(const CloudInfo& info) {
  PointSummary out;
  out.fields.resize(info.schema.fields.size());
  for (FieldSummary& field : out.fields) {
    field.min = std::numeric_limits<double>::infinity();
    field.max = -std::numeric_limits<double>::infinity();
  }
  return out;
}

void add(const CloudInfo& info, const PointView& view, PointSummary& out) {
  out.points += view.count;
  const Positions positions = info.frame.positions(view.records, view.stride);
  for (std::uint64_t i = 0; i < view.count; ++i) {
    Position p = load_position(positions, i);
    complete_world(positions, p);
    if (is_finite(p.world[0]) && is_finite(p.world[1]) && is_finite(p.world[2])) {
      out.bounds.add(p.world[0], p.world[1], p.world[2]);
    } else {
      ++out.nonfinite;
    }
  }
  for (std::size_t f = 0; f < out.fields.size(); ++f) {
    const Field& field = info.schema.fields[f];
    const Column column = field.column(view.records, view.stride);
    FieldSummary& sum = out.fields[f];
    for (std::uint64_t i = 0; i < view.count; ++i) {
      const double value = real_value(field, column.at(i));
      if (!is_finite(value)) {
        sum.whole = sum.finite = false;
        continue;
      }
      sum.min = std::min(sum.min, value);
      sum.max = std::max(sum.max, value);
      if (value != std::trunc(value)) sum.whole = false;
    }
  }
}

void add(const PointSummary& part, PointSummary& out) {
  out.points += part.points;
  out.nonfinite += part.nonfinite;
  out.bounds.add(part.bounds);
  for (std::size_t f = 0; f < out.fields.size(); ++f) {
    out.fields[f].min = std::min(out.fields[f].min, part.fields[f].min);
    out.fields[f].max = std::max(out.fields[f].max, part.fields[f].max);
    out.fields[f].whole = out.fields[f].whole && part.fields[f].whole;
    out.fields[f].finite = out.fields[f].finite && part.fields[f].finite;
  }
}

bool is_identity(const std::string& viewpoint) {
  constexpr double kIdentity[7] = {0, 0, 0, 1, 0, 0, 0};
  const char* at = viewpoint.data();
  const char* const end = at + viewpoint.size();
  for (const double wanted : kIdentity) {
    while (at < end && *at == ' ') ++at;
    double value = 0.0;
    at = std::from_chars(at, end, value).ptr;
    if (value != wanted) return false;
  }
  return true;
}

}  // namespace

void Losses::add(const std::string& what) {
  if (strict_) throw Unsupported(name_ + ": " + what);
  all_.push_back(what);
}

void lose_metadata(const CloudInfo& source, Losses& losses) {
  if (const auto* las = dynamic_cast<const LasMetadata*>(source.metadata.get())) {
    if (!las->wkt().empty() || las->has_geotiff()) losses.add("the coordinate system is not kept");
    if (las->has_waveforms()) losses.add("the waveforms are not kept");
    const std::size_t records = las->vlrs.size() + las->evlrs.size();
    if (records != 0) losses.add("the " + std::to_string(records) + " variable length records are not kept");
    std::uint64_t described = las_record_bytes(las->header.point_format);
    for (const ExtraBytes& extra : las->extra_bytes) described += extra.type != 0 ? extra.bytes : 0;
    if (described < source.schema.record_bytes) {
      losses.add(std::to_string(source.schema.record_bytes - described) +
                 " bytes of each point that are not described are not kept");
    }
  }
  if (const auto* pcd = dynamic_cast<const PcdMetadata*>(source.metadata.get())) {
    if (is_organized(source)) {
      losses.add("the " + std::to_string(pcd->height) + " rows of " + std::to_string(pcd->width) +
                 " points are not kept");
    }
    if (!is_identity(pcd->viewpoint)) losses.add("the viewpoint " + pcd->viewpoint + " is not kept");
  }
  if (const auto* ply = dynamic_cast<const PlyMetadata*>(source.metadata.get())) {
    if (!ply->comments.empty()) losses.add("the " + std::to_string(ply->comments.size()) + " comments are not kept");
  }
}

std::vector<NamedField> named_fields(const CloudInfo& info) {
  std::vector<NamedField> out;
  const auto* metadata = dynamic_cast<const ColumnMetadata*>(info.metadata.get());
  if (metadata == nullptr) {
    for (const Field& field : info.schema.fields) out.push_back({field, field.name, field.type});
    return out;
  }
  std::size_t at = 0;
  for (const ColumnField& column : metadata->columns) {
    if (column.name == "_") continue;
    for (std::uint32_t i = 0; i < column.count; ++i) {
      const std::string name = column.count == 1 ? column.name : column.name + "_" + std::to_string(i);
      out.push_back({info.schema.fields[at++], name, column.type});
    }
  }
  return out;
}

}  // namespace convert

PointSummary summarize(std::span<ChunkSource* const> sources, int threads) {
  const CloudInfo& info = sources.front()->info();
  PointSummary out = convert::empty_summary(info);
  std::mutex mutex;
  struct Piece {
    ChunkSource* source = nullptr;
    ChunkRange range;
  };
  std::size_t at = 0;
  for (ChunkSource* source : sources) source->rewind();
  const auto next = [&](tbb::flow_control& flow) {
    Piece piece;
    while (at < sources.size() &&
           !sources[at]->next(std::max(convert::kChunkPoints, sources[at]->decoded_together()), piece.range)) {
      ++at;
    }
    if (at == sources.size()) {
      flow.stop();
    } else {
      piece.source = sources[at];
    }
    return piece;
  };
  Pool<RecordBuffer> buffers;
  const auto read = [&](const Piece& piece) {
    RecordBuffer buffer = buffers.take();
    PointSummary part = convert::empty_summary(info);
    convert::add(info, piece.source->load(piece.range, buffer), part);
    piece.source->release(piece.range);
    buffers.give(std::move(buffer));
    const std::lock_guard lock(mutex);
    convert::add(part, out);
  };
  tbb::task_arena arena(threads > 0 ? threads : tbb::task_arena::automatic);
  arena.execute([&] {
    const auto tokens = 2 * static_cast<std::size_t>(arena.max_concurrency());
    tbb::parallel_pipeline(tokens, tbb::make_filter<void, Piece>(tbb::filter_mode::serial_in_order, next) &
                                       tbb::make_filter<Piece, void>(tbb::filter_mode::parallel, read));
  });
  for (ChunkSource* source : sources) source->rewind();
  for (FieldSummary& field : out.fields) {
    if (!(field.min <= field.max)) field.min = field.max = 0.0;
  }
  return out;
}

std::shared_ptr<const RecordConverter> make_converter(const CloudInfo& source, const ConvertTarget& target,
                                                      const std::function<PointSummary()>& summary) {
  const std::string from = convert::format_of(source);
  const std::string to = convert::target_format(source, target.path);
  const auto* rows = dynamic_cast<const ColumnMetadata*>(source.metadata.get());
  // Whoever opened the file was warned.
  if (target.strict && rows != nullptr && !rows->left_out.empty()) {
    throw Unsupported(source.name + ": " + rows->left_out.front());
  }
  if (!target.data.empty() && to != "pcd" && to != "ply") {
    throw InvalidArgument("only PCD and PLY files store their points in different ways");
  }
  if (convert::is_las(to)) {
    LasTarget las = target.las;
    las.strict = target.strict;
    if (convert::is_las(from)) return std::make_shared<convert::LasToLas>(source, las);
    return convert::columns_to_las(source, target, summary());
  }
  if (target.las.point_format || target.las.version_minor || target.las.scale || target.las.offset) {
    throw InvalidArgument("point format, version, scale and offset are those of LAS and LAZ outputs");
  }
  return convert::to_columns(source, target, to);
}

bool keeps_format(const CloudInfo& source, const std::string& path) {
  const std::string from = convert::format_of(source);
  const std::string to = convert::target_format(source, path);
  if (from == to) return !convert::changes_text_style(source, path);
  return convert::is_las(from) && convert::is_las(to);
}

std::unique_ptr<ChunkSink> create_converting_sink(const std::string& path,
                                                  std::shared_ptr<const RecordConverter> converter,
                                                  const WriteOptions& options) {
  return std::make_unique<convert::ConvertingSink>(path, std::move(converter), options);
}

}  // namespace sluice::io
