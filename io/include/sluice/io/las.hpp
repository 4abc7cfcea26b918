// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a LAS file says about its points beside the records: header, variable length records, extra dimensions.
/// Source of every offset and rule: the ASPRS LAS specifications 1.0 to 1.5.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/core/point_cloud.hpp"

namespace sluice::io {

/// Owner of bytes that several payloads view, usually a mapped file.
class ByteStore {
 public:
  virtual ~ByteStore() = default;
  /// Says that nobody reads these bytes soon, so that their pages can leave memory. They stay readable. Any thread.
  virtual void release(const std::byte* first, std::uint64_t count) const noexcept = 0;
};

/// Bytes of any length, shared and never changed: a view into the file that they came from, or owned.
class Payload {
 public:
  Payload() = default;
  explicit Payload(std::vector<std::byte> bytes);
  Payload(std::shared_ptr<const ByteStore> store, std::span<const std::byte> bytes)
      : store_(std::move(store)), bytes_(bytes) {}

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return bytes_.size(); }
  /// Gives back the pages of a part that was read.
  void release(std::uint64_t first, std::uint64_t count) const noexcept {
    if (store_ != nullptr) store_->release(bytes_.data() + first, count);
  }

 private:
  std::shared_ptr<const ByteStore> store_;
  std::span<const std::byte> bytes_;
};

/// What precedes the payload of a VLR or EVLR. Texts are kept as stored, with whatever follows their terminator.
struct RecordHeader {
  std::uint16_t reserved = 0;
  std::array<char, 16> user_id{};
  std::uint16_t record_id = 0;
  std::array<char, 32> description{};

  /// True for this user id (compared up to its terminator) and record id.
  [[nodiscard]] bool is(std::string_view user, std::uint16_t id) const;
  [[nodiscard]] std::string user_text() const;         ///< up to the terminator; not printable bytes become '?'
  [[nodiscard]] std::string description_text() const;  ///< likewise
};

/// Variable length record: at most 65535 bytes of payload.
struct Vlr : RecordHeader {
  std::vector<std::byte> payload;
};

/// Extended variable length record: it follows the points and has a 64-bit length.
struct Evlr : RecordHeader {
  Payload payload;
};

/// The public header block of LAS 1.0 to 1.5, decoded. Fields that a version lacks are zero.
struct LasHeader {
  std::uint16_t file_source_id = 0;
  std::uint16_t global_encoding = 0;
  std::array<std::byte, 16> project_id{};
  std::uint8_t version_major = 1;
  std::uint8_t version_minor = 4;
  std::array<char, 32> system_identifier{};
  std::array<char, 32> generating_software{};
  std::uint16_t creation_day = 0;  ///< day of the year, 1 January is 1
  std::uint16_t creation_year = 0;
  std::uint16_t header_size = 0;
  std::uint32_t offset_to_points = 0;
  std::uint32_t vlr_count = 0;
  std::uint8_t point_format = 0;  ///< without the bits that mark compression
  std::uint16_t record_length = 0;
  std::uint32_t legacy_count = 0;
  std::array<std::uint32_t, 5> legacy_by_return{};
  std::array<double, 3> scale{1.0, 1.0, 1.0};
  std::array<double, 3> offset{};
  std::array<double, 3> max{};
  std::array<double, 3> min{};
  std::uint64_t waveform_start = 0;           ///< 1.3
  std::uint64_t evlr_start = 0;               ///< 1.4
  std::uint32_t evlr_count = 0;               ///< 1.4
  std::uint64_t count = 0;                    ///< 1.4; see `legacy_count` for older files
  std::array<std::uint64_t, 15> by_return{};  ///< 1.4
  double max_gps_time = 0.0;                  ///< 1.5
  double min_gps_time = 0.0;                  ///< 1.5
  std::uint16_t time_offset = 0;              ///< 1.5
  std::vector<std::byte> vendor;              ///< bytes of the header behind the fields of its version

  static constexpr std::uint16_t kAdjustedGpsTime = 1U << 0;
  static constexpr std::uint16_t kInternalWaveforms = 1U << 1;
  static constexpr std::uint16_t kExternalWaveforms = 1U << 2;
  static constexpr std::uint16_t kSyntheticReturns = 1U << 3;
  static constexpr std::uint16_t kWkt = 1U << 4;
  static constexpr std::uint16_t kTimeOffset = 1U << 6;

  [[nodiscard]] std::string version() const {
    return std::to_string(version_major) + "." + std::to_string(version_minor);
  }
};

/// One extra dimension as described by the record LASF_Spec/4 (192 bytes).
struct ExtraBytes {
  std::uint8_t type = 0;     ///< 0 undocumented, 1..10 scalars, 11..30 arrays of 2 and 3 (deprecated)
  std::uint8_t options = 0;  ///< bit 0 no-data, 1 min, 2 max, 3 scale, 4 offset; for type 0 the number of bytes
  std::string name;          ///< as stored, up to the terminator
  std::string description;
  std::array<double, 3> scale{1.0, 1.0, 1.0};
  std::array<double, 3> offset{};
  std::array<std::array<std::byte, 8>, 3> no_data{};
  std::uint32_t at = 0;     ///< byte offset in the record
  std::uint32_t bytes = 0;  ///< size in the record
};

