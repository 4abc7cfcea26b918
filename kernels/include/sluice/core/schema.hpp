// SPDX-License-Identifier: Apache-2.0
/// \file
/// Names, places and types of the fields of a point record.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/core/types.hpp"

namespace sluice {

/// One field of a record.
struct Field {
  std::string name;                    ///< lower case; unique within a schema
  FieldType type = FieldType::kUint8;  ///< of the stored value
  std::uint32_t offset = 0;            ///< bytes from the start of the record
  std::uint8_t bit_shift = 0;          ///< with bit_count: a range of bits of an unsigned value
  std::uint8_t bit_count = 0;          ///< 0: the whole value
  bool scaled = false;                 ///< real value = stored * scale + shift
  double scale = 1.0;
  double shift = 0.0;
  std::string description;

  /// The field within records that start at `records` and follow each other every `stride` bytes.
  [[nodiscard]] Column column(const std::byte* records, std::uint64_t stride) const {
    return Column{records + offset, stride, type, bit_shift, bit_count};
  }
};

/// Compares names without regard to the case of ASCII letters.
inline bool same_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

/// Fields of a record of fixed length. Bytes that no field covers are carried along untouched.
struct Schema {
  std::vector<Field> fields;
  std::uint32_t record_bytes = 0;

  /// The field called `name` in any case, or null.
  [[nodiscard]] const Field* find(std::string_view name) const {
    for (const Field& field : fields) {
      if (same_name(field.name, name)) return &field;
    }
    return nullptr;
  }
};

}  // namespace sluice
