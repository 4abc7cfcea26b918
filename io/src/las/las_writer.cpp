// SPDX-License-Identifier: Apache-2.0
#include "las_writer.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "sluice/core/error.hpp"
#include "sluice/core/version.hpp"

namespace sluice::io::las {
namespace {

/// Description of the record about compression, which is made anew wherever it comes from.
constexpr const char* kCompressedBy = "compressed by sluice";
constexpr std::uint64_t kCopyStep = std::uint64_t{8} << 20;

/// The moment that goes into the header: SOURCE_DATE_EPOCH where set, else now.
std::time_t creation_time() {
  const char* given = std::getenv("SOURCE_DATE_EPOCH");
  if (given == nullptr || *given == '\0') return std::time(nullptr);
  std::int64_t value = 0;
  const char* end = given + std::strlen(given);
  const auto result = std::from_chars(given, end, value);
  if (result.ec != std::errc() || result.ptr != end || value < 0) {
    throw InvalidArgument("SOURCE_DATE_EPOCH is not a number of seconds: " + std::string(given));
  }
  // The last second of the year 65535, the largest that the header holds.
  constexpr std::int64_t kLast = 2005949145599;
  if (value > kLast) {
    throw InvalidArgument("SOURCE_DATE_EPOCH is beyond the year 65535, the last that a LAS header holds: " +
                          std::string(given));
  }
  return static_cast<std::time_t>(value);
}

bool is_compression(const RecordHeader& record) { return record.is(laz::kLaszipUserId, laz::kLaszipRecordId); }

/// Why a record must not be copied into a file of another layout; empty where it may.
std::string obsolete(const RecordHeader& record) {
  if (is_compression(record)) return "describes LAZ compression";
  if (record.user_text() == "copc") return "describes the COPC octree";
  if (record.is("LAStools", 30)) return "is a spatial index of the old order";
  return {};
}

void append(std::vector<std::byte>& out, const void* data, std::size_t count) {
  const auto* bytes = static_cast<const std::byte*>(data);
  out.insert(out.end(), bytes, bytes + count);
}

std::vector<std::byte> encode(const LasHeader& header, bool compressed) {
  std::vector<std::byte> out(header.header_size);
  std::byte* base = out.data();
  const int minor = header.version_minor;
  std::memcpy(base, "LASF", 4);
  put(base, at::kFileSourceId, header.file_source_id);
  put(base, at::kGlobalEncoding, header.global_encoding);
  std::memcpy(base + at::kProjectId, header.project_id.data(), header.project_id.size());
  put(base, at::kVersionMajor, header.version_major);
  put(base, at::kVersionMinor, header.version_minor);
  std::memcpy(base + at::kSystemIdentifier, header.system_identifier.data(), header.system_identifier.size());
  std::memcpy(base + at::kGeneratingSoftware, header.generating_software.data(), header.generating_software.size());
  put(base, at::kCreationDay, header.creation_day);
  put(base, at::kCreationYear, header.creation_year);
  put(base, at::kHeaderSize, header.header_size);
  put(base, at::kOffsetToPoints, header.offset_to_points);
  put(base, at::kVlrCount, header.vlr_count);
  put(base, at::kPointFormat, static_cast<std::uint8_t>(header.point_format | (compressed ? kCompressedBit : 0U)));
  put(base, at::kRecordLength, header.record_length);
  put(base, at::kLegacyCount, header.legacy_count);
  for (std::size_t i = 0; i < 5; ++i) put(base, at::kLegacyByReturn + 4 * i, header.legacy_by_return[i]);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    put(base, at::kScale + 8 * axis, header.scale[axis]);
    put(base, at::kOffset + 8 * axis, header.offset[axis]);
    put(base, at::kBounds + 16 * axis, header.max[axis]);
    put(base, at::kBounds + 16 * axis + 8, header.min[axis]);
  }
  if (minor >= 3) put(base, at::kWaveformStart, header.waveform_start);
  if (minor >= 4) {
    put(base, at::kEvlrStart, header.evlr_start);
    put(base, at::kEvlrCount, header.evlr_count);
    put(base, at::kCount, header.count);
    for (std::size_t i = 0; i < 15; ++i) put(base, at::kByReturn + 8 * i, header.by_return[i]);
  }
  if (minor >= 5) {
    put(base, at::kMaxGpsTime, header.max_gps_time);
    put(base, at::kMinGpsTime, header.min_gps_time);
    put(base, at::kTimeOffset, header.time_offset);
  }
  std::copy(header.vendor.begin(), header.vendor.end(), out.begin() + header_bytes(minor));
  return out;
}

/// Checks that points can be written.
/// \return bytes of their records
std::uint64_t check(const std::string& path, const CloudInfo& like) {
  const LasMetadata* metadata = metadata_of(like);
  if (metadata == nullptr) {
    throw Unsupported(path + ": a LAS file can only be written from LAS points, and " +
                      (like.name.empty() ? std::string("the input") : like.name) + " has none");
  }
  const LasHeader& header = metadata->header;
  if (header.point_format > kNewestPointFormat || header.version_minor > kNewestMinor ||
      header.record_length < kPointLayouts[header.point_format].bytes ||
      like.schema.record_bytes != header.record_length) {
    throw InvalidArgument(path + ": schema and LAS metadata of the points contradict each other");
  }
  if (header.version_minor < 4 && !metadata->evlrs.empty()) {
    throw InvalidArgument(path + ": LAS " + header.version() + " has no extended variable length records");
  }
  return header.record_length;
}

}  // namespace

