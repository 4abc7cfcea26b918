// SPDX-License-Identifier: Apache-2.0
#include "layout.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <unordered_set>

#include "../lower.hpp"
#include "sluice/core/error.hpp"
#include "types.hpp"

namespace sluice::io {
namespace columns {
namespace {

/// Names that are given out once.
class Names {
 public:
  std::string take(const std::string& wanted) {
    std::string name = wanted;
    for (int number = 2; !taken_.insert(name).second; ++number) name = wanted + "_" + std::to_string(number);
    return name;
  }

 private:
  std::unordered_set<std::string> taken_;
};

void copy_swapped(const std::byte* from, std::uint32_t bytes, std::byte* to) {
  for (std::uint32_t i = 0; i < bytes; ++i) to[i] = from[bytes - 1 - i];
}

// The hardware sets a bit of those NaN that signal; these keep all that there is room for.
constexpr unsigned kLessBits = 29;  // of a float32 than of a float64 behind the exponent

double widened_nan(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<double>(std::uint64_t{bits & 0x80000000U} << 32U | 0x7ff0000000000000U |
                               std::uint64_t{bits & 0x007fffffU} << kLessBits);
}

float narrowed_nan(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto kept = static_cast<std::uint32_t>(bits >> kLessBits) & 0x007fffffU;
  return std::bit_cast<float>((static_cast<std::uint32_t>(bits >> 32U) & 0x80000000U) | 0x7f800000U |
                              (kept != 0 ? kept : 0x00400000U));
}

}  // namespace

bool widen(FieldType type, const std::byte* from, double& out) {
  return with_type(type, [&]<typename T>(T /*tag*/) {
    const T value = load_unaligned<T>(from);
    out = static_cast<double>(value);
    if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
      // Up to 2^53 every integer is a double; beyond, only where the way back gives the same number.
      constexpr double kEnd = std::is_signed_v<T> ? 0x1p63 : 0x1p64;
      return out < kEnd && static_cast<T>(out) == value;
    } else {
      if constexpr (std::is_same_v<T, float>) {
        if (std::isnan(value)) out = widened_nan(value);
      }
      return true;
    }
  });
}

bool narrow(double value, FieldType type, std::byte* to) {
  return with_type(type, [&]<typename T>(T /*tag*/) {
    if constexpr (std::is_same_v<T, float>) {
      store_unaligned(to, std::isnan(value) ? narrowed_nan(value) : static_cast<float>(value));
      return true;
    } else if constexpr (std::is_same_v<T, double>) {
      store_unaligned(to, value);
      return true;
    } else {
      const double whole = std::nearbyint(value);
      // Both bounds are powers of two, or zero, and so exact.
      constexpr double kEnd = 2.0 * static_cast<double>(T{1} << (std::numeric_limits<T>::digits - 1));
      if (!(whole >= static_cast<double>(std::numeric_limits<T>::min()) && whole < kEnd)) return false;
      store_unaligned(to, static_cast<T>(whole));
      return true;
    }
  });
}

Layout::Layout(std::span<const ColumnField> columns) {
  std::uint64_t bytes = 0;
  const ColumnField* axes[3] = {};
  for (const ColumnField& column : columns) {
    const std::string name = lower(column.name);
    for (int d = 0; d < 3; ++d) {
      const bool is_axis = name.size() == 1 && name[0] == static_cast<char>('x' + d);
      if (is_axis && axes[d] == nullptr) axes[d] = &column;
    }
    bytes += std::uint64_t{column.count} * field_bytes(column.type);
    // An axis may grow to 8 bytes.
    if (bytes + 3 * 7 > kMostRecordBytes) {
      throw InvalidArgument("a point has more than " + std::to_string(kMostRecordBytes) + " bytes");
    }
  }
  for (int d = 0; d < 3; ++d) {
    const std::string name(1, static_cast<char>('x' + d));
    if (axes[d] == nullptr) throw InvalidArgument("no column is called " + name);
    if (axes[d]->count != 1) {
      throw InvalidArgument("a point has " + std::to_string(axes[d]->count) + " values of " + name + ", not one");
    }
  }
  const FieldType type = axes[0]->type;
  const bool is_float = type == FieldType::kFloat32 || type == FieldType::kFloat64;
  const bool widened = !is_float || axes[1]->type != type || axes[2]->type != type;
  plain_ = !widened;
  frame_.kind = !widened && type == FieldType::kFloat32 ? CoordinateKind::kFloat32 : CoordinateKind::kFloat64;

  Names names;
  // The axes have their names whatever comes before them.
  for (const char* axis : {"x", "y", "z"}) (void)names.take(axis);
  std::uint32_t at = 0;
  for (const ColumnField& column : columns) {
    const auto axis = std::find(std::begin(axes), std::end(axes), &column);
    const bool is_axis = axis != std::end(axes);
    const bool padding = column.name == "_";
    const std::string name = is_axis ? lower(column.name) : padding || column.count == 0 ? "" : lower(column.name);
    for (std::uint32_t i = 0; i < column.count; ++i) {
      StoredValue value{column.type, column.type, file_bytes_, at, padding};
      if (is_axis) {
        if (widened) value.type = FieldType::kFloat64;
        frame_.at[axis - std::begin(axes)] = at;
      }
      if (!padding) {
        Field field;
        field.name = is_axis             ? name
                     : column.count == 1 ? names.take(name)
                                         : names.take(name + "[" + std::to_string(i) + "]");
        field.type = value.type;
        field.offset = at;
        schema_.fields.push_back(std::move(field));
      }
      values_.push_back(value);
      file_bytes_ += field_bytes(value.file_type);
      at += field_bytes(value.type);
    }
  }
  schema_.record_bytes = at;
}

void Layout::leave_out_padding() {
  plain_ = plain_ && std::none_of(values_.begin(), values_.end(), [](const StoredValue& v) { return v.padding; });
  std::erase_if(values_, [](const StoredValue& value) { return value.padding; });
  file_bytes_ = 0;
  for (StoredValue& value : values_) {
    value.file_at = file_bytes_;
    file_bytes_ += field_bytes(value.file_type);
  }
}

std::uint64_t Layout::decode(const std::byte* rows, std::uint64_t file_stride, std::uint64_t count, bool swap,
                             std::byte* out) const {
  std::byte turned[8];
  for (std::uint64_t row = 0; row < count; ++row, rows += file_stride, out += schema_.record_bytes) {
    for (const StoredValue& value : values_) {
      const std::byte* from = rows + value.file_at;
      const std::uint32_t bytes = field_bytes(value.file_type);
      if (swap) {
        copy_swapped(from, bytes, turned);
        from = turned;
      }
      if (value.type == value.file_type) {
        std::memcpy(out + value.at, from, bytes);
        continue;
      }
      double wide = 0.0;
      if (!widen(value.file_type, from, wide)) return row;
      store_unaligned(out + value.at, wide);
    }
  }
  return count;
}

std::uint64_t Layout::encode(const PointView& records, bool swap, std::byte* out) const {
  std::byte straight[8];
  const std::byte* record = records.records;
  for (std::uint64_t row = 0; row < records.count; ++row, record += records.stride, out += file_bytes_) {
    for (const StoredValue& value : values_) {
      const std::byte* from = record + value.at;
      const std::uint32_t bytes = field_bytes(value.file_type);
      if (value.type != value.file_type) {
        if (!narrow(load_unaligned<double>(from), value.file_type, straight)) return row;
        from = straight;
      }
      if (swap) {
        copy_swapped(from, bytes, out + value.file_at);
      } else {
        std::memcpy(out + value.file_at, from, bytes);
      }
    }
  }
  return records.count;
}

Layout layout_for(const std::string& path, const ColumnMetadata& metadata, const CloudInfo& like) {
  Layout layout(metadata.columns);
  if (layout.record_bytes() != like.schema.record_bytes) {
    throw InvalidArgument(path + ": the records are not those of the columns");
  }
  return layout;
}

std::optional<std::string> difference(const CloudInfo& first, const CloudInfo& other) {
  const std::string pair = " of " + other.name + " and that of " + first.name + " are not the same";
  const std::vector<Field>& a = first.schema.fields;
  const std::vector<Field>& b = other.schema.fields;
  const std::string format = first.metadata != nullptr ? first.metadata->format() : "";
  if (other.metadata == nullptr || other.metadata->format() != format) return "the format" + pair;
  if (a.size() != b.size()) return "the number of fields" + pair;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].name != b[i].name) return "the name of field " + std::to_string(i + 1) + pair;
    if (a[i].type != b[i].type) return "the type of '" + a[i].name + "'" + pair;
    if (a[i].offset != b[i].offset) return "the place of '" + a[i].name + "'" + pair;
  }
  if (first.schema.record_bytes != other.schema.record_bytes) return "the length of a point" + pair;
  const std::string rest = first.metadata != nullptr ? first.metadata->difference(*other.metadata) : "";
  if (!rest.empty()) return rest + pair;
  return std::nullopt;
}

}  // namespace columns

std::string ColumnMetadata::difference(const FormatMetadata& other) const {
  const auto* that = dynamic_cast<const ColumnMetadata*>(&other);
  if (that == nullptr || that->format() != format()) return "the file format";
  if (columns.size() != that->columns.size()) return "the number of columns in the file";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const ColumnField& theirs = that->columns[i];
    if (columns[i].name != theirs.name) return "the spelling of the column '" + theirs.name + "'";
    if (columns[i] != theirs) return "the type of the column '" + theirs.name + "' in the file";
  }
  return {};
}

CloudInfo make_column_info(std::shared_ptr<const ColumnMetadata> metadata) {
  const columns::Layout layout(metadata->columns);
  CloudInfo info;
  info.schema = layout.schema();
  info.frame = layout.frame();
  info.metadata = std::move(metadata);
  return info;
}

}  // namespace sluice::io
