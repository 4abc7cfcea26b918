// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "../../laz/laszip_vlr.hpp"
#include "../columns/layout.hpp"
#include "../source_base.hpp"
#include "copc.hpp"
#include "las_file.hpp"
#include "las_layout.hpp"
#include "laz_points.hpp"
#include "laz_source.hpp"
#include "sluice/core/error.hpp"

namespace sluice::io {
namespace las {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

/// A problem found while a chain of records is walked, before it is known whether that is fatal.
struct Problem {
  std::uint64_t offset = 0;
  std::string field;
  std::string text;
};

/// Decodes and checks everything that precedes and follows the point records. No count is believed before the bytes
/// that it promises are known to be there.
class Parser {
 public:
  Parser(std::shared_ptr<const InputBytes> bytes, const ReadOptions& options)
      : bytes_(std::move(bytes)), data_(bytes_->data()), size_(bytes_->size()), options_(options) {}

  void parse() {
    read_header();
    read_vlrs();
    read_compression();
    check_scale();
    read_count();
    if (metadata_->compressed) {
      find_chunks();
      read_copc();
    } else {
      check_count();
    }
    read_evlrs();
    read_waveform();
    account_for_the_rest();
    check_bounds();
    check_by_return();
    check_texts();
    check_version();
    metadata_->extra_bytes = decode_extra_bytes(*metadata_, info_.warnings);
    describe_records(*metadata_, info_);
    info_.name = bytes_->path();
    info_.point_count = count_;
    for (int axis = 0; axis < 3; ++axis) {
      info_.bounds.min[axis] = header_.min[static_cast<std::size_t>(axis)];
      info_.bounds.max[axis] = header_.max[static_cast<std::size_t>(axis)];
    }
    info_.metadata = metadata_;
  }

  CloudInfo take_info() { return std::move(info_); }
  [[nodiscard]] bool recovered() const { return recovered_; }
  /// Null where the points are not compressed.
  LazPoints* compressed_points() { return metadata_->compressed ? &laz_ : nullptr; }
  [[nodiscard]] std::uint64_t points_at() const { return header_.offset_to_points; }

 private:
  [[noreturn]] void fail(std::uint64_t offset, const std::string& field, const std::string& problem) const {
    throw FormatError(bytes_->path(), offset, field, problem);
  }
  [[noreturn]] void fail(const Problem& problem) const { fail(problem.offset, problem.field, problem.text); }
  void warn(std::string text) { info_.warnings.push_back(std::move(text)); }
  /// Refuses the file, or with `recover` says what is done instead.
  void fail_or_recover(const Problem& problem, const std::string& instead) {
    if (!options_.recover) fail(problem);
    recovered_ = true;
    warn("byte " + number(problem.offset) + ": " + problem.field + ": " + problem.text + "; " + instead);
  }

  template <typename T>
  [[nodiscard]] T header_field(std::uint64_t offset) const {
    return get<T>(data_, offset);
  }

