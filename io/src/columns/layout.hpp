// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where the values of a row are in the file and in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sluice/io/columns.hpp"

namespace sluice::io::columns {

/// Longest record, as in LAS.
inline constexpr std::uint64_t kMostRecordBytes = 65535;

/// One value of a row.
struct StoredValue {
  FieldType file_type;
  FieldType type;         ///< in memory: the file's, or float64
  std::uint32_t file_at;  ///< of a row of a binary file
  std::uint32_t at;       ///< of a record in memory
  bool padding = false;
};

/// How rows become records and back. Immutable; any thread.
class Layout {
 public:
  /// \throws InvalidArgument
  explicit Layout(std::span<const ColumnField> columns);

  [[nodiscard]] const Schema& schema() const noexcept { return schema_; }
  [[nodiscard]] const CoordinateFrame& frame() const noexcept { return frame_; }
  [[nodiscard]] const std::vector<StoredValue>& values() const noexcept { return values_; }
  [[nodiscard]] std::uint32_t file_bytes() const noexcept { return file_bytes_; }
  [[nodiscard]] std::uint32_t record_bytes() const noexcept { return schema_.record_bytes; }
  /// A row of a little-endian binary file is a record as it is.
  [[nodiscard]] bool is_plain() const noexcept { return plain_; }
  /// Leaves padding out of the file, not out of records.
  void leave_out_padding();

  /// Turns `count` binary rows, `file_stride` bytes apart, into records without gaps.
  /// \param swap  the rows are big-endian
  /// \return the first row with a coordinate that float64 cannot hold, or `count`
  std::uint64_t decode(const std::byte* rows, std::uint64_t file_stride, std::uint64_t count, bool swap,
                       std::byte* out) const;
  /// The other way round; `out` gets `count` rows of `file_bytes()`.
  /// \return the first record with a coordinate that the file's type cannot hold, or `count`
  std::uint64_t encode(const PointView& records, bool swap, std::byte* out) const;

 private:
  Schema schema_;
  CoordinateFrame frame_;
  std::vector<StoredValue> values_;
  std::uint32_t file_bytes_ = 0;
  bool plain_ = true;
};

/// A value of an integer or float type as float64. \return false where it is not exact
bool widen(FieldType type, const std::byte* from, double& out);
/// A float64 as a value of a type; to integers rounded half to even. \return false where it does not fit
bool narrow(double value, FieldType type, std::byte* to);

/// The layout of an output.
/// \throws InvalidArgument where the records of `like` are not those of the columns
[[nodiscard]] Layout layout_for(const std::string& path, const ColumnMetadata& metadata, const CloudInfo& like);

/// Why records of two clouds, not both LAS, cannot go into one file.
[[nodiscard]] std::optional<std::string> difference(const CloudInfo& first, const CloudInfo& other);

}  // namespace sluice::io::columns