/// What a COPC 1.0 file says of its octree, each node of which is a chunk of the LAZ file that it is.
struct CopcInfo {
  std::array<double, 3> center{};  ///< of the root's cube
  double halfsize = 0.0;           ///< of the root's cube, from its centre to a side
  double spacing = 0.0;            ///< between points at the root; it halves with each level
  std::uint64_t root_offset = 0;   ///< in the file, of the hierarchy's first page
  std::uint64_t root_bytes = 0;
  double min_gps_time = 0.0;  ///< as stated; many writers put nothing useful there
  double max_gps_time = 0.0;
  std::uint64_t nodes = 0;  ///< of the hierarchy, those without points too
  std::uint32_t levels = 0;
};

/// Meaning of the GPS times of a file.
enum class GpsTimeType : std::uint8_t {
  kNone,              ///< the point format has no time
  kWeek,              ///< seconds of the GPS week
  kAdjustedStandard,  ///< standard GPS time minus 1e9 s
  kOffset,            ///< standard GPS time minus the header's time offset times 1e6 s (LAS 1.5)
};
[[nodiscard]] std::string_view name_of(GpsTimeType type);

/// Everything that a LAS file holds beside its point records.
class LasMetadata final : public FormatMetadata {
 public:
  LasHeader header;
  std::vector<Vlr> vlrs;
  std::vector<Evlr> evlrs;
  Payload gap;  ///< bytes between the last VLR and the first point; a writer keeps them
  /// Waveform packets that are not in the chain of EVLRs (LAS 1.3). A writer keeps them behind the points.
  std::optional<Evlr> waveform;
  std::optional<std::size_t> waveform_evlr;  ///< which of `evlrs` holds the waveform packets
  std::string external_waveforms;            ///< path of the .wdp file that the points refer to, else empty
  std::vector<ExtraBytes> extra_bytes;       ///< those that fit into the record
  bool compressed = false;                   ///< the points were read from a LAZ file
  std::optional<CopcInfo> copc;              ///< of a COPC file whose octree agrees with its chunks

  [[nodiscard]] std::string format() const override { return compressed ? "laz" : "las"; }
  /// Point format, extra dimensions, GPS time type or coordinate system; several inputs with waveform packets cannot be
  /// joined at all, as the points' offsets into them would no longer hold.
  [[nodiscard]] std::string difference(const FormatMetadata& other) const override;
  /// The coordinate system in WKT, from the record LASF_Projection/2112; empty where there is none.
  [[nodiscard]] std::string wkt() const;
  /// True where GeoTIFF keys (LASF_Projection/34735) describe the coordinate system.
  [[nodiscard]] bool has_geotiff() const;
  [[nodiscard]] GpsTimeType gps_time_type() const;
  [[nodiscard]] bool has_waveforms() const {
    return waveform.has_value() || waveform_evlr.has_value() || !external_waveforms.empty();
  }
};

/// Bytes of a record of point format 0 to 10 without extra bytes.
/// \throws InvalidArgument for another format
[[nodiscard]] std::uint16_t las_record_bytes(int point_format);

/// The fields of a point format and of its extra dimensions, in the order of their bytes. Names are lower case:
/// x y z intensity return_number number_of_returns scan_direction_flag edge_of_flight_line classification synthetic
/// key_point withheld overlap scanner_channel user_data scan_angle point_source_id gps_time red green blue nir
/// wave_packet_index wave_packet_offset wave_packet_size wave_return_location wave_x_t wave_y_t wave_z_t.
/// Characters of an extra dimension's name other than letters and digits become '_'; members of an array are name[0],
/// name[1], ...; a name that is taken gets a number. Undescribed bytes have no field.
[[nodiscard]] Schema las_schema(int point_format, std::uint16_t record_length, const std::array<double, 3>& scale,
                                const std::array<double, 3>& offset, const std::vector<ExtraBytes>& extra_bytes);

/// An extra dimension to be made.
struct ExtraDimension {
  std::string name;  ///< at most 32 bytes
  FieldType type = FieldType::kUint8;
  std::string description{};      ///< at most 32 bytes
  std::optional<double> scale{};  ///< real value = stored * scale + offset
  std::optional<double> offset{};
};

/// A LAS file to be made from nothing.
struct LasLayout {
  int version_minor = 4;
  int point_format = 6;
  std::array<double, 3> scale{0.001, 0.001, 0.001};
  std::array<double, 3> offset{};
  std::vector<ExtraDimension> extra;
  std::string wkt;  ///< empty: no coordinate system
  bool adjusted_gps_time = true;
  std::string system_identifier;  ///< at most 32 bytes
};

/// Schema, frame and metadata for a new file, ready for `create_sink`; the header tells where the points will start.
/// \throws InvalidArgument where the version does not know the format, a text is too long, a scale is not usable
[[nodiscard]] CloudInfo make_las_info(const LasLayout& layout);

}  // namespace sluice::io