  void read_header() {
    const std::uint64_t least = header_bytes(0);
    if (size_ < least) {
      fail(size_, "header",
           "the file ends after " + number(size_) + " bytes, a LAS header has at least " + number(least));
    }
    header_.version_major = header_field<std::uint8_t>(at::kVersionMajor);
    header_.version_minor = header_field<std::uint8_t>(at::kVersionMinor);
    if (header_.version_major != 1 || header_.version_minor > kNewestMinor) {
      fail(at::kVersionMajor, "version",
           header_.version() + " is not known, 1.0 to 1." + number(kNewestMinor) + " are");
    }
    const int minor = header_.version_minor;
    header_.header_size = header_field<std::uint16_t>(at::kHeaderSize);
    if (header_.header_size < header_bytes(minor)) {
      fail(at::kHeaderSize, "header size",
           number(header_.header_size) + " bytes are too few, the header of LAS " + header_.version() + " has " +
               number(header_bytes(minor)));
    }
    if (header_.header_size > size_) {
      fail(at::kHeaderSize, "header size",
           number(header_.header_size) + " bytes, but the file ends after " + number(size_));
    }
    header_.file_source_id = header_field<std::uint16_t>(at::kFileSourceId);
    header_.global_encoding = header_field<std::uint16_t>(at::kGlobalEncoding);
    std::memcpy(header_.project_id.data(), data_ + at::kProjectId, header_.project_id.size());
    std::memcpy(header_.system_identifier.data(), data_ + at::kSystemIdentifier, 32);
    std::memcpy(header_.generating_software.data(), data_ + at::kGeneratingSoftware, 32);
    header_.creation_day = header_field<std::uint16_t>(at::kCreationDay);
    header_.creation_year = header_field<std::uint16_t>(at::kCreationYear);
    header_.offset_to_points = header_field<std::uint32_t>(at::kOffsetToPoints);
    header_.vlr_count = header_field<std::uint32_t>(at::kVlrCount);
    const auto format_byte = header_field<std::uint8_t>(at::kPointFormat);
    // LASzip marks compression in the two top bits.
    header_.point_format = format_byte & 0x3f;
    compression_bits_ = format_byte & 0xc0U;
    header_.record_length = header_field<std::uint16_t>(at::kRecordLength);
    header_.legacy_count = header_field<std::uint32_t>(at::kLegacyCount);
    for (std::size_t i = 0; i < 5; ++i) {
      header_.legacy_by_return[i] = header_field<std::uint32_t>(at::kLegacyByReturn + 4 * i);
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      header_.scale[axis] = header_field<double>(at::kScale + 8 * axis);
      header_.offset[axis] = header_field<double>(at::kOffset + 8 * axis);
      header_.max[axis] = header_field<double>(at::kBounds + 16 * axis);
      header_.min[axis] = header_field<double>(at::kBounds + 16 * axis + 8);
    }
    if (minor >= 3) header_.waveform_start = header_field<std::uint64_t>(at::kWaveformStart);
    if (minor >= 4) {
      header_.evlr_start = header_field<std::uint64_t>(at::kEvlrStart);
      header_.evlr_count = header_field<std::uint32_t>(at::kEvlrCount);
      header_.count = header_field<std::uint64_t>(at::kCount);
      for (std::size_t i = 0; i < 15; ++i) header_.by_return[i] = header_field<std::uint64_t>(at::kByReturn + 8 * i);
    }
    if (minor >= 5) {
      header_.max_gps_time = header_field<double>(at::kMaxGpsTime);
      header_.min_gps_time = header_field<double>(at::kMinGpsTime);
      header_.time_offset = header_field<std::uint16_t>(at::kTimeOffset);
    }
    header_.vendor.assign(data_ + header_bytes(minor), data_ + header_.header_size);

    if (header_.point_format > kNewestPointFormat) {
      fail(at::kPointFormat, "point data record format",
           number(header_.point_format) + " is not known, 0 to " + number(kNewestPointFormat) + " are");
    }
    if (header_.record_length < kPointLayouts[header_.point_format].bytes) {
      fail(at::kRecordLength, "point data record length",
           number(header_.record_length) + " bytes, but point format " + number(header_.point_format) + " needs " +
               number(kPointLayouts[header_.point_format].bytes));
    }
    if (header_.offset_to_points < header_.header_size) {
      fail(at::kOffsetToPoints, "offset to point data",
           number(header_.offset_to_points) + " lies inside the header of " + number(header_.header_size) + " bytes");
    }
    if (header_.offset_to_points > size_) {
      fail(at::kOffsetToPoints, "offset to point data",
           number(header_.offset_to_points) + " lies behind the end of the file at " + number(size_));
    }
  }

  void read_record_header(const std::byte* from, RecordHeader& out) const {
    out.reserved = get<std::uint16_t>(from, 0);
    std::memcpy(out.user_id.data(), from + 2, out.user_id.size());
    out.record_id = get<std::uint16_t>(from, 18);
  }

