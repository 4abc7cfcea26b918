// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "../las/las_layout.hpp"
#include "../lower.hpp"
#include "converters.hpp"
#include "sluice/core/error.hpp"
#include "sluice/io/las.hpp"
#include "sluice/io/pcd.hpp"

namespace sluice::io::convert {
namespace {

constexpr double kMostSteps = 2147483647.0;
constexpr double kUsualScale = 0.001;
constexpr double kLeastSteps = 1e6;
// A coordinate so near to a step means it, as with the bounds of a box.
constexpr double kMeansTheStep = 0.01;
constexpr std::size_t kMostNameBytes = 32;
constexpr std::size_t kMostExtraDimensions = 341;  // of one record of at most 65535 bytes
// Below this every whole number is a float64.
constexpr double kMostExact = 0x1p53;

/// "Return_Number" and "returnnumber" are one name.
std::string squashed(std::string_view name) {
  std::string out = lower(std::string(name));
  std::erase(out, '_');
  return out;
}

/// The field of LAS that a column of another name means.
std::string las_name(std::string_view name) {
  std::string plain = squashed(name);
  if (plain == "scananglerank") return "scanangle";
  if (plain == "scalarintensity") return "intensity";
  if (plain == "infrared") return "nir";
  return plain;
}

bool is_colour(const std::string& plain) { return plain == "red" || plain == "green" || plain == "blue"; }

/// Smallest and largest stored number of a field.
std::pair<double, double> range_of(const Field& field) {
  if (field.bit_count != 0) return {0.0, std::ldexp(1.0, field.bit_count) - 1.0};
  return columns::with_type(field.type, []<typename T>(T /*tag*/) {
    return std::pair{static_cast<double>(std::numeric_limits<T>::lowest()),
                     static_cast<double>(std::numeric_limits<T>::max())};
  });
}

/// True where a field holds all values of a type: exactly, or where it has steps of its own, to the nearest.
bool holds(const Field& field, const FieldSummary& values, FieldType type) {
  if (field.type == FieldType::kFloat64) {
    const bool wide = type == FieldType::kInt64 || type == FieldType::kUint64;
    return !wide || (values.min > -kMostExact && values.max < kMostExact);
  }
  const auto [low, high] = range_of(field);
  if (field.scaled) {
    const double a = (values.min - field.shift) / field.scale;
    const double b = (values.max - field.shift) / field.scale;
    return values.finite && std::min(a, b) >= low - 0.5 && std::max(a, b) <= high + 0.5;
  }
  return values.whole && values.min >= low && values.max <= high;
}

void put_bits(const Field& field, std::byte* record, std::uint64_t bits) {
  std::byte* at = record + field.offset;
  auto byte = load_unaligned<std::uint8_t>(at);
  const auto mask = static_cast<std::uint8_t>(((1U << field.bit_count) - 1U) << field.bit_shift);
  byte = static_cast<std::uint8_t>((byte & ~mask) | ((bits << field.bit_shift) & mask));
  store_unaligned(at, byte);
}

/// A number that `holds` allowed. \return false where it was between two steps
bool put_number(const Field& field, double value, std::byte* record) {
  if (field.scaled) value = (value - field.shift) / field.scale;
  if (field.type == FieldType::kFloat64) {
    store_unaligned(record + field.offset, value);
    return true;
  }
  const auto [low, high] = range_of(field);
  const double whole = std::clamp(std::nearbyint(value), low, high);
  if (field.bit_count != 0) {
    put_bits(field, record, static_cast<std::uint64_t>(whole));
    return true;
  }
  columns::with_type(field.type, [&]<typename T>(T /*tag*/) {
    store_unaligned(record + field.offset, static_cast<T>(whole));
    return true;
  });
  return std::abs(value - whole) <= kMeansTheStep;
}

/// Where a column goes.
struct Move {
  enum class How : std::uint8_t { kCopy, kNumber, kColour };
  How how = How::kNumber;
  Field from;
  Field to;
  double factor = 1.0;  ///< kNumber
  unsigned shift = 0;   ///< kColour: of the channel in a packed colour
};

class ColumnsToLas final : public RecordConverter {
 public:
  ColumnsToLas(CloudInfo info, CoordinateFrame frame, std::vector<Move> moves, std::vector<Field> ones, Losses losses)
      : info_(std::move(info)),
        frame_(frame),
        moves_(std::move(moves)),
        ones_(std::move(ones)),
        losses_(std::move(losses)),
        rounded_(moves_.size()) {}

  [[nodiscard]] const CloudInfo& info() const override { return info_; }

