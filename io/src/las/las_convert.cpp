// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/las_convert.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include "las_layout.hpp"
#include "sluice/core/error.hpp"
#include "sluice/core/hd.hpp"

namespace sluice::io {
namespace {

constexpr const char* kAxes[3] = {"x", "y", "z"};

/// mantissa * 10^exponent, the shortest decimal that a double prints as.
struct Decimal {
  int128 mantissa = 0;
  int exponent = 0;
};

Decimal decimal_of(double value) {
  char text[40];
  const char* end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  Decimal out;
  const char* p = text;
  const bool negative = *p == '-';
  if (negative) ++p;
  int decimals = 0;
  bool after_point = false;
  for (; p != end && *p != 'e'; ++p) {
    if (*p == '.') {
      after_point = true;
      continue;
    }
    out.mantissa = out.mantissa * 10 + (*p - '0');
    decimals += after_point ? 1 : 0;
  }
  if (negative) out.mantissa = -out.mantissa;
  if (p != end) {
    ++p;
    if (*p == '+') ++p;
    std::from_chars(p, end, out.exponent);
  }
  out.exponent -= decimals;
  if (out.mantissa == 0) out.exponent = 0;
  return out;
}

int128 magnitude(int128 value) { return value < 0 ? -value : value; }

int128 greatest_common_divisor(int128 a, int128 b) {
  while (b != 0) {
    const int128 rest = a % b;
    a = b;
    b = rest;
  }
  return magnitude(a);
}

/// The quotient rounded half to even.
/// \param rounded  set where the division left a rest
template <typename IntT>
IntT divide_half_even(IntT numerator, IntT denominator, bool& rounded) {
  IntT quotient = numerator / denominator;
  IntT rest = numerator % denominator;
  if (rest == 0) return quotient;
  rounded = true;
  if (rest < 0) {
    rest += denominator;
    --quotient;
  }
  const IntT missing = denominator - rest;
  if (rest > missing || (rest == missing && (quotient & 1) != 0)) ++quotient;
  return quotient;
}

/// Moves lattice numbers of one axis from one scale and offset to another: (raw * factor + addend) / divisor, exactly.
class Requantizer {
 public:
  Requantizer() = default;
  Requantizer(const std::string& axis, double scale, double offset, double new_scale, double new_offset) {
    if (scale == new_scale && offset == new_offset) return;
    identity_ = false;
    const Decimal parts[4] = {decimal_of(scale), decimal_of(offset), decimal_of(new_scale), decimal_of(new_offset)};
    int lowest = parts[0].exponent;
    for (const Decimal& part : parts) {
      if (part.mantissa != 0) lowest = std::min(lowest, part.exponent);
    }
    // Room for a product with a 32-bit number and a sum.
    constexpr int128 kMost = static_cast<int128>(1) << 94;
    int128 whole[4];
    for (int i = 0; i < 4; ++i) {
      whole[i] = parts[i].mantissa;
      for (int n = parts[i].exponent; whole[i] != 0 && n > lowest; --n) {
        if (magnitude(whole[i]) > kMost / 10) {
          throw Unsupported("the " + axis + " scales and offsets (" + las::shortest(scale) + ", " +
                            las::shortest(offset) + " to " + las::shortest(new_scale) + ", " +
                            las::shortest(new_offset) + ") lie too far apart for exact arithmetic of 128 bits");
        }
        whole[i] *= 10;
      }
    }
    factor_ = whole[0];
    addend_ = whole[1] - whole[3];
    divisor_ = whole[2];
    if (divisor_ < 0) {
      factor_ = -factor_;
      addend_ = -addend_;
      divisor_ = -divisor_;
    }
    const int128 common = greatest_common_divisor(greatest_common_divisor(factor_, addend_), divisor_);
    factor_ /= common;
    addend_ /= common;
    divisor_ /= common;
    constexpr int128 kMost64 = static_cast<int128>(1) << 62;
    narrow_ = magnitude(factor_) < (kMost64 >> 32) && magnitude(addend_) < kMost64 / 2 && divisor_ < kMost64 / 2;
  }