  void read_vlrs() {
    const std::uint64_t end = header_.offset_to_points;
    std::uint64_t position = header_.header_size;
    for (std::uint32_t i = 0; i < header_.vlr_count; ++i) {
      const std::string name = "VLR " + number(i + 1) + " of " + number(header_.vlr_count);
      if (end - position < kVlrHeaderBytes) {
        fail_or_recover({position, name,
                         "its header has " + number(kVlrHeaderBytes) + " bytes, but the point data begin " +
                             number(end - position) + " bytes on"},
                        "it and the following ones are left out");
        break;
      }
      Vlr vlr;
      const std::byte* from = data_ + position;
      read_record_header(from, vlr);
      const std::uint64_t length = get<std::uint16_t>(from, 20);
      std::memcpy(vlr.description.data(), from + 22, vlr.description.size());
      if (end - position - kVlrHeaderBytes < length) {
        fail_or_recover({position + 20, name + " (" + vlr.user_text() + " " + number(vlr.record_id) + "): length",
                         number(length) + " bytes, but the point data begin " +
                             number(end - position - kVlrHeaderBytes) + " bytes on"},
                        "it and the following ones are left out");
        break;
      }
      vlr.payload.assign(from + kVlrHeaderBytes, from + kVlrHeaderBytes + length);
      metadata_->vlrs.push_back(std::move(vlr));
      position += kVlrHeaderBytes + length;
    }
    if (recovered_) return;  // what lies behind a broken chain is no padding
    metadata_->gap = Payload(bytes_, {data_ + position, static_cast<std::size_t>(end - position)});
    // LAS 1.0 puts a signature of two bytes before the points.
    const bool signature =
        header_.version_minor == 0 && end - position == 2 && get<std::uint16_t>(data_, position) == 0xccdd;
    if (position < end && !signature) {
      warn(number(end - position) + " bytes between the variable length records and the point data; they are kept");
    }
  }

  /// Finds out whether and how the points are compressed.
  void read_compression() {
    const auto vlr = std::find_if(metadata_->vlrs.begin(), metadata_->vlrs.end(), [](const Vlr& record) {
      return record.is(laz::kLaszipUserId, laz::kLaszipRecordId);
    });
    const bool has_vlr = vlr != metadata_->vlrs.end();
    if (compression_bits_ == 0 && !has_vlr) return;
    if (compression_bits_ != kCompressedBit || !has_vlr) {
      throw Unsupported(bytes_->path() + ": the points are compressed in an obsolete way that cannot be read (bits " +
                        number(compression_bits_ >> 6U) + " of the point format, " + (has_vlr ? "a" : "no") +
                        " LASzip record)");
    }
    std::uint64_t payload_at = header_.header_size + kVlrHeaderBytes;
    for (auto before = metadata_->vlrs.begin(); before != vlr; ++before) {
      payload_at += before->payload.size() + kVlrHeaderBytes;
    }
    std::optional<laz::Problem> problem = laz::parse_laszip_vlr(vlr->payload, laszip_);
    if (!problem) problem = laz::check_laszip_vlr(laszip_, header_.point_format, header_.record_length);
    if (problem) fail(payload_at + problem->offset, problem->field, problem->text);
    metadata_->compressed = true;
  }

  /// Finds the chunks of compressed points, and how many points they hold.
  void find_chunks() {
    laz::PointBlock block;
    block.file = {data_, static_cast<std::size_t>(size_)};
    block.offset = header_.offset_to_points;
    block.points = count_;
    block.vlr = &laszip_;
    block.layout = laz::layout_of(laszip_.items);
    if (laszip_.compressor == laz::Compressor::kOneStream) {
      // Only what follows it tells where the stream ends at the latest.
      std::uint64_t end = size_;
      if (header_.evlr_count != 0 && header_.evlr_start > block.offset) end = std::min(end, header_.evlr_start);
      if (header_.waveform_start > block.offset) end = std::min(end, header_.waveform_start);
      block.file = block.file.first(static_cast<std::size_t>(end));
    }
    LazFinding finding = find_laz_points(block, options_);
    laz_ = std::move(finding.points);
    for (std::string& warning : finding.warnings) warn(std::move(warning));
    if (!finding.problem) return;
    fail_or_recover(
        {finding.problem->offset, finding.problem->field,
         finding.problem->text + " (" + number(laz_.count()) + " of " + number(count_) + " points can be read)"},
        "the " + number(laz_.count()) + " sound points are read");
    count_ = laz_.count();
  }