  void convert(const PointView& in, std::uint64_t first, std::byte* out) const override {
    const std::uint64_t bytes = info_.schema.record_bytes;
    std::memset(out, 0, in.count * bytes);
    const Positions positions = frame_.positions(in.records, in.stride);
    std::uint64_t moved = 0;
    for (std::uint64_t i = 0; i < in.count; ++i) {
      std::byte* to = out + i * bytes;
      if (put_position(load_position(positions, i), first + i, to)) ++moved;
      for (const Field& field : ones_) put_number(field, 1.0, to);
    }
    if (moved != 0) moved_.fetch_add(moved, std::memory_order_relaxed);
    for (std::size_t m = 0; m < moves_.size(); ++m) {
      const Move& move = moves_[m];
      std::uint64_t rounded = 0;
      const Column column = move.from.column(in.records, in.stride);
      const std::uint32_t width = field_bytes(move.from.type);
      for (std::uint64_t i = 0; i < in.count; ++i) {
        std::byte* to = out + i * bytes;
        if (move.how == Move::How::kCopy) {
          std::memcpy(to + move.to.offset, column.data + i * column.stride, width);
        } else if (move.how == Move::How::kColour) {
          const auto packed = load_unaligned<std::uint32_t>(column.data + i * column.stride);
          put_number(move.to, ((packed >> move.shift) & 255U) * 256.0, to);
        } else if (!put_number(move.to, column.at(i).as_real() * move.factor, to)) {
          ++rounded;
          if (losses_.strict()) {
            throw Unsupported(losses_.name() + ": point " + std::to_string(first + i) + ": " + move.to.name +
                              " would be rounded to steps of " + las::shortest(move.to.scale));
          }
        }
      }
      if (rounded != 0) rounded_[m].fetch_add(rounded, std::memory_order_relaxed);
    }
  }

  [[nodiscard]] std::vector<std::string> warnings() const override {
    std::vector<std::string> out = losses_.all();
    const auto add = [&](std::uint64_t count, const std::string& what) {
      if (count != 0) out.push_back(std::to_string(count) + (count == 1 ? " point: " : " points: ") + what);
    };
    add(moved_.load(), "coordinates rounded to the scale " + las::shortest(info_.frame.scale[0]));
    for (std::size_t m = 0; m < moves_.size(); ++m) {
      add(rounded_[m].load(), moves_[m].to.name + " rounded to steps of " + las::shortest(moves_[m].to.scale));
    }
    return out;
  }

 private:
  /// \return true where the point was between two steps
  bool put_position(const Position& position, std::uint64_t point, std::byte* to) const {
    bool rounded = false;
    for (int d = 0; d < 3; ++d) {
      const double steps = (position.world[d] - info_.frame.offset[d]) / info_.frame.scale[d];
      const double whole = std::nearbyint(steps);
      if (!(std::abs(whole) <= kMostSteps)) {
        throw Unsupported(losses_.name() + ": point " + std::to_string(point) + ": the coordinate " +
                          las::shortest(position.world[d]) + " does not fit 32 bits with scale " +
                          las::shortest(info_.frame.scale[d]) + " and offset " + las::shortest(info_.frame.offset[d]));
      }
      rounded = rounded || std::abs(steps - whole) > kMeansTheStep;
      store_unaligned(to + info_.frame.at[d], static_cast<std::int32_t>(whole));
    }
    if (rounded && losses_.strict()) {
      throw Unsupported(losses_.name() + ": point " + std::to_string(point) +
                        ": the coordinates would be rounded to the scale " + las::shortest(info_.frame.scale[0]));
    }
    return rounded;
  }

  CloudInfo info_;
  CoordinateFrame frame_;
  std::vector<Move> moves_;
  std::vector<Field> ones_;  ///< fields that are 1 in every point
  Losses losses_;
  mutable std::atomic<std::uint64_t> moved_{0};              ///< points
  mutable std::vector<std::atomic<std::uint64_t>> rounded_;  ///< points, per move
};

class Builder {
 public:
  Builder(const CloudInfo& source, const ConvertTarget& target, const PointSummary& summary)
      : source_(source),
        target_(target),
        summary_(summary),
        losses_(source.name, target.strict),
        fields_(named_fields(source)) {}

