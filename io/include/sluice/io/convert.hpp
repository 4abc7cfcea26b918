// SPDX-License-Identifier: Apache-2.0
/// \file
/// From every format to every other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sluice/core/chunk_stream.hpp"
#include "sluice/core/extent.hpp"
#include "sluice/core/point_cloud.hpp"
#include "sluice/io/las_convert.hpp"
#include "sluice/io/write.hpp"

namespace sluice::io {

/// What points shall become.
struct ConvertTarget {
  std::string path;  ///< of the output; its extension names the format. `-`: the format that the points have
  LasTarget las{};   ///< of a LAS or LAZ output
  /// How the points of a PCD or PLY output are stored, as the format names it; empty: as in an input of that format,
  /// else binary (PLY: little-endian).
  std::string data{};
  bool strict = false;  ///< whatever would be lost is an error instead of a warning
};

/// What all points say of a field.
struct FieldSummary {
  double min = 0.0;  ///< real values; without any finite value both are 0
  double max = 0.0;
  bool whole = true;   ///< all are whole numbers
  bool finite = true;  ///< none is NaN or infinite
};

/// What all points say of a cloud.
struct PointSummary {
  Extent bounds;                     ///< of the finite points
  std::uint64_t points = 0;          ///< with those that are not finite
  std::uint64_t nonfinite = 0;       ///< points with a coordinate that is not finite
  std::vector<FieldSummary> fields;  ///< in the order of the schema
};

/// Reads all points of all sources, which have the same schema.
/// \param threads  0: all that the process may run on
[[nodiscard]] PointSummary summarize(std::span<ChunkSource* const> sources, int threads);

/// Turns records of one layout into records of another. Immutable but for what it counts.
class RecordConverter {
 public:
  virtual ~RecordConverter() = default;
  /// Schema, frame and metadata of the converted cloud, for `create_sink`.
  [[nodiscard]] virtual const CloudInfo& info() const = 0;
  /// True where `convert` would only copy the records of the source.
  [[nodiscard]] virtual bool keeps_records() const { return false; }
  /// Converts `in.count` records to `out`, which holds as many of `info().schema.record_bytes` bytes and does not
  /// overlap them. Any thread.
  /// \param first  index of the first record, for messages
  /// \throws Unsupported  a value does not fit; names the point
  virtual void convert(const PointView& in, std::uint64_t first, std::byte* out) const = 0;
  /// What was lost or changed in meaning; complete once all points are converted.
  [[nodiscard]] virtual std::vector<std::string> warnings() const = 0;
};

/// How records of `source` become those of the target.
///
/// - LAS to LAS: as `LasConverter` does.
/// - LAS to rows: coordinates and scaled fields become float64, bits uint8; all else keeps its type.
/// - Rows to rows: columns keep names and types; PLY has no 64-bit integers, which become float64 there.
/// - Text to text: `.csv` has commas or semicolons and names in its first line; `.xyz` has blanks, and names in a
///   comment where there are more columns than x, y and z.
/// - To texts (PCD and PLY in ascii too): a float32 column rgb or rgba, in whose bits PCL keeps colours, becomes the
///   uint32 of the same bits, as PCL writes it.
/// - To `.bin`: float32 x, y, z and intensity (`.pcd.bin`: and ring), 0 where there is none.
///
/// From rows to LAS:
///
/// - Scale: the one given; else the same for all axes, a power of ten: 0.001, finer where the longest side is below a
///   kilometre, so that it has a million steps at least, coarser where it would not fit 32 bits. Coordinates go to the
///   nearest step and are never clamped: what does not fit is refused.
/// - Offset: the one given; else 0 where all fits, else a whole number near the middle (a fraction only where the whole
///   cloud is much smaller than 1).
/// - Fields of LAS get the columns of the same name (whatever its case and underscores) whose values they hold exactly,
///   scan angles to the nearest step; all other columns become extra dimensions, with a number behind a name that is
///   taken.
/// - Colours: red, green and blue of 8 bits (columns of uint8, or of other types with no value above 255, but uint16)
///   become 16 bits by a factor of 256, as the specification asks; so do those in a column rgb or rgba of four bytes.
/// - Point format: the one given; else 6, or 7 with colours, or 8 with near infrared. Formats 0 to 5 refuse classes
///   above 31.
///
/// Points that are not finite fit no LAS file: `convert` refuses them, the caller leaves them out.
/// \param summary  called where the target depends on all points: from rows to LAS
/// \throws InvalidArgument  a target that cannot be, `data` that the format does not know
/// \throws Unsupported      with `strict` whatever the target cannot hold; a format that cannot be written
[[nodiscard]] std::shared_ptr<const RecordConverter> make_converter(const CloudInfo& source,
                                                                    const ConvertTarget& target,
                                                                    const std::function<PointSummary()>& summary);

/// True where points of `source` can be written to `path` as they are.
[[nodiscard]] bool keeps_format(const CloudInfo& source, const std::string& path);

/// A sink that takes records as they were before, and warns of what was lost.
[[nodiscard]] std::unique_ptr<ChunkSink> create_converting_sink(const std::string& path,
                                                                std::shared_ptr<const RecordConverter> converter,
                                                                const WriteOptions& options = {});

}  // namespace sluice::io