  /// Finds out where the points of each chunk are, if the file is COPC. Without that it is as good a LAZ file.
  void read_copc() {
    if (header_.header_size != kCopcInfoAt || metadata_->vlrs.empty() || !metadata_->vlrs[0].is(kCopc, kCopcInfoId)) {
      return;
    }
    CopcFinding finding = find_copc_bounds(metadata_->vlrs[0].payload, header_, laz_);
    for (std::string& warning : finding.warnings) warn(std::move(warning));
    if (finding.problem) {
      warn("byte " + number(finding.problem->offset) + ": " + finding.problem->field + ": " + finding.problem->text +
           "; the file is read as plain LAZ");
      return;
    }
    metadata_->copc = finding.info;
    laz_.bounds = std::move(finding.bounds);
  }

  void check_scale() const {
    const char* axes[3] = {"x", "y", "z"};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (!is_finite(header_.scale[axis]) || header_.scale[axis] == 0.0) {
        fail(at::kScale + 8 * axis, std::string(axes[axis]) + " scale factor",
             header_.scale[axis] == 0.0 ? "is zero" : "is not a finite number");
      }
      if (!is_finite(header_.offset[axis])) {
        fail(at::kOffset + 8 * axis, std::string(axes[axis]) + " offset", "is not a finite number");
      }
      if (!holds_coordinates(header_.scale[axis], header_.offset[axis])) {
        fail(at::kScale + 8 * axis, std::string(axes[axis]) + " scale factor", "makes coordinates that are not finite");
      }
    }
  }

  void read_count() {
    const bool legacy_format = is_legacy(header_.point_format);
    count_at_ = at::kLegacyCount;
    count_ = header_.legacy_count;
    if (header_.version_minor >= 4) {
      const bool differ = header_.legacy_count != 0 && header_.count != header_.legacy_count;
      if (!legacy_format || header_.legacy_count == 0) {
        count_at_ = at::kCount;
        count_ = header_.count;
        if (differ) {
          warn("the legacy number of points (" + number(header_.legacy_count) +
               ") differs from the number of points (" + number(header_.count) + "); the latter is used");
        }
      } else if (differ) {
        warn("the number of points (" + number(header_.count) + ") differs from the legacy number of points (" +
             number(header_.legacy_count) + "); the legacy one is used");
      }
    }
  }

  void check_count() {
    const std::uint64_t present = (size_ - header_.offset_to_points) / header_.record_length;
    if (count_ > present) {
      fail_or_recover({count_at_, "number of point records",
                       number(count_) + " are counted, but only " + number(present) + " are present (" +
                           number(header_.record_length) + " bytes each, from byte " +
                           number(header_.offset_to_points) + " to the end of the file at " + number(size_) + ")"},
                      "those present are read");
      count_ = present;
    }
  }

  [[nodiscard]] std::uint64_t points_end() const {
    return metadata_->compressed ? laz_.end : header_.offset_to_points + count_ * header_.record_length;
  }

  /// Reads one EVLR.
  /// \return its end, or nothing with `problem` set
  std::optional<std::uint64_t> read_evlr(std::uint64_t position, const std::string& name, Evlr& out,
                                         Problem& problem) const {
    if (position > size_ || size_ - position < kEvlrHeaderBytes) {
      problem = {position, name,
                 "its header has " + number(kEvlrHeaderBytes) + " bytes, but the file ends at " + number(size_)};
      return std::nullopt;
    }
    const std::byte* from = data_ + position;
    read_record_header(from, out);
    const auto length = get<std::uint64_t>(from, 20);
    std::memcpy(out.description.data(), from + 28, out.description.size());
    if (length > size_ - position - kEvlrHeaderBytes) {
      problem = {
          position + 20, name + " (" + out.user_text() + " " + number(out.record_id) + "): length",
          number(length) + " bytes, but the file ends " + number(size_ - position - kEvlrHeaderBytes) + " bytes on"};
      return std::nullopt;
    }
    out.payload = Payload(bytes_, {from + kEvlrHeaderBytes, static_cast<std::size_t>(length)});
    return position + kEvlrHeaderBytes + length;
  }

