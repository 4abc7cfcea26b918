// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "exact_sum.hpp"
#include "sluice/core/hd.hpp"
#include "sluice/core/pool.hpp"
#include "sluice/in_flight.hpp"

namespace sluice::app {

namespace {

// Sums are exact, so neither number is part of the result.
constexpr std::uint64_t kChunkPoints = 1 << 16;
constexpr std::uint64_t kLeastChunkPoints = 1 << 12;
constexpr unsigned kMostCountedBits = 8;

/// Sums over a run of points of one field.
struct Partial {
  bool any = false;
  std::int64_t min_signed = 0, max_signed = 0;
  std::uint64_t min_unsigned = 0, max_unsigned = 0;
  double min_real = 0.0, max_real = 0.0;
  int128 whole_sum = 0;
  ExactSum real_sum;
  std::uint64_t count = 0;
  std::uint64_t non_finite = 0;
  std::array<std::uint64_t, 1 << kMostCountedBits> counts{};
};

bool is_counted(const Field& field) {
  const unsigned bits = field.bit_count != 0 ? field.bit_count : 8 * field_bytes(field.type);
  return bits <= kMostCountedBits && !field.scaled;
}

template <typename T>
void accumulate(const Field& field, const Column& column, std::uint64_t count, Partial& partial) {
  const bool counted = is_counted(field);
  for (std::uint64_t row = 0; row < count; ++row) {
    T value = load_unaligned<T>(column.data + row * column.stride);
    if constexpr (std::is_floating_point_v<T>) {
      if (!is_finite(value)) {
        ++partial.non_finite;
        continue;
      }
      const auto real = static_cast<double>(value);
      partial.min_real = partial.any ? std::min(partial.min_real, real) : real;
      partial.max_real = partial.any ? std::max(partial.max_real, real) : real;
      partial.real_sum.add(real);
    } else if constexpr (std::is_signed_v<T>) {
      partial.min_signed = partial.any ? std::min<std::int64_t>(partial.min_signed, value) : value;
      partial.max_signed = partial.any ? std::max<std::int64_t>(partial.max_signed, value) : value;
      partial.whole_sum += value;
      if (counted) ++partial.counts[static_cast<std::uint8_t>(value)];
    } else {
      std::uint64_t bits = value;
      if (column.bit_count != 0) bits = (bits >> column.bit_shift) & ((std::uint64_t{1} << column.bit_count) - 1);
      partial.min_unsigned = partial.any ? std::min(partial.min_unsigned, bits) : bits;
      partial.max_unsigned = partial.any ? std::max(partial.max_unsigned, bits) : bits;
      partial.whole_sum += bits;
      if (counted) ++partial.counts[bits];
    }
    partial.any = true;
    ++partial.count;
  }
}

void accumulate(const Field& field, const PointView& points, Partial& partial) {
  const Column column = field.column(points.records, points.stride);
  switch (field.type) {
    case FieldType::kInt8:
      return accumulate<std::int8_t>(field, column, points.count, partial);
    case FieldType::kUint8:
      return accumulate<std::uint8_t>(field, column, points.count, partial);
    case FieldType::kInt16:
      return accumulate<std::int16_t>(field, column, points.count, partial);
    case FieldType::kUint16:
      return accumulate<std::uint16_t>(field, column, points.count, partial);
    case FieldType::kInt32:
      return accumulate<std::int32_t>(field, column, points.count, partial);
    case FieldType::kUint32:
      return accumulate<std::uint32_t>(field, column, points.count, partial);
    case FieldType::kInt64:
      return accumulate<std::int64_t>(field, column, points.count, partial);
    case FieldType::kUint64:
      return accumulate<std::uint64_t>(field, column, points.count, partial);
    case FieldType::kFloat32:
      return accumulate<float>(field, column, points.count, partial);
    case FieldType::kFloat64:
      return accumulate<double>(field, column, points.count, partial);
  }
}

void merge(const Partial& from, Partial& into) {
  into.non_finite += from.non_finite;
  if (!from.any) return;
  if (!into.any) {
    into.min_signed = from.min_signed;
    into.max_signed = from.max_signed;
    into.min_unsigned = from.min_unsigned;
    into.max_unsigned = from.max_unsigned;
    into.min_real = from.min_real;
    into.max_real = from.max_real;
  } else {
    into.min_signed = std::min(into.min_signed, from.min_signed);
    into.max_signed = std::max(into.max_signed, from.max_signed);
    into.min_unsigned = std::min(into.min_unsigned, from.min_unsigned);
    into.max_unsigned = std::max(into.max_unsigned, from.max_unsigned);
    into.min_real = std::min(into.min_real, from.min_real);
    into.max_real = std::max(into.max_real, from.max_real);
  }
  into.any = true;
  into.whole_sum += from.whole_sum;
  into.real_sum.add(from.real_sum);
  into.count += from.count;
  for (std::size_t i = 0; i < into.counts.size(); ++i) into.counts[i] += from.counts[i];
}

bool is_signed_type(FieldType type) {
  return type == FieldType::kInt8 || type == FieldType::kInt16 || type == FieldType::kInt32 ||
         type == FieldType::kInt64;
}

bool is_float_type(FieldType type) { return type == FieldType::kFloat32 || type == FieldType::kFloat64; }

FieldStatistics finished(const Field& field, const Partial& partial) {
  FieldStatistics out;
  out.name = field.name;
  out.count = partial.count;
  out.non_finite = partial.non_finite;
  out.is_signed = is_signed_type(field.type);
  out.has_counts = is_counted(field);
  if (is_float_type(field.type)) {
    out.min = partial.min_real;
    out.max = partial.max_real;
    if (partial.count != 0) out.mean = partial.real_sum.mean(partial.count);
  } else {
    out.min = out.is_signed ? static_cast<double>(partial.min_signed) : static_cast<double>(partial.min_unsigned);
    out.max = out.is_signed ? static_cast<double>(partial.max_signed) : static_cast<double>(partial.max_unsigned);
    out.mean = static_cast<double>(partial.whole_sum) / static_cast<double>(partial.count);
    out.whole = !field.scaled;
    out.whole_min = out.is_signed ? static_cast<std::uint64_t>(partial.min_signed) : partial.min_unsigned;
    out.whole_max = out.is_signed ? static_cast<std::uint64_t>(partial.max_signed) : partial.max_unsigned;
  }
  if (field.scaled) {
    const auto real = [&](double stored) {
      const double product = stored * field.scale;
      return product + field.shift;
    };
    out.min = real(out.min);
    out.max = real(out.max);
    out.mean = real(out.mean);
    if (out.min > out.max) std::swap(out.min, out.max);
  }
  if (out.has_counts) {
    for (std::size_t i = 0; i < partial.counts.size(); ++i) {
      if (partial.counts[i] == 0) continue;
      const std::int64_t value = out.is_signed ? static_cast<std::int8_t>(i) : static_cast<std::int64_t>(i);
      out.counts[value] = partial.counts[i];
    }
  }
  return out;
}

Extent bounds_of(const CloudInfo& info, const PointView& points) {
  Extent bounds;
  const Positions positions = info.frame.positions(points.records, points.stride);
  for (std::uint64_t row = 0; row < points.count; ++row) {
    Position at = load_position(positions, row);
    complete_world(positions, at);
    if (is_finite(at.world[0]) && is_finite(at.world[1]) && is_finite(at.world[2])) {
      bounds.add(at.world[0], at.world[1], at.world[2]);
    }
  }
  return bounds;
}

struct ChunkResult {
  std::vector<Partial> partials;
  Extent bounds;
};

}  // namespace

CloudStatistics compute_statistics(ChunkSource& source, int threads) {
  const CloudInfo& info = source.info();
  if (threads <= 0) threads = tbb::info::default_concurrency();
  Pool<RecordBuffer> buffers;  // as many as chunks in flight, not as threads
  ChunkResult total;
  total.partials.resize(info.schema.fields.size());

  const auto workers = static_cast<std::uint64_t>(threads);
  const auto bytes = [&](const InFlight& now) {
    return now.chunks * source.chunk_bytes(now.chunk_points) + source.held_bytes();
  };
  const InFlight fitting = fit_in_flight(
      {std::max<std::uint64_t>(kChunkPoints, source.decoded_together()), 2 * workers}, source.decoded_together(),
      kLeastChunkPoints, workers, memory_limit({}), bytes, "reading the points");
  const auto next = [&](tbb::flow_control& control) {
    ChunkRange range;
    if (!source.next(fitting.chunk_points, range)) control.stop();
    return range;
  };
  const auto measure = [&](const ChunkRange& range) {
    RecordBuffer buffer = buffers.take();
    const PointView points = source.load(range, buffer);
    ChunkResult result;
    result.partials.resize(info.schema.fields.size());
    for (std::size_t f = 0; f < info.schema.fields.size(); ++f) {
      accumulate(info.schema.fields[f], points, result.partials[f]);
    }
    result.bounds = bounds_of(info, points);
    source.release(range);
    buffers.give(std::move(buffer));
    return result;
  };
  const auto join = [&](const ChunkResult& result) {
    for (std::size_t f = 0; f < result.partials.size(); ++f) merge(result.partials[f], total.partials[f]);
    total.bounds.add(result.bounds);
  };

  const tbb::global_control control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_pipeline(fitting.chunks,
                           tbb::make_filter<void, ChunkRange>(tbb::filter_mode::serial_in_order, next) &
                               tbb::make_filter<ChunkRange, ChunkResult>(tbb::filter_mode::parallel, measure) &
                               tbb::make_filter<ChunkResult, void>(tbb::filter_mode::serial_in_order, join));
  });

  CloudStatistics out;
  out.bounds = total.bounds;
  for (std::size_t f = 0; f < info.schema.fields.size(); ++f) {
    out.fields.push_back(finished(info.schema.fields[f], total.partials[f]));
  }
  return out;
}

}  // namespace sluice::app