  [[nodiscard]] bool identity() const { return identity_; }

  /// \return false where the result does not fit
  bool apply(std::int32_t raw, std::int32_t& out, bool& rounded) const {
    if (narrow_) {
      return fit(
          divide_half_even<std::int64_t>(raw * static_cast<std::int64_t>(factor_) + static_cast<std::int64_t>(addend_),
                                         static_cast<std::int64_t>(divisor_), rounded),
          out);
    }
    return fit(divide_half_even<int128>(raw * factor_ + addend_, divisor_, rounded), out);
  }

 private:
  template <typename IntT>
  static bool fit(IntT value, std::int32_t& out) {
    if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max()) {
      return false;
    }
    out = static_cast<std::int32_t>(value);
    return true;
  }

  bool identity_ = true;
  bool narrow_ = false;
  int128 factor_ = 1;
  int128 addend_ = 0;
  int128 divisor_ = 1;
};

/// Whole degrees to steps of 0.006 degrees.
std::int16_t raise_angle(std::int8_t degrees) {
  bool rounded = false;
  return static_cast<std::int16_t>(divide_half_even<int>(degrees * 500, 3, rounded));
}

/// Steps of 0.006 degrees to whole degrees.
int lower_angle(std::int16_t steps) {
  bool rounded = false;
  return divide_half_even<int>(steps * 3, 500, rounded);
}

constexpr std::uint8_t kOverlapClass = 12;
constexpr std::uint8_t kUnclassified = 1;
constexpr unsigned kSynthetic = 1U << 0, kKeyPoint = 1U << 1, kWithheld = 1U << 2, kOverlap = 1U << 3;

int lowest_minor(int point_format) { return point_format <= 1 ? 0 : point_format <= 3 ? 2 : point_format <= 5 ? 3 : 4; }

const std::vector<std::byte> kLas10Signature{std::byte{0xdd}, std::byte{0xcc}};

}  // namespace

struct LasConverter::State {
  CloudInfo info;
  std::string source_name;
  int from = 0;
  int to = 0;
  bool strict = false;
  std::uint64_t source_bytes = 0;
  std::uint64_t extra = 0;
  Requantizer axes[3];
  double source_scale[3] = {1.0, 1.0, 1.0};
  double source_offset[3] = {0.0, 0.0, 0.0};
  std::vector<std::string> warnings;

  /// Points at which something was lost or changed its meaning.
  std::atomic<std::uint64_t> rounded{0}, class_12_raised{0}, overlap_became_class{0}, overlap_lost{0},
      class_12_lowered{0}, channel_lost{0}, angle_rounded{0};

  [[noreturn]] void refuse(std::uint64_t point, const std::string& problem) const {
    throw Unsupported(source_name + ": point " + std::to_string(point) + ": " + problem);
  }

  void lose(const std::string& what) {
    if (strict) throw Unsupported(source_name + ": " + what);
    warnings.push_back(what);
  }

  void count_loss(std::atomic<std::uint64_t>& counter, std::uint64_t point, const char* what) const {
    if (strict) refuse(point, what);
    counter.fetch_add(1, std::memory_order_relaxed);
  }

  void convert_metadata(LasMetadata& metadata, int minor);
  void convert_encoding(LasMetadata& metadata, int minor);
  void drop_waveforms(LasMetadata& metadata);
  void move_trailing_records(LasMetadata& metadata, int minor);

  void coordinates(const std::byte* in, std::uint64_t point, std::byte* out);
  void raise(const std::byte* in, std::byte* out);
  void lower(const std::byte* in, std::uint64_t point, std::byte* out);
};