  void read_evlrs() {
    if (header_.evlr_count == 0) return;
    if (header_.evlr_start < header_.offset_to_points || header_.evlr_start > size_) {
      fail_or_recover({at::kEvlrStart, "start of first extended variable length record",
                       number(header_.evlr_start) + " does not lie between the start of the point data at " +
                           number(header_.offset_to_points) + " and the end of the file at " + number(size_)},
                      "the extended records are left out");
      return;
    }
    std::uint64_t position = header_.evlr_start;
    std::vector<std::uint64_t> starts;
    std::vector<Evlr> evlrs;
    Problem problem;
    bool broken = false;
    for (std::uint32_t i = 0; i < header_.evlr_count; ++i) {
      Evlr evlr;
      const std::optional<std::uint64_t> next =
          read_evlr(position, "EVLR " + number(i + 1) + " of " + number(header_.evlr_count), evlr, problem);
      if (!next) {
        broken = true;
        break;
      }
      starts.push_back(position);
      evlrs.push_back(std::move(evlr));
      position = *next;
    }
    if (points_end() > header_.evlr_start) {
      const Problem overlap{
          at::kEvlrStart, "start of first extended variable length record",
          number(header_.evlr_start) + " lies inside the point data, which end at " + number(points_end())};
      // A chain that is sound to its end is more credible than a count that runs over it; chunks are more so than both.
      if (broken || metadata_->compressed) {
        fail_or_recover(overlap, "the extended records are left out");
        return;
      }
      const std::uint64_t present = (header_.evlr_start - header_.offset_to_points) / header_.record_length;
      fail_or_recover(overlap, "the " + number(present) + " points before it are read");
      count_ = present;
    }
    if (broken) fail_or_recover(problem, "it and the following ones are left out");
    metadata_->evlrs = std::move(evlrs);
    evlrs_end_ = position;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      if (starts[i] == header_.waveform_start) metadata_->waveform_evlr = i;
    }
  }

  void read_waveform() {
    const bool internal = (header_.global_encoding & LasHeader::kInternalWaveforms) != 0;
    const bool external = (header_.global_encoding & LasHeader::kExternalWaveforms) != 0;
    const bool has_fields = kPointLayouts[header_.point_format].wave >= 0;
    if (header_.version_minor < 3) return;
    if (has_fields && external && !internal) {
      std::string path = bytes_->path();
      const std::size_t dot = path.rfind('.');
      if (dot != std::string::npos && path.find('/', dot) == std::string::npos) path.resize(dot);
      metadata_->external_waveforms = path + ".wdp";
    }
    if (metadata_->waveform_evlr) return;
    if (header_.waveform_start == 0) {
      if (has_fields && internal) warn("the header says that waveform packets are in this file but not where");
      return;
    }
    if (!internal && (external || !has_fields)) {
      warn("the start of waveform data (" + number(header_.waveform_start) +
           ") is ignored: the header does not say that "
           "waveform packets are in this file");
      return;
    }
    const char* field = "start of waveform data packet record";
    Evlr evlr;
    Problem problem;
    const std::uint64_t start = header_.waveform_start;
    if (start < points_end()) {
      problem = {at::kWaveformStart, field,
                 number(start) + " lies before the end of the point data at " + number(points_end())};
    } else if (const auto end = read_evlr(start, "waveform data packet record", evlr, problem)) {
      const std::uint64_t evlrs_start = header_.evlr_start;
      if (metadata_->evlrs.empty() || *end <= evlrs_start || start >= evlrs_end_) {
        metadata_->waveform = std::move(evlr);
        waveform_start_ = start;
        waveform_end_ = *end;
        return;
      }
      problem = {at::kWaveformStart, field, number(start) + " lies inside the extended variable length records"};
    }
    if (internal) {
      fail_or_recover(problem, "the waveform packets are left out");
    } else {
      warn("byte " + number(problem.offset) + ": " + problem.field + ": " + problem.text + "; it is ignored");
    }
  }

