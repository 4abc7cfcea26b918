// SPDX-License-Identifier: Apache-2.0
/// \file
/// The jobs: filter, thin, bin. Over streams of chunks (files of any size), and over clouds in memory.
///
/// Results do not depend on backend, thread count or chunk size, bit for bit. Sources must agree in schema, frame and
/// record length (`require_same_layout`); they count in the order given. Errors: InvalidArgument (a field or option
/// that makes no sense), Unsupported, FormatError and IoError from sources and sinks, OutOfMemory (also where
/// `Execution::memory_bytes` does not allow what a job must hold), DeviceError (a backend asked for by name),
/// Cancelled. Sinks are never sealed or finished here: the caller does that, once all that belongs together is written.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sluice/core/cell_key.hpp"
#include "sluice/core/chunk_stream.hpp"
#include "sluice/core/decimal.hpp"
#include "sluice/core/point_cloud.hpp"
#include "sluice/core/region.hpp"
#include "sluice/execution.hpp"
#include "sluice/kernels/operations.hpp"
#include "sluice/report.hpp"

namespace sluice {

/// A grid of cells as a user gives it.
struct GridOptions {
  std::array<double, 3> size = {1.0, 1.0, 1.0};  ///< edge per axis, world units, > 0
  bool use_z = true;                             ///< false: columns in x and y
  std::array<Decimal, 3> origin = {};            ///< corner of cell (0,0,0)
  /// Take the smallest finite coordinate per axis over all inputs, before any region, as the origin instead.
  bool origin_at_minimum = false;
};

/// How the attribute of a centroid is made from those of the points of its cell.
enum class AttributeRule : std::uint8_t {
  kMean,  ///< integers rounded half to even
  kMin,
  kMax,
  kMode,  ///< most frequent; of several the smallest
};

struct AttributeChoice {
  std::string field;
  AttributeRule rule = AttributeRule::kMean;
};

struct ThinOptions {
  GridOptions grid;
  kernels::KeepPolicy policy = kernels::KeepPolicy::kFirst;
  std::uint32_t max_per_cell = 1;
  std::uint64_t seed = 0;                   ///< of kRandom
  std::vector<AttributeChoice> attributes;  ///< of kCentroid; others come from the record nearest to the centroid
};

/// One occupied cell, in the order of the output.
struct CellRow {
  std::int64_t cell[3];
  std::uint64_t first;  ///< index of its first record in the output
  std::uint64_t count;
};

struct BinOptions {
  GridOptions grid;
  CellOrder order = CellOrder::kRowMajor;
  /// Receives every occupied cell; may be empty.
  std::function<void(std::span<const CellRow>)> cells;
};

/// \throws InvalidArgument naming the first source that differs from the first one, and in what
void require_same_layout(std::span<ChunkSource* const> sources);

struct FilterOptions {
  /// Points that are not kept stay in their places with coordinates that are NaN and all else as it is, so that an
  /// organized cloud keeps its rows. `points_written` counts the others. One source, whose coordinates are floats.
  bool keep_places = false;
};

/// Writes the selected points to `kept` and, if given, those that regions and conditions refused to `rejected`, both in
/// input order. Streams: holds a bounded number of chunks.
Report filter(std::span<ChunkSource* const> sources, const Selection& selection, ChunkSink& kept, ChunkSink* rejected,
              const Execution& execution, const FilterOptions& options = {});

/// Writes at most `max_per_cell` of the selected points of each cell. Holds all points.
Report thin(std::span<ChunkSource* const> sources, const Selection& selection, const ThinOptions& options,
            ChunkSink& kept, const Execution& execution);

/// Writes the selected points cell by cell in key order, ties in input order. Holds all points.
Report bin(std::span<ChunkSource* const> sources, const Selection& selection, const BinOptions& options,
           ChunkSink& kept, const Execution& execution);

/// A cloud and what was done to make it.
struct CloudResult {
  PointCloud cloud;
  Report report;
};

/// The same over clouds in memory.
[[nodiscard]] CloudResult filter(const PointCloud& cloud, const Selection& selection, const Execution& execution = {});
[[nodiscard]] CloudResult thin(const PointCloud& cloud, const Selection& selection, const ThinOptions& options,
                               const Execution& execution = {});
[[nodiscard]] CloudResult bin(const PointCloud& cloud, const Selection& selection, const BinOptions& options,
                              const Execution& execution = {});

}  // namespace sluice