void LasConverter::State::drop_waveforms(LasMetadata& metadata) {
  if (metadata.waveform_evlr) {
    metadata.evlrs.erase(metadata.evlrs.begin() + static_cast<std::ptrdiff_t>(*metadata.waveform_evlr));
  }
  metadata.waveform_evlr.reset();
  metadata.waveform.reset();
  metadata.external_waveforms.clear();
  std::erase_if(metadata.vlrs, [](const Vlr& vlr) {
    return vlr.record_id >= las::kFirstWaveformDescriptorId && vlr.record_id <= las::kLastWaveformDescriptorId &&
           vlr.is(las::kSpec, vlr.record_id);
  });
  metadata.header.waveform_start = 0;
  metadata.header.global_encoding &=
      static_cast<std::uint16_t>(~(LasHeader::kInternalWaveforms | LasHeader::kExternalWaveforms));
}

void LasConverter::State::move_trailing_records(LasMetadata& metadata, int minor) {
  if (minor >= 4) {
    if (metadata.waveform) {
      metadata.waveform_evlr = metadata.evlrs.size();
      metadata.evlrs.push_back(std::move(*metadata.waveform));
      metadata.waveform.reset();
    }
    return;
  }
  for (std::size_t i = 0; i < metadata.evlrs.size(); ++i) {
    Evlr& evlr = metadata.evlrs[i];
    if (metadata.waveform_evlr == i) {
      metadata.waveform = std::move(evlr);
    } else if (evlr.payload.size() <= 65535) {
      Vlr vlr;
      static_cast<RecordHeader&>(vlr) = evlr;
      vlr.payload.assign(evlr.payload.bytes().begin(), evlr.payload.bytes().end());
      metadata.vlrs.push_back(std::move(vlr));
    } else {
      lose("the extended record '" + evlr.user_text() + "' " + std::to_string(evlr.record_id) + " of " +
           std::to_string(evlr.payload.size()) + " bytes is lost: LAS 1." + std::to_string(minor) +
           " has none, and a VLR holds 65535");
    }
  }
  metadata.evlrs.clear();
  metadata.waveform_evlr.reset();
}

void LasConverter::State::convert_encoding(LasMetadata& metadata, int minor) {
  LasHeader& header = metadata.header;
  const std::string version = "LAS 1." + std::to_string(minor);
  const bool timed = las::kPointLayouts[static_cast<std::size_t>(to)].gps_time >= 0;
  const auto clear = [&](unsigned bits) {
    const bool set = (header.global_encoding & bits) != 0;
    header.global_encoding &= static_cast<std::uint16_t>(~bits);
    return set;
  };
  if (minor < 5 && header.version_minor >= 5) {
    if (clear(LasHeader::kTimeOffset) && timed) lose("the GPS time offset is lost: " + version + " has none");
    header.time_offset = 0;
  }
  if (minor < 4 && clear(LasHeader::kWkt)) {
    warnings.push_back(version +
                       " does not know coordinate systems in WKT; the record is kept, many readers ignore it");
  }
  if (minor < 3) {
    if (clear(LasHeader::kSyntheticReturns)) {
      lose("the mark that return numbers are synthetic is lost: " + version + " has none");
    }
    clear(LasHeader::kInternalWaveforms | LasHeader::kExternalWaveforms);
  }
  if (minor < 2 && clear(LasHeader::kAdjustedGpsTime) && timed) {
    lose("the mark that GPS times are adjusted standard times is lost: " + version + " knows week times only");
  }
  if (minor < 1) {
    header.global_encoding = 0;
    if (header.file_source_id != 0) lose("the file source id is lost: " + version + " has none");
    header.file_source_id = 0;
  }
}