  /// Says which bytes behind the points nothing accounts for.
  void account_for_the_rest() {
    if (laz_.one_stream) return;  // its end is not known
    std::uint64_t limit = size_;
    if (!metadata_->evlrs.empty()) limit = std::min(limit, header_.evlr_start);
    if (metadata_->waveform) limit = std::min(limit, waveform_start_);
    const std::uint64_t stored = (limit - header_.offset_to_points) / header_.record_length;
    if (!metadata_->compressed && stored > count_ && !recovered_) {
      warn("the header counts " + number(count_) + " points, the file has room for " + number(stored) +
           "; the counted ones are read");
    } else if (limit > points_end()) {
      warn(number(limit - points_end()) + " bytes behind the points belong to no record; they are not kept");
    }
    const std::uint64_t end = std::max({points_end(), evlrs_end_, waveform_end_});
    if (limit < size_ && end < size_) {
      warn(number(size_ - end) + " bytes at the end of the file belong to no record; they are not kept");
    }
  }

  void check_bounds() {
    if (count_ == 0) return;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (!(header_.min[axis] <= header_.max[axis])) {
        warn("the bounds in the header are wrong (minimum above maximum, or not a number); they are not used");
        return;
      }
    }
  }

  void check_by_return() {
    std::uint64_t sum = 0;
    const bool legacy = count_at_ == at::kLegacyCount;
    for (const std::uint32_t n : header_.legacy_by_return) sum += legacy ? n : 0;
    for (const std::uint64_t n : header_.by_return) sum += legacy ? 0 : n;
    // The five legacy numbers have no room for higher returns, so a smaller sum may be right there.
    if (recovered_ || sum == count_ || (legacy && sum != 0 && sum < count_)) return;
    warn("the numbers of points by return add up to " + number(sum) + ", not " + number(count_));
  }

  void check_texts() {
    std::vector<std::string> open;
    const auto check = [&](const auto& text, const std::string& name) {
      if (text.back() == '\0') return;
      open.push_back(name);
    };
    check(header_.system_identifier, "system identifier");
    check(header_.generating_software, "generating software");
    const auto check_record = [&](const RecordHeader& record, const std::string& name) {
      check(record.user_id, "user id of " + name);
      check(record.description, "description of " + name);
    };
    const auto check_wkt = [&](const RecordHeader& record, std::span<const std::byte> payload,
                               const std::string& name) {
      if (record.is(kProjection, kWktId) && (payload.empty() || payload.back() != std::byte{0})) {
        open.push_back("WKT of " + name);
      }
    };
    for (std::size_t i = 0; i < metadata_->vlrs.size(); ++i) {
      check_record(metadata_->vlrs[i], "VLR " + number(i + 1));
      check_wkt(metadata_->vlrs[i], metadata_->vlrs[i].payload, "VLR " + number(i + 1));
    }
    for (std::size_t i = 0; i < metadata_->evlrs.size(); ++i) {
      check_record(metadata_->evlrs[i], "EVLR " + number(i + 1));
      check_wkt(metadata_->evlrs[i], metadata_->evlrs[i].payload.bytes(), "EVLR " + number(i + 1));
    }
    if (open.empty()) return;
    constexpr std::size_t kNamed = 4;
    std::string text = "texts that do not end in a zero byte: ";
    for (std::size_t i = 0; i < open.size() && i < kNamed; ++i) text += (i == 0 ? "" : ", ") + open[i];
    if (open.size() > kNamed) text += ", and " + number(open.size() - kNamed) + " more";
    warn(std::move(text));
  }

  void check_version() {
    const int minor = header_.version_minor;
    if (header_.point_format < first_format(minor) || header_.point_format > last_format(minor)) {
      warn("LAS " + header_.version() + " does not have point format " + number(header_.point_format));
    }
    if (!is_legacy(header_.point_format) && minor >= 4 && (header_.global_encoding & LasHeader::kWkt) == 0) {
      warn("the WKT bit of the global encoding is not set, as point format " + number(header_.point_format) +
           " requires");
    }
  }

  std::shared_ptr<const InputBytes> bytes_;
  const std::byte* data_;
  std::uint64_t size_;
  ReadOptions options_;
  bool recovered_ = false;
  unsigned compression_bits_ = 0;  ///< of the point format
  laz::LaszipVlr laszip_;
  LazPoints laz_;
  std::shared_ptr<LasMetadata> metadata_ = std::make_shared<LasMetadata>();
  LasHeader& header_ = metadata_->header;
  CloudInfo info_;
  std::uint64_t count_ = 0;
  std::uint64_t count_at_ = 0;  ///< byte offset of the field that `count_` is from
  std::uint64_t evlrs_end_ = 0;
  std::uint64_t waveform_start_ = 0;
  std::uint64_t waveform_end_ = 0;
};