void PointStatistics::add(const PointView& view, unsigned return_mask) {
  // Four histograms in turn: equal return numbers follow each other, and each increment would wait for the last one.
  std::array<std::array<std::uint64_t, 16>, 4> returns{};
  std::array<std::int32_t, 3> low = min;
  std::array<std::int32_t, 3> high = max;
  const std::byte* record = view.records;
  for (std::uint64_t i = 0; i < view.count; ++i, record += view.stride) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto raw = get<std::int32_t>(record, 4 * axis);
      low[axis] = std::min(low[axis], raw);
      high[axis] = std::max(high[axis], raw);
    }
    ++returns[i & 3][get<std::uint8_t>(record, 14) & return_mask];
  }
  min = low;
  max = high;
  for (const auto& part : returns) {
    for (std::size_t i = 0; i < 16; ++i) by_return[i] += part[i];
  }
  count += view.count;
}

void PointStatistics::add_gps_times(const PointView& view, std::uint64_t at) {
  for (std::uint64_t i = 0; i < view.count; ++i) {
    const auto time = get<double>(view.records + i * view.stride, at);
    // A NaN fails both comparisons and leaves no trace.
    if (time < min_gps_time) min_gps_time = time;
    if (time > max_gps_time) max_gps_time = time;
  }
}

void PointStatistics::add(const PointStatistics& other) {
  count += other.count;
  for (std::size_t i = 0; i < 16; ++i) by_return[i] += other.by_return[i];
  for (std::size_t axis = 0; axis < 3; ++axis) {
    min[axis] = std::min(min[axis], other.min[axis]);
    max[axis] = std::max(max[axis], other.max[axis]);
  }
  min_gps_time = std::min(min_gps_time, other.min_gps_time);
  max_gps_time = std::max(max_gps_time, other.max_gps_time);
}

LasWriter::LasWriter(const std::string& path, const CloudInfo& like, const WriteOptions& options,
                     const laz::LaszipVlr* compression)
    : record_bytes_(check(path, like)),
      name_(path == "-" ? "<standard output>" : path),
      metadata_(*metadata_of(like)),
      header_(metadata_.header),
      compressed_(compression != nullptr),
      fields_counted_{{0, 12}, {14, 1}} {
  drop_obsolete();
  if (compression != nullptr) describe(*compression);
  describe_external_waveforms(path);
  set_text(header_.generating_software,
           options.generator.empty() ? "sluice " + std::string(kVersion) : options.generator);
  const std::time_t now = creation_time();
  std::tm date{};
  ::gmtime_r(&now, &date);
  header_.creation_day = static_cast<std::uint16_t>(date.tm_yday + 1);
  header_.creation_year = static_cast<std::uint16_t>(date.tm_year + 1900);
  lay_out();
  if (is_gps_time_counted()) {
    fields_counted_.push_back({static_cast<std::uint32_t>(kPointLayouts[header_.point_format].gps_time), 8});
  }
  // Last: everything that can be refused was refused before a file appears.
  file_.emplace(path, options.overwrite);
}