void LasConverter::State::convert_metadata(LasMetadata& metadata, int minor) {
  LasHeader& header = metadata.header;
  const las::PointLayout& source = las::kPointLayouts[static_cast<std::size_t>(from)];
  const las::PointLayout& target = las::kPointLayouts[static_cast<std::size_t>(to)];
  const std::string format = "point format " + std::to_string(to);
  if (source.gps_time >= 0 && target.gps_time < 0) lose("GPS times are lost: " + format + " has none");
  if (source.rgb >= 0 && target.rgb < 0) lose("colours are lost: " + format + " has none");
  if (source.nir >= 0 && target.nir < 0) lose("near infrared values are lost: " + format + " has none");
  if (source.wave >= 0 && target.wave < 0) {
    lose("waveforms are lost: " + format + " has none");
    drop_waveforms(metadata);
  }
  if (source.gps_time < 0 && target.gps_time >= 0) warnings.emplace_back("GPS times are unknown and set to 0");
  if (source.rgb < 0 && target.rgb >= 0) warnings.emplace_back("colours are unknown and set to 0");
  if (source.nir < 0 && target.nir >= 0) warnings.emplace_back("near infrared values are unknown and set to 0");

  if (minor != header.version_minor) {
    convert_encoding(metadata, minor);
    move_trailing_records(metadata, minor);
    const auto gap = metadata.gap.bytes();
    const bool signature = std::equal(gap.begin(), gap.end(), kLas10Signature.begin(), kLas10Signature.end());
    if (header.version_minor == 0 && signature) metadata.gap = Payload();
    if (minor == 0 && gap.empty()) metadata.gap = Payload(kLas10Signature);
  }
  header.version_minor = static_cast<std::uint8_t>(minor);
  if (!las::is_legacy(to) && (las::is_legacy(from) || (header.global_encoding & LasHeader::kWkt) == 0)) {
    if (metadata.wkt().empty() && metadata.has_geotiff()) {
      lose(format + " requires the coordinate system in WKT, the file has GeoTIFF keys only; they are kept");
    } else {
      header.global_encoding |= LasHeader::kWkt;
    }
  }
  header.point_format = static_cast<std::uint8_t>(to);
  header.record_length = static_cast<std::uint16_t>(target.bytes + extra);
}

LasConverter::LasConverter(const CloudInfo& source, const LasTarget& target) : state_(std::make_unique<State>()) {
  const LasMetadata* from = las::metadata_of(source);
  if (from == nullptr) throw InvalidArgument(source.name + ": only LAS points can be converted to LAS point formats");
  auto metadata = std::make_shared<LasMetadata>(*from);
  LasHeader& header = metadata->header;
  State& s = *state_;
  s.source_name = source.name;
  s.strict = target.strict;
  s.from = header.point_format;
  s.to = target.point_format.value_or(s.from);
  s.source_bytes = header.record_length;
  s.extra = header.record_length - las_record_bytes(s.from);
  const std::uint64_t bytes = las_record_bytes(s.to) + s.extra;
  if (bytes > 65535) throw Unsupported(source.name + ": records of " + std::to_string(bytes) + " bytes are too long");

  int minor = header.version_minor;
  if (target.version_minor) {
    minor = *target.version_minor;
    if (minor < 0 || minor > las::kNewestMinor) {
      throw InvalidArgument("there is no LAS version 1." + std::to_string(minor) + "; there are 1.0 to 1." +
                            std::to_string(las::kNewestMinor));
    }
    if (s.to < las::first_format(minor) || s.to > las::last_format(minor)) {
      throw InvalidArgument("LAS 1." + std::to_string(minor) + " has point formats " +
                            std::to_string(las::first_format(minor)) + " to " +
                            std::to_string(las::last_format(minor)) + ", not " + std::to_string(s.to));
    }
  } else if (s.to < las::first_format(minor)) {
    minor = 4;
  } else if (s.to > las::last_format(minor)) {
    minor = lowest_minor(s.to);
  }

  const std::array<double, 3> scale = target.scale.value_or(header.scale);
  const std::array<double, 3> offset = target.offset.value_or(header.offset);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!is_finite(scale[axis]) || scale[axis] == 0.0 || !is_finite(offset[axis])) {
      throw InvalidArgument("scale and offset of a LAS file must be finite, and the scale not zero");
    }
    if (!las::holds_coordinates(scale[axis], offset[axis])) {
      throw InvalidArgument("scale and offset make coordinates that are not finite");
    }
    s.axes[axis] = Requantizer(kAxes[axis], header.scale[axis], header.offset[axis], scale[axis], offset[axis]);
    s.source_scale[axis] = header.scale[axis];
    s.source_offset[axis] = header.offset[axis];
  }
  header.scale = scale;
  header.offset = offset;
  s.convert_metadata(*metadata, minor);
  std::vector<std::string> already_said_of_the_source;
  metadata->extra_bytes = las::decode_extra_bytes(*metadata, already_said_of_the_source);
  s.info.name = source.name;
  s.info.point_count = source.point_count;
  s.info.bounds = source.bounds;
  las::describe_records(*metadata, s.info);
  s.info.metadata = std::move(metadata);
}

