// SPDX-License-Identifier: Apache-2.0
/// \file
/// All of a LAS file but its points: what is kept, what is made anew, and how it gets onto the disk. Where the points'
/// bytes go is the business of the sinks.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "../../laz/laszip_vlr.hpp"
#include "las_layout.hpp"
#include "sluice/core/chunk_stream.hpp"
#include "sluice/io/output_file.hpp"
#include "sluice/io/write.hpp"

namespace sluice::io::las {

/// What the header says about the points, gathered while they are stored.
struct PointStatistics {
  std::uint64_t count = 0;
  std::array<std::uint64_t, 16> by_return{};
  std::array<std::int32_t, 3> min{std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::max(),
                                  std::numeric_limits<std::int32_t>::max()};
  std::array<std::int32_t, 3> max{std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::min(),
                                  std::numeric_limits<std::int32_t>::min()};
  double min_gps_time = std::numeric_limits<double>::infinity();
  double max_gps_time = -std::numeric_limits<double>::infinity();

  void add(const PointView& view, unsigned return_mask);
  void add_gps_times(const PointView& view, std::uint64_t at);
  void add(const PointStatistics& other);
};

class LasWriter {
 public:
  /// Refuses what can be refused, then starts the file.
  /// \param compression  of the points; null where they are written as they are
  /// \throws Unsupported, InvalidArgument, IoError
  LasWriter(const std::string& path, const CloudInfo& like, const WriteOptions& options,
            const laz::LaszipVlr* compression);

  /// For messages.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const LasHeader& header() const { return header_; }
  [[nodiscard]] std::uint64_t record_bytes() const { return record_bytes_; }
  /// Position of the point data.
  [[nodiscard]] std::uint64_t points_at() const { return header_.offset_to_points; }
  /// Bytes of a record that the header's statistics come from.
  [[nodiscard]] const std::vector<ByteRange>& fields_counted() const { return fields_counted_; }

  /// \return the first of `count` places
  std::uint64_t reserve(std::uint64_t count);
  [[nodiscard]] std::uint64_t reserved() const { return reserved_.load(); }
  /// Counts points that go to reserved places. Any thread.
  void add(std::uint64_t first, const PointView& view);
  /// Any thread, ranges that do not overlap.
  void write_at(std::uint64_t at, const std::byte* data, std::uint64_t count) const {
    file_->write_at(at, data, count);
  }

  /// Says how the points were compressed in the end; the number of items must be that of the constructor's.
  void describe(const laz::LaszipVlr& compression);
  /// \param end  of the points and what belongs to them
  void seal(std::uint64_t end);
  void finish();
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void drop_obsolete();
  void describe_external_waveforms(const std::string& path);
  void lay_out();
  [[nodiscard]] bool is_gps_time_counted() const {
    return header_.version_minor >= 5 && kPointLayouts[header_.point_format].gps_time >= 0;
  }
  void copy_payload(std::uint64_t to, const Payload& payload) const;
  std::uint64_t write_evlr(std::uint64_t to, const Evlr& evlr) const;
  /// Writes what follows the points and notes where it is.
  std::uint64_t write_trailer(std::uint64_t position);
  /// Turns the statistics into header fields.
  void summarize();

  std::uint64_t record_bytes_;
  std::string name_;
  LasMetadata metadata_;
  LasHeader& header_;
  bool compressed_;
  std::vector<ByteRange> fields_counted_;
  std::optional<OutputFile> file_;
  std::atomic<std::uint64_t> reserved_{0};
  std::mutex mutex_;  ///< guards the statistics
  PointStatistics statistics_;
  std::vector<std::string> warnings_;
  bool sealed_ = false;
};

}  // namespace sluice::io::las