std::uint64_t LasWriter::reserve(std::uint64_t count) {
  const std::uint64_t first = reserved_.load();
  const std::uint64_t most =
      header_.version_minor >= 4
          ? (static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / 2) / record_bytes_
          : kMaxLegacyCount;
  if (count > most - first) {
    throw Unsupported(name_ + ": LAS " + header_.version() + " holds at most " + std::to_string(most) + " points");
  }
  reserved_.store(first + count);
  return first;
}

void LasWriter::add(std::uint64_t first, const PointView& view) {
  const std::uint64_t reserved = reserved_.load();
  if (first > reserved || view.count > reserved - first) {
    throw InvalidArgument(name_ + ": points are stored at places that were not reserved");
  }
  PointStatistics part;
  part.add(view, is_legacy(header_.point_format) ? 0x07U : 0x0fU);
  if (is_gps_time_counted()) {
    part.add_gps_times(view, static_cast<std::uint64_t>(kPointLayouts[header_.point_format].gps_time));
  }
  const std::lock_guard lock(mutex_);
  statistics_.add(part);
}

void LasWriter::describe(const laz::LaszipVlr& compression) {
  auto vlr = std::find_if(metadata_.vlrs.begin(), metadata_.vlrs.end(), is_compression);
  if (vlr == metadata_.vlrs.end()) {
    Vlr made;
    set_text(made.user_id, laz::kLaszipUserId);
    made.record_id = laz::kLaszipRecordId;
    vlr = metadata_.vlrs.insert(vlr, std::move(made));
  }
  set_text(vlr->description, kCompressedBy);
  vlr->payload = laz::serialise(compression);
}

void LasWriter::seal(std::uint64_t end) {
  const std::lock_guard lock(mutex_);
  if (statistics_.count != reserved_.load()) {
    throw InvalidArgument(name_ + ": " + std::to_string(reserved_.load()) + " places were reserved, but " +
                          std::to_string(statistics_.count) + " points stored");
  }
  end = write_trailer(end);
  summarize();
  std::vector<std::byte> front = encode(header_, compressed_);
  for (const Vlr& vlr : metadata_.vlrs) {
    const auto length = static_cast<std::uint16_t>(vlr.payload.size());
    append(front, &vlr.reserved, 2);
    append(front, vlr.user_id.data(), vlr.user_id.size());
    append(front, &vlr.record_id, 2);
    append(front, &length, 2);
    append(front, vlr.description.data(), vlr.description.size());
    append(front, vlr.payload.data(), vlr.payload.size());
  }
  file_->write_at(0, front.data(), front.size());
  copy_payload(front.size(), metadata_.gap);
  file_->complete(end);
  sealed_ = true;
}

void LasWriter::finish() {
  if (!sealed_) throw InvalidArgument(name_ + ": an output is sealed before it is finished");
  file_->publish();
}

void LasWriter::drop_obsolete() {
  // The record about compression stays where it was, for `describe` to fill.
  bool has_place = !compressed_;
  const auto drop = [&](auto& records, const char* kind) {
    std::erase_if(records, [&](const RecordHeader& record) {
      const std::string reason = obsolete(record);
      if (reason.empty()) return false;
      if (is_compression(record)) {
        if (!has_place) {
          has_place = true;
          return false;
        }
        // Whoever reads a compressed file and writes another one loses nothing by that.
        if (metadata_.compressed) return true;
      }
      warnings_.push_back(std::string(kind) + " '" + record.user_text() + "' " + std::to_string(record.record_id) +
                          " " + reason + " and is not kept");
      return true;
    });
  };
  drop(metadata_.vlrs, "VLR");
  has_place = true;
  if (metadata_.waveform_evlr) {
    const auto end = metadata_.evlrs.begin() + static_cast<std::ptrdiff_t>(*metadata_.waveform_evlr);
    const auto dropped =
        std::count_if(metadata_.evlrs.begin(), end, [](const Evlr& evlr) { return !obsolete(evlr).empty(); });
    const bool itself = !obsolete(*end).empty();
    *metadata_.waveform_evlr -= static_cast<std::size_t>(dropped);
    if (itself) metadata_.waveform_evlr.reset();
  }
  drop(metadata_.evlrs, "EVLR");
}