LasConverter::~LasConverter() = default;
LasConverter::LasConverter(LasConverter&&) noexcept = default;
LasConverter& LasConverter::operator=(LasConverter&&) noexcept = default;

const CloudInfo& LasConverter::info() const { return state_->info; }

void LasConverter::State::coordinates(const std::byte* in, std::uint64_t point, std::byte* out) {
  bool rounding = false;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto raw = las::get<std::int32_t>(in, 4 * axis);
    std::int32_t moved = raw;
    if (!axes[axis].identity() && !axes[axis].apply(raw, moved, rounding)) {
      refuse(point, std::string(kAxes[axis]) + " " +
                        las::shortest(to_world(raw, source_scale[axis], source_offset[axis])) +
                        " does not fit 32 bits with scale " + las::shortest(info.frame.scale[axis]) + " and offset " +
                        las::shortest(info.frame.offset[axis]));
    }
    las::put(out, 4 * axis, moved);
  }
  if (rounding) count_loss(rounded, point, "the coordinates would be rounded");
}

void LasConverter::State::raise(const std::byte* in, std::byte* out) {
  const unsigned returns = las::get<std::uint8_t>(in, 14);
  const unsigned class_byte = las::get<std::uint8_t>(in, 15);
  unsigned flags = ((class_byte >> 5) & 1U) * kSynthetic | ((class_byte >> 6) & 1U) * kKeyPoint |
                   ((class_byte >> 7) & 1U) * kWithheld;
  auto classification = static_cast<std::uint8_t>(class_byte & 31U);
  if (classification == kOverlapClass) {
    classification = kUnclassified;
    flags |= kOverlap;
    class_12_raised.fetch_add(1, std::memory_order_relaxed);
  }
  // Scan direction and edge of flight line are the top two bits on both sides.
  flags |= returns & 0xc0U;
  las::put(out, 14, static_cast<std::uint8_t>((returns & 7U) | ((returns >> 3) & 7U) << 4));
  las::put(out, 15, static_cast<std::uint8_t>(flags));
  las::put(out, 16, classification);
  las::put(out, 17, las::get<std::uint8_t>(in, 17));
  las::put(out, 18, raise_angle(las::get<std::int8_t>(in, 16)));
  las::put(out, 20, las::get<std::uint16_t>(in, 18));
}

void LasConverter::State::lower(const std::byte* in, std::uint64_t point, std::byte* out) {
  const unsigned returns = las::get<std::uint8_t>(in, 14);
  const unsigned flags = las::get<std::uint8_t>(in, 15);
  unsigned classification = las::get<std::uint8_t>(in, 16);
  const auto angle = las::get<std::int16_t>(in, 18);
  const std::string holds = " does not fit point format " + std::to_string(to) + ", which holds ";
  if ((returns & 15U) > 7) refuse(point, "return_number " + std::to_string(returns & 15U) + holds + "0 to 7");
  if ((returns >> 4) > 7) refuse(point, "number_of_returns " + std::to_string(returns >> 4) + holds + "0 to 7");
  if (classification > 31) refuse(point, "classification " + std::to_string(classification) + holds + "0 to 31");
  const int degrees = lower_angle(angle);
  if (degrees < -128 || degrees > 127) {
    refuse(point, "scan_angle " + las::shortest(angle * 0.006) + holds + "-128 to 127");
  }
  if ((flags & kOverlap) != 0) {
    if (classification <= kUnclassified) {
      count_loss(overlap_became_class, point, "the overlap flag would become class 12");
      classification = kOverlapClass;
    } else if (classification != kOverlapClass) {
      count_loss(overlap_lost, point, "the overlap flag would be lost");
    }
  } else if (classification == kOverlapClass) {
    count_loss(class_12_lowered, point, "class 12 would mean overlap");
  }
  if ((flags & 0x30U) != 0) count_loss(channel_lost, point, "the scanner channel would be lost");
  if (raise_angle(static_cast<std::int8_t>(degrees)) != angle) {
    count_loss(angle_rounded, point, "the scan angle would be rounded to whole degrees");
  }
  const unsigned class_byte = classification | ((flags & kSynthetic) != 0 ? 1U << 5 : 0U) |
                              ((flags & kKeyPoint) != 0 ? 1U << 6 : 0U) | ((flags & kWithheld) != 0 ? 1U << 7 : 0U);
  las::put(out, 14, static_cast<std::uint8_t>((returns & 7U) | ((returns >> 4) & 7U) << 3 | (flags & 0xc0U)));
  las::put(out, 15, static_cast<std::uint8_t>(class_byte));
  las::put(out, 16, static_cast<std::int8_t>(degrees));
  las::put(out, 17, las::get<std::uint8_t>(in, 17));
  las::put(out, 18, las::get<std::uint16_t>(in, 20));
}