  std::shared_ptr<const RecordConverter> build() {
    lose_metadata(source_, losses_);
    if (summary_.nonfinite != 0) {
      losses_.add(std::to_string(summary_.nonfinite) + (summary_.nonfinite == 1 ? " point is" : " points are") +
                  " not finite and left out");
    }
    find_colours();
    choose_format();
    choose_scale();
    choose_offset();
    const Schema fields =
        las_schema(layout_.point_format, las_record_bytes(layout_.point_format), layout_.scale, layout_.offset, {});
    for (const Field& field : fields.fields) taken_.insert(field.name);
    for (std::size_t i = 0; i < fields_.size(); ++i) add_column(i, fields);
    CloudInfo info = make_las_info(layout_);
    // Extra dimensions are the last fields of the schema.
    const std::size_t first_extra = info.schema.fields.size() - layout_.extra.size();
    for (std::size_t e = 0; e < extra_moves_.size(); ++e) {
      moves_[extra_moves_[e]].to = info.schema.fields[first_extra + e];
    }
    std::vector<Field> ones;
    for (const char* name : {"return_number", "number_of_returns"}) {
      // A point is a return of its pulse, and the only one that is known of.
      const Field* field = fields.find(name);
      const bool taken = std::any_of(moves_.begin(), moves_.end(), [&](const Move& m) { return m.to.name == name; });
      if (!taken) ones.push_back(*field);
    }
    info.name = source_.name;
    info.point_count = source_.point_count;
    return std::make_shared<ColumnsToLas>(std::move(info), source_.frame, std::move(moves_), std::move(ones),
                                          std::move(losses_));
  }

 private:
  [[nodiscard]] std::optional<std::size_t> field_called(const std::string& plain) const {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (las_name(fields_[i].name) == plain) return i;
    }
    return std::nullopt;
  }

  /// Colours are three columns, or one of four bytes.
  void find_colours() {
    bool small = true;
    bool bytes = true;
    bool all = true;
    for (const char* name : {"red", "green", "blue"}) {
      const auto field = field_called(name);
      all = all && field.has_value();
      if (!field) continue;
      const FieldSummary& values = summary_.fields[*field];
      all = all && values.whole && values.min >= 0.0 && values.max <= 65535.0;
      small = small && values.max <= 255.0;
      bytes = bytes && fields_[*field].field.type == FieldType::kUint8;
    }
    has_colours_ = all;
    // Numbers of two bytes say themselves that they are no bytes.
    bool wide = false;
    for (const char* name : {"red", "green", "blue"}) {
      const auto field = field_called(name);
      if (field && fields_[*field].field.type == FieldType::kUint16) wide = true;
    }
    colour_factor_ = bytes || (small && !wide) ? 256.0 : 1.0;
    if (all) return;
    for (const char* name : {"rgb", "rgba"}) {
      const auto field = field_called(name);
      if (!field || field_bytes(fields_[*field].field.type) != 4) continue;
      packed_ = *field;
      has_colours_ = true;
      return;
    }
  }

  /// What holds most, or what was asked for; and a version that knows it.
  void choose_format() {
    const auto nir = field_called("nir");
    Field infrared;
    infrared.type = FieldType::kUint16;
    const bool has_nir = nir && holds(infrared, summary_.fields[*nir], fields_[*nir].field.type);
    int format = has_nir && has_colours_ ? 8 : has_colours_ ? 7 : 6;
    const int version = target_.las.version_minor.value_or(4);
    if (version < 4) format = has_colours_ && version >= 2 ? 3 : 1;
    layout_.point_format = target_.las.point_format.value_or(format);
    const int lowest = layout_.point_format <= 3 ? 2 : layout_.point_format <= 5 ? 3 : 4;
    layout_.version_minor = target_.las.version_minor.value_or(lowest);
    // Seconds of a week are fewer.
    constexpr double kWeek = 604800.0;
    const auto time = field_called("gpstime");
    layout_.adjusted_gps_time = !time || summary_.fields[*time].min < 0.0 || summary_.fields[*time].max > kWeek;
  }

  void choose_scale() {
    if (target_.las.scale) {
      layout_.scale = *target_.las.scale;
      return;
    }
    double span = 0.0;
    if (!summary_.bounds.empty()) {
      for (int d = 0; d < 3; ++d) span = std::max(span, summary_.bounds.max[d] - summary_.bounds.min[d]);
    }
    if (!std::isfinite(span))
      throw Unsupported(source_.name + ": the points are too far from each other for a LAS file");
    double scale = kUsualScale;
    if (span > 0.0) scale = std::min(scale, power_of_ten(std::floor(std::log10(span / kLeastSteps))));
    // Half of the steps on either side of the middle, with room for an offset that is not quite there.
    while (span / 2.0 > 0.99 * kMostSteps * scale && std::isfinite(scale)) {
      scale = power_of_ten(std::round(std::log10(scale)) + 1.0);
    }
    if (scale > kUsualScale) {
      losses_.add("a cloud of such a size needs steps of " + las::shortest(scale) + " for its coordinates");
    }
    layout_.scale = {scale, scale, scale};
  }