void LasWriter::describe_external_waveforms(const std::string& path) {
  if (metadata_.external_waveforms.empty()) return;
  std::string wanted = path;
  const std::size_t dot = wanted.rfind('.');
  if (dot != std::string::npos && wanted.find('/', dot) == std::string::npos) wanted.resize(dot);
  warnings_.push_back("the waveform packets in " + metadata_.external_waveforms + " are not copied; readers look for " +
                      wanted + ".wdp");
}

void LasWriter::lay_out() {
  const std::uint64_t header_size = header_bytes(header_.version_minor) + header_.vendor.size();
  std::uint64_t offset = header_size;
  for (const Vlr& vlr : metadata_.vlrs) {
    if (vlr.payload.size() > 65535) throw InvalidArgument(name_ + ": a VLR holds at most 65535 bytes");
    offset += kVlrHeaderBytes + vlr.payload.size();
  }
  offset += metadata_.gap.size();
  if (header_size > 65535 || offset > std::numeric_limits<std::uint32_t>::max()) {
    throw Unsupported(name_ + ": header and variable length records are longer than LAS allows");
  }
  header_.header_size = static_cast<std::uint16_t>(header_size);
  header_.offset_to_points = static_cast<std::uint32_t>(offset);
  header_.vlr_count = static_cast<std::uint32_t>(metadata_.vlrs.size());
}

void LasWriter::copy_payload(std::uint64_t to, const Payload& payload) const {
  for (std::uint64_t first = 0; first < payload.size(); first += kCopyStep) {
    const std::uint64_t count = std::min(kCopyStep, payload.size() - first);
    file_->write_at(to + first, payload.bytes().data() + first, count);
    payload.release(first, count);
  }
}

std::uint64_t LasWriter::write_evlr(std::uint64_t to, const Evlr& evlr) const {
  std::vector<std::byte> head;
  const std::uint64_t length = evlr.payload.size();
  append(head, &evlr.reserved, 2);
  append(head, evlr.user_id.data(), evlr.user_id.size());
  append(head, &evlr.record_id, 2);
  append(head, &length, 8);
  append(head, evlr.description.data(), evlr.description.size());
  file_->write_at(to, head.data(), head.size());
  copy_payload(to + head.size(), evlr.payload);
  return to + head.size() + length;
}

std::uint64_t LasWriter::write_trailer(std::uint64_t position) {
  header_.waveform_start = 0;
  if (metadata_.waveform) {
    header_.waveform_start = position;
    position = write_evlr(position, *metadata_.waveform);
  }
  header_.evlr_count = static_cast<std::uint32_t>(metadata_.evlrs.size());
  header_.evlr_start = metadata_.evlrs.empty() ? 0 : position;
  for (std::size_t i = 0; i < metadata_.evlrs.size(); ++i) {
    if (metadata_.waveform_evlr == i) header_.waveform_start = position;
    position = write_evlr(position, metadata_.evlrs[i]);
  }
  return position;
}

void LasWriter::summarize() {
  const PointStatistics& s = statistics_;
  header_.count = s.count;
  for (std::size_t i = 0; i < 15; ++i) header_.by_return[i] = s.by_return[i + 1];
  // Before LAS 1.4 the legacy fields are the only ones, whatever the point format.
  const bool legacy = s.count <= kMaxLegacyCount && (is_legacy(header_.point_format) || header_.version_minor < 4);
  header_.legacy_count = legacy ? static_cast<std::uint32_t>(s.count) : 0;
  for (std::size_t i = 0; i < 5; ++i) {
    header_.legacy_by_return[i] = legacy ? static_cast<std::uint32_t>(s.by_return[i + 1]) : 0;
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (s.count == 0) {
      header_.min[axis] = header_.max[axis] = 0.0;
      continue;
    }
    const double a = to_world(s.min[axis], header_.scale[axis], header_.offset[axis]);
    const double b = to_world(s.max[axis], header_.scale[axis], header_.offset[axis]);
    header_.min[axis] = std::min(a, b);  // a negative scale turns the axis round
    header_.max[axis] = std::max(a, b);
  }
  const bool timed = s.min_gps_time <= s.max_gps_time;
  header_.min_gps_time = timed ? s.min_gps_time : 0.0;
  header_.max_gps_time = timed ? s.max_gps_time : 0.0;
}

}  // namespace sluice::io::las
