// SPDX-License-Identifier: Apache-2.0
#include "attributes.hpp"

#include <algorithm>
#include <string>

#include "sluice/core/error.hpp"

namespace sluice::detail {

namespace {

bool is_less(const Value& a, const Value& b) { return compare(a, b) == Ordering::kLess; }

/// sum / count rounded half to even.
int128 rounded_mean(int128 sum, std::uint64_t count) {
  const auto n = static_cast<int128>(count);
  int128 quotient = sum / n;
  int128 rest = sum % n;
  if (rest < 0) {
    --quotient;
    rest += n;
  }
  if (2 * rest > n || (2 * rest == n && quotient % 2 != 0)) ++quotient;
  return quotient;
}

Value mean_of(const Column& column, std::span<const std::uint32_t> members) {
  const Value first = column.at(members.front());
  if (first.kind == Value::Kind::kReal) {
    double sum = 0.0;
    for (const std::uint32_t member : members) sum += column.at(member).r;
    return Value::of_real(sum / static_cast<double>(members.size()));
  }
  int128 sum = 0;
  for (const std::uint32_t member : members) {
    const Value value = column.at(member);
    sum += first.kind == Value::Kind::kSigned ? static_cast<int128>(value.i) : static_cast<int128>(value.u);
  }
  const int128 mean = rounded_mean(sum, members.size());
  return first.kind == Value::Kind::kSigned ? Value::of_signed(static_cast<std::int64_t>(mean))
                                            : Value::of_unsigned(static_cast<std::uint64_t>(mean));
}

/// Most frequent of ascending values; of several the smallest.
Value mode_of(const std::vector<Value>& sorted) {
  Value best = sorted.front();
  std::size_t best_count = 0;
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin + 1;
    while (end < sorted.size() && compare(sorted[begin], sorted[end]) == Ordering::kEqual) ++end;
    if (end - begin > best_count) {
      best = sorted[begin];
      best_count = end - begin;
    }
    begin = end;
  }
  return best;
}

template <typename T>
void put(std::byte* at, const Value& value) {
  store_unaligned(at, value.kind == Value::Kind::kReal     ? static_cast<T>(value.r)
                      : value.kind == Value::Kind::kSigned ? static_cast<T>(value.i)
                                                           : static_cast<T>(value.u));
}

void put_bits(std::byte* at, std::uint32_t bytes, const Field& field, std::uint64_t bits) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, bytes);
  const std::uint64_t mask = ((std::uint64_t{1} << field.bit_count) - 1) << field.bit_shift;
  word = (word & ~mask) | ((bits << field.bit_shift) & mask);
  std::memcpy(at, &word, bytes);
}

void put_value(const Field& field, std::byte* record, const Value& value) {
  std::byte* at = record + field.offset;
  if (field.bit_count != 0) {
    put_bits(at, field_bytes(field.type), field, value.u);
    return;
  }
  switch (field.type) {
    case FieldType::kInt8:
      return put<std::int8_t>(at, value);
    case FieldType::kUint8:
      return put<std::uint8_t>(at, value);
    case FieldType::kInt16:
      return put<std::int16_t>(at, value);
    case FieldType::kUint16:
      return put<std::uint16_t>(at, value);
    case FieldType::kInt32:
      return put<std::int32_t>(at, value);
    case FieldType::kUint32:
      return put<std::uint32_t>(at, value);
    case FieldType::kInt64:
      return put<std::int64_t>(at, value);
    case FieldType::kUint64:
      return put<std::uint64_t>(at, value);
    case FieldType::kFloat32:
      return put<float>(at, value);
    case FieldType::kFloat64:
      return put<double>(at, value);
  }
}

}  // namespace

std::vector<BoundAttribute> bind_attributes(std::span<const AttributeChoice> choices, const Schema& schema) {
  std::vector<BoundAttribute> out;
  for (const AttributeChoice& choice : choices) {
    const Field* field = schema.find(choice.field);
    if (field == nullptr) throw InvalidArgument("there is no field '" + choice.field + "'");
    if (field->name == "x" || field->name == "y" || field->name == "z") {
      throw InvalidArgument("'" + field->name + "' of a centroid is its own, no rule can fill it");
    }
    for (const BoundAttribute& other : out) {
      if (other.field.name == field->name) throw InvalidArgument("two rules fill the field '" + field->name + "'");
    }
    out.push_back({*field, choice.rule});
  }
  return out;
}

void reduce_attribute(const BoundAttribute& attribute, const PointView& view, std::span<const std::uint32_t> members,
                      std::byte* record, std::vector<Value>& scratch) {
  const Column column = attribute.field.column(view.records, view.stride);
  if (attribute.rule == AttributeRule::kMean) {
    put_value(attribute.field, record, mean_of(column, members));
    return;
  }
  scratch.clear();
  for (const std::uint32_t member : members) {
    const Value value = column.at(member);
    if (value.kind != Value::Kind::kReal || value.r == value.r) scratch.push_back(value);
  }
  if (scratch.empty()) scratch.push_back(column.at(members.front()));
  switch (attribute.rule) {
    case AttributeRule::kMin:
      put_value(attribute.field, record, *std::min_element(scratch.begin(), scratch.end(), is_less));
      break;
    case AttributeRule::kMax:
      put_value(attribute.field, record, *std::max_element(scratch.begin(), scratch.end(), is_less));
      break;
    default:
      std::sort(scratch.begin(), scratch.end(), is_less);
      put_value(attribute.field, record, mode_of(scratch));
      break;
  }
}

}  // namespace sluice::detail