/// Records of a LAS file, viewed in place.
class LasSource final : public SourceBase {
 public:
  LasSource(std::shared_ptr<const InputBytes> bytes, Parser& parser) : bytes_(std::move(bytes)) {
    recovered_ = parser.recovered();
    points_ = bytes_->data() + parser.points_at();
    points_at_ = parser.points_at();
    info_ = parser.take_info();
    record_bytes_ = info_.schema.record_bytes;
  }

  [[nodiscard]] const CloudInfo& info() const override { return info_; }

  bool next(std::uint64_t max_points, ChunkRange& range) override {
    if (max_points == 0) throw InvalidArgument("a chunk has at least one point");
    if (position_ == info_.point_count) return false;
    range.first = position_;
    range.count = std::min(max_points, info_.point_count - position_);
    range.token = 0;
    position_ += range.count;
    // The caller loads this range at once; what comes after it can be on its way meanwhile.
    bytes_->prefetch(points_at_ + position_ * record_bytes_,
                     std::min(range.count, info_.point_count - position_) * record_bytes_);
    return true;
  }

  PointView load(const ChunkRange& range, RecordBuffer& /*buffer*/) override {
    if (range.first > info_.point_count || range.count > info_.point_count - range.first) {
      throw InvalidArgument(info_.name + ": points " + number(range.first) + " to " +
                            number(range.first + range.count) + " were asked for, the file has " +
                            number(info_.point_count));
    }
    bytes_->check_length();
    return PointView{points_ + range.first * record_bytes_, range.count, record_bytes_};
  }

  void release(const ChunkRange& range) override {
    bytes_->release(points_ + range.first * record_bytes_, range.count * record_bytes_);
  }

  [[nodiscard]] std::uint64_t chunk_bytes(std::uint64_t points) const override { return points * record_bytes_; }

  void rewind() override { position_ = 0; }

 private:
  std::shared_ptr<const InputBytes> bytes_;
  CloudInfo info_;
  const std::byte* points_ = nullptr;
  std::uint64_t points_at_ = 0;
  std::uint64_t record_bytes_ = 0;
  std::uint64_t position_ = 0;
};

/// The payloads of the records that describe a coordinate system by GeoTIFF keys, one after the other.
std::vector<std::byte> geotiff_of(const LasMetadata& metadata) {
  std::vector<std::byte> out;
  const auto add = [&](const RecordHeader& record, std::span<const std::byte> payload) {
    if (record.is(kProjection, kGeoKeysId) || record.is(kProjection, kGeoDoublesId) ||
        record.is(kProjection, kGeoAsciiId)) {
      out.insert(out.end(), payload.begin(), payload.end());
    }
  };
  for (const Vlr& vlr : metadata.vlrs) add(vlr, vlr.payload);
  for (const Evlr& evlr : metadata.evlrs) add(evlr, evlr.payload.bytes());
  return out;
}

