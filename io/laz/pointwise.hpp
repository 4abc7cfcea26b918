// SPDX-License-Identifier: Apache-2.0
/// \file
/// Chunks of formats 0 to 5: the first point as it is, then one stream of all items of all other points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "buffer.hpp"
#include "decoder.hpp"
#include "encoder.hpp"
#include "gps_time.hpp"
#include "items.hpp"
#include "point10.hpp"
#include "rgb.hpp"
#include "status.hpp"
#include "version1.hpp"
#include "wave_packet.hpp"

namespace sluice::laz {

/// All that a pointwise stream knows between two points, extra bytes apart.
struct PointwiseModels {
  union {
    Point10Models point;
    Point10OldModels point_old;
  };
  union {
    GpsTimeModels<false> gps;
    GpsTimeOldModels gps_old;
  };
  union {
    RgbModels rgb;
    RgbOldModels rgb_old;
  };
  PlaceModels<8> extra_old;
  WavePacketModels wave_packet;
  WavePacket last_wave_packet;
};

/// Models of one extra byte.
union ByteModels {
  Bank<256, 1> difference;
  Bank<9, 1> interval_old;
};

/// Memory for the models of one stream at a time, kept from chunk to chunk; one for each thread.
class PointwiseWorkspace {
 public:
  /// Sees that there is memory for this layout. Nothing of it is touched before its use.
  void reserve(const RecordLayout& layout);
  [[nodiscard]] PointwiseModels& models() const { return *models_; }
  [[nodiscard]] ByteModels* extra() const { return extra_.get(); }

 private:
  std::unique_ptr<PointwiseModels> models_;
  std::unique_ptr<ByteModels[]> extra_;
  std::uint32_t extra_bytes_ = 0;
};

/// What was found in a chunk or a part of it.
struct PointwiseResult {
  Status status = Status::kOk;
  std::uint64_t points = 0;    ///< sound ones, from the first on
  std::uint64_t consumed = 0;  ///< bytes of the chunk so far
};

/// Decodes one chunk in one or several parts, as a file without chunks needs.
class PointwiseDecoder {
 public:
  /// \param layout     not layered
  /// \param bytes      of the chunk; may go on behind it. They must stay until the last part is decoded
  PointwiseDecoder(PointwiseWorkspace& workspace, const RecordLayout& layout, std::span<const std::byte> bytes);

  /// Decodes the next `count` points into records `stride` bytes apart.
  ///
  /// \returns how many of them are sound, and kOk, kTruncated or kCorrupt. After anything but kOk, nothing more can be
  /// decoded, and records beyond the sound ones hold anything.
  PointwiseResult decode(std::byte* records, std::uint64_t stride, std::uint64_t count);
  /// True where the chunk may end behind the points that were decoded.
  [[nodiscard]] bool may_end() const { return status_ == Status::kOk && !last_.empty() && coder_.may_end(); }

 private:
  PointwiseWorkspace& workspace_;
  RecordLayout layout_;
  std::span<const std::byte> bytes_;
  Decoder coder_;
  Status status_ = Status::kOk;
  std::vector<std::byte> last_;  ///< the record before the next part; empty at the begin
};

/// Decodes a whole chunk of known size and point count.
///
/// \returns kLeftOver where bytes remain
PointwiseResult decode_pointwise_chunk(PointwiseWorkspace& workspace, const RecordLayout& layout,
                                       std::span<const std::byte> bytes, std::byte* records, std::uint64_t stride,
                                       std::uint64_t count);

/// Appends one chunk to `out`.
///
/// \param layout   versions as `items_of` gives them
/// \param count    at least 1
void encode_pointwise_chunk(PointwiseWorkspace& workspace, const RecordLayout& layout, const std::byte* records,
                            std::uint64_t stride, std::uint64_t count, Buffer& out);

}  // namespace sluice::laz
