// SPDX-License-Identifier: Apache-2.0
/// \file
/// A cloud that owns its records, and what a file says about its points beside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sluice/core/error.hpp"
#include "sluice/core/extent.hpp"
#include "sluice/core/point_view.hpp"
#include "sluice/core/schema.hpp"

namespace sluice {

/// What only one file format knows (header fields, VLRs). Formats derive from it; everybody else passes it through.
class FormatMetadata {
 public:
  FormatMetadata() = default;
  FormatMetadata(const FormatMetadata&) = default;
  FormatMetadata(FormatMetadata&&) = default;
  FormatMetadata& operator=(const FormatMetadata&) = default;
  FormatMetadata& operator=(FormatMetadata&&) = default;
  virtual ~FormatMetadata() = default;
  /// Short name of the format: "las", "pcd".
  [[nodiscard]] virtual std::string format() const = 0;
  /// Why points of another file cannot be put into one file with this one's, beyond what schema and frame tell: CRS,
  /// time type, point format. Empty where they can.
  [[nodiscard]] virtual std::string difference(const FormatMetadata& other) const {
    return format() == other.format() ? std::string() : std::string("the file format");
  }
};

/// What is known of a set of points before any record is read.
struct CloudInfo {
  std::string name;  ///< path or label, for messages
  Schema schema;
  CoordinateFrame frame;
  std::uint64_t point_count = 0;
  Extent bounds;  ///< as the file states it; not trusted
  std::shared_ptr<const FormatMetadata> metadata;
  std::vector<std::string> warnings;  ///< where the file strays from its format and is read all the same
};

/// Owns `count()` records of `info().schema.record_bytes` bytes each, without padding between them.
class PointCloud {
 public:
  PointCloud() = default;
  PointCloud(CloudInfo info, std::vector<std::byte> records) : info_(std::move(info)), records_(std::move(records)) {
    if (info_.schema.record_bytes == 0 || records_.size() % info_.schema.record_bytes != 0) {
      throw InvalidArgument("a cloud's bytes must be a whole number of records");
    }
    info_.point_count = records_.size() / info_.schema.record_bytes;
  }

  [[nodiscard]] const CloudInfo& info() const noexcept { return info_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return info_.point_count; }
  [[nodiscard]] const std::vector<std::byte>& records() const noexcept { return records_; }
  [[nodiscard]] PointView view() const noexcept {
    return PointView{records_.data(), info_.point_count, info_.schema.record_bytes};
  }
  [[nodiscard]] Positions positions() const {
    return info_.frame.positions(records_.data(), info_.schema.record_bytes);
  }

 private:
  CloudInfo info_;
  std::vector<std::byte> records_;
};

}  // namespace sluice