bool same_extra_bytes(const ExtraBytes& a, const ExtraBytes& b) {
  // By their bits: a NaN that somebody wrote is equal to itself.
  const auto same = [](const std::array<double, 3>& p, const std::array<double, 3>& q) {
    return std::memcmp(p.data(), q.data(), sizeof p) == 0;
  };
  return a.type == b.type && a.options == b.options && a.name == b.name && a.at == b.at && a.bytes == b.bytes &&
         ((a.options & 8) == 0 || same(a.scale, b.scale)) && ((a.options & 16) == 0 || same(a.offset, b.offset));
}

}  // namespace

bool matches(std::span<const std::byte> head) { return head.size() >= 4 && std::memcmp(head.data(), "LASF", 4) == 0; }

std::unique_ptr<ChunkSource> open(std::shared_ptr<const InputBytes> bytes, const ReadOptions& options) {
  Parser parser(bytes, options);
  parser.parse();
  if (LazPoints* points = parser.compressed_points()) {
    const bool recovered = parser.recovered();
    return make_laz_source(std::move(bytes), parser.take_info(), std::move(*points), recovered);
  }
  return std::make_unique<LasSource>(std::move(bytes), parser);
}

}  // namespace las

std::optional<std::string> layout_difference(const CloudInfo& first, const CloudInfo& other) {
  const LasMetadata* a = las::metadata_of(first);
  const LasMetadata* b = las::metadata_of(other);
  if (a == nullptr || b == nullptr) return columns::difference(first, other);
  const auto differ = [&](const std::string& what, const std::string& in_first, const std::string& in_other) {
    return what + " of " + other.name + " is " + in_other + ", that of " + first.name + " is " + in_first;
  };
  const LasHeader& ha = a->header;
  const LasHeader& hb = b->header;
  if (ha.point_format != hb.point_format) {
    return differ("point format", las::number(ha.point_format), las::number(hb.point_format));
  }
  if (ha.record_length != hb.record_length) {
    return differ("record length", las::number(ha.record_length), las::number(hb.record_length));
  }
  if (!std::equal(a->extra_bytes.begin(), a->extra_bytes.end(), b->extra_bytes.begin(), b->extra_bytes.end(),
                  las::same_extra_bytes)) {
    return "the extra bytes of " + other.name + " are described otherwise than those of " + first.name;
  }
  const auto listed = [](const std::array<double, 3>& v) {
    return las::shortest(v[0]) + "," + las::shortest(v[1]) + "," + las::shortest(v[2]);
  };
  if (ha.scale != hb.scale) return differ("scale", listed(ha.scale), listed(hb.scale));
  if (ha.offset != hb.offset) return differ("offset", listed(ha.offset), listed(hb.offset));
  const GpsTimeType ta = a->gps_time_type();
  const GpsTimeType tb = b->gps_time_type();
  if (ta != tb) return differ("GPS time type", std::string(name_of(ta)), std::string(name_of(tb)));
  if (ta == GpsTimeType::kOffset && ha.time_offset != hb.time_offset) {
    return differ("time offset", las::number(ha.time_offset), las::number(hb.time_offset));
  }
  const std::string rest = a->difference(*b);
  if (!rest.empty()) return rest + " of " + other.name + " and that of " + first.name + " are not the same";
  return std::nullopt;
}

std::string LasMetadata::difference(const FormatMetadata& other) const {
  const auto* that = dynamic_cast<const LasMetadata*>(&other);
  if (that == nullptr) return "the file format";
  if (header.point_format != that->header.point_format) return "the point format";
  if (!std::equal(extra_bytes.begin(), extra_bytes.end(), that->extra_bytes.begin(), that->extra_bytes.end(),
                  las::same_extra_bytes)) {
    return "the description of the extra bytes";
  }
  if (gps_time_type() != that->gps_time_type()) return "the GPS time type";
  if (gps_time_type() == GpsTimeType::kOffset && header.time_offset != that->header.time_offset) {
    return "the time offset";
  }
  if (wkt() != that->wkt() || las::geotiff_of(*this) != las::geotiff_of(*that)) return "the coordinate system";
  if (has_waveforms() && that->has_waveforms()) return "the place of the waveform packets";
  return {};
}

}  // namespace sluice::io