void LasConverter::convert(const PointView& in, std::uint64_t first, std::byte* out) const {
  State& s = *state_;
  const las::PointLayout& source = las::kPointLayouts[static_cast<std::size_t>(s.from)];
  const las::PointLayout& target = las::kPointLayouts[static_cast<std::size_t>(s.to)];
  const bool from_legacy = las::is_legacy(s.from);
  const bool to_legacy = las::is_legacy(s.to);
  const std::uint64_t bytes = s.info.schema.record_bytes;
  if (in.count != 0 && in.stride < s.source_bytes) {
    throw InvalidArgument("records to convert are " + std::to_string(s.source_bytes) + " bytes long, not " +
                          std::to_string(in.stride));
  }
  const auto group = [&](const std::byte* from, std::int8_t from_at, std::byte* to, std::int8_t to_at,
                         std::size_t count) {
    if (to_at < 0) return;
    if (from_at < 0) {
      std::memset(to + to_at, 0, count);
    } else {
      std::memcpy(to + to_at, from + from_at, count);
    }
  };
  for (std::uint64_t i = 0; i < in.count; ++i) {
    const std::byte* from = in.records + i * in.stride;
    std::byte* to = out + i * bytes;
    s.coordinates(from, first + i, to);
    std::memcpy(to + 12, from + 12, 2);  // intensity
    if (from_legacy == to_legacy) {
      std::memcpy(to + 14, from + 14, to_legacy ? 6 : 8);
    } else if (to_legacy) {
      s.lower(from, first + i, to);
    } else {
      s.raise(from, to);
    }
    group(from, source.gps_time, to, target.gps_time, 8);
    group(from, source.rgb, to, target.rgb, 6);
    group(from, source.nir, to, target.nir, 2);
    group(from, source.wave, to, target.wave, las::kWaveBytes);
    if (s.extra != 0) std::memcpy(to + target.bytes, from + source.bytes, s.extra);
  }
}

std::vector<std::string> LasConverter::warnings() const {
  std::vector<std::string> out = state_->warnings;
  const auto add = [&](const std::atomic<std::uint64_t>& counter, const std::string& what) {
    const std::uint64_t count = counter.load();
    if (count != 0) out.push_back(std::to_string(count) + (count == 1 ? " point: " : " points: ") + what);
  };
  const State& s = *state_;
  add(s.rounded, "coordinates rounded to the new scale");
  add(s.class_12_raised, "class 12 (overlap) became class 1 with the overlap flag");
  add(s.overlap_became_class, "the overlap flag became class 12");
  add(s.overlap_lost, "the overlap flag is lost beside a class of its own");
  add(s.class_12_lowered, "class 12 now means overlap");
  add(s.channel_lost, "the scanner channel is lost");
  add(s.angle_rounded, "the scan angle is rounded to whole degrees");
  return out;
}

}  // namespace sluice::io