  /// The double that prints as that power.
  static double power_of_ten(double exponent) {
    const std::string text = "1e" + std::to_string(static_cast<int>(std::clamp(exponent, -30.0, 300.0)));
    double out = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), out);
    return out;
  }

  void choose_offset() {
    if (target_.las.offset) {
      layout_.offset = *target_.las.offset;
      return;
    }
    if (summary_.bounds.empty()) return;
    for (std::size_t d = 0; d < 3; ++d) {
      const double low = summary_.bounds.min[d];
      const double high = summary_.bounds.max[d];
      const double most = 0.99 * kMostSteps * std::abs(layout_.scale[d]);
      if (std::max(std::abs(low), std::abs(high)) <= most) continue;
      // A whole number, but for a cloud so small that it would lie too far from one.
      const double middle = low / 2.0 + high / 2.0;
      const double unit = high / 2.0 - low / 2.0 + 1.0 <= most ? 1.0 : std::abs(layout_.scale[d]) * kLeastSteps;
      // Of a unit that is 1/n, n gives the double that prints as the decimal number.
      const double parts = std::round(1.0 / unit);
      const double units = std::round(middle / unit);
      layout_.offset[d] = std::abs(parts * unit - 1.0) < 1e-12 ? units / parts : units * unit;
    }
  }

  void add_column(std::size_t i, const Schema& fields) {
    const Field& field = fields_[i].field;
    if (field.name == "x" || field.name == "y" || field.name == "z") return;
    if (packed_ && i == *packed_ && fields.find("red") != nullptr) {
      unsigned shift = 16;
      for (const char* name : {"red", "green", "blue"}) {
        moves_.push_back({Move::How::kColour, field, *fields.find(name), 1.0, shift});
        shift -= 8;
      }
      // The fourth byte is the opacity, if it is anything.
      if (las_name(fields_[i].name) == "rgba") add_extra(i);
      return;
    }
    const std::string plain = las_name(fields_[i].name);
    const auto known = std::find_if(fields.fields.begin() + 3, fields.fields.end(),
                                    [&](const Field& f) { return squashed(f.name) == plain; });
    const bool is_free = known != fields.fields.end() && std::none_of(moves_.begin(), moves_.end(), [&](const Move& m) {
                           return m.to.name == known->name;
                         });
    if (!is_free) {
      add_extra(i);
      return;
    }
    const bool colour = is_colour(plain);
    if (colour ? has_colours_ && !packed_ : holds(*known, summary_.fields[i], field.type)) {
      const bool same = field.type == known->type && known->bit_count == 0 && !known->scaled && !colour;
      moves_.push_back({same ? Move::How::kCopy : Move::How::kNumber, field, *known, colour ? colour_factor_ : 1.0, 0});
      return;
    }
    if (plain == "classification" && summary_.fields[i].whole && summary_.fields[i].max > 31.0 &&
        known->bit_count == 5) {
      throw Unsupported(source_.name + ": classification " + las::shortest(summary_.fields[i].max) +
                        " does not fit point format " + std::to_string(layout_.point_format) +
                        ", which holds 0 to 31; formats 6 to 10 hold 0 to 255");
    }
    add_extra(i);
    losses_.note(fields_[i].name + " has values that the field of LAS does not hold; it is the extra dimension " +
                 layout_.extra.back().name);
  }

  void add_extra(std::size_t i) {
    // What bits and coordinates are made of has no type of its own here, and neither occurs among columns.
    const NamedField& named = fields_[i];
    if (layout_.extra.size() == kMostExtraDimensions) {
      throw Unsupported(source_.name + ": a LAS file has at most " + std::to_string(kMostExtraDimensions) +
                        " extra dimensions, and " + named.name + " would be one more");
    }
    if (named.name.size() > kMostNameBytes) {
      losses_.add("the name '" + named.name + "' is cut to " + std::to_string(kMostNameBytes) + " bytes");
    }
    extra_moves_.push_back(moves_.size());
    moves_.push_back({Move::How::kCopy, named.field, {}, 1.0, 0});
    layout_.extra.push_back({extra_name(named.name), named.field.type});
  }

  /// A name that no field has yet, as other programs refuse a file with two of a name.
  std::string extra_name(const std::string& wanted) {
    std::string ending;
    for (int number = 2;; ++number) {
      std::string name = wanted.substr(0, kMostNameBytes - ending.size()) + ending;
      if (taken_.insert(lower(name)).second) return name;
      ending = "_" + std::to_string(number);
    }
  }

  const CloudInfo& source_;
  const ConvertTarget& target_;
  const PointSummary& summary_;
  Losses losses_;
  std::vector<NamedField> fields_;
  LasLayout layout_;
  bool has_colours_ = false;
  double colour_factor_ = 1.0;
  std::optional<std::size_t> packed_;
  std::vector<Move> moves_;
  std::vector<std::size_t> extra_moves_;
  std::unordered_set<std::string> taken_;  ///< names of fields, lower case
};

}  // namespace

std::shared_ptr<const RecordConverter> columns_to_las(const CloudInfo& source, const ConvertTarget& target,
                                                      const PointSummary& summary) {
  return Builder(source, target, summary).build();
}

}  // namespace sluice::io::convert
