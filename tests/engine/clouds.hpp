// SPDX-License-Identifier: Apache-2.0
/// \file
/// Small clouds for the tests of the engine: chosen positions, and attributes that follow from the index of a point, so
/// that a record tells where it came from.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "sluice/core/point_cloud.hpp"
#include "sluice/core/random.hpp"

namespace sluice::test {

using RawPoint = std::array<std::int32_t, 3>;
using WorldPoint = std::array<double, 3>;

/// Scale and offset of a lattice.
struct Lattice {
  std::array<double, 3> scale = {0.01, 0.01, 0.01};
  std::array<double, 3> offset = {0.0, 0.0, 0.0};
};

inline constexpr std::uint64_t kAttributeSeed = 77;

inline std::uint16_t intensity_of(std::uint64_t i) {
  return static_cast<std::uint16_t>(counter_random(kAttributeSeed, 4 * i) % 1000);
}
inline std::uint8_t classification_of(std::uint64_t i) {
  return static_cast<std::uint8_t>(counter_random(kAttributeSeed, 4 * i + 1) % 8);
}
/// Three bits; the bits above them in the same byte are set, to be left alone.
inline std::uint8_t return_number_of(std::uint64_t i) { return static_cast<std::uint8_t>(i % 5 + 1); }
inline std::int16_t scan_angle_of(std::uint64_t i) {
  return static_cast<std::int16_t>(static_cast<std::int64_t>(counter_random(kAttributeSeed, 4 * i + 2) % 6001) - 3000);
}
inline double gps_time_of(std::uint64_t i) { return 1000.0 + 0.25 * static_cast<double>(i); }

/// Fields of every test cloud after its coordinates: id (the index), intensity, return_number (three bits of a byte),
/// classification, scan_angle (steps of 0.006), gps_time, warmth (float32, NaN in every seventh point), big (uint64),
/// deep (int64) and a few bytes that no field names.
inline Schema make_schema(CoordinateKind kind) {
  Schema schema;
  const auto add = [&schema](const char* name, FieldType type) -> Field& {
    Field field;
    field.name = name;
    field.type = type;
    field.offset = schema.record_bytes;
    schema.record_bytes += field_bytes(type);
    schema.fields.push_back(field);
    return schema.fields.back();
  };
  const FieldType axis = kind == CoordinateKind::kLattice   ? FieldType::kInt32
                         : kind == CoordinateKind::kFloat32 ? FieldType::kFloat32
                                                            : FieldType::kFloat64;
  for (const char* name : {"x", "y", "z"}) add(name, axis);
  add("id", FieldType::kUint32);
  add("intensity", FieldType::kUint16);
  Field& number = add("return_number", FieldType::kUint8);
  number.bit_count = 3;
  number.bit_shift = 1;
  add("classification", FieldType::kUint8);
  Field& angle = add("scan_angle", FieldType::kInt16);
  angle.scaled = true;
  angle.scale = 0.006;
  add("gps_time", FieldType::kFloat64);
  add("warmth", FieldType::kFloat32);
  add("big", FieldType::kUint64);
  add("deep", FieldType::kInt64);
  schema.record_bytes += 3;
  return schema;
}

template <typename T>
void put_field(const Schema& schema, const char* name, std::byte* record, T value) {
  std::memcpy(record + schema.find(name)->offset, &value, sizeof value);
}

template <typename T>
T get_field(const PointCloud& cloud, const char* name, std::uint64_t i) {
  T value;
  const std::uint32_t bytes = cloud.info().schema.record_bytes;
  std::memcpy(&value, cloud.records().data() + i * bytes + cloud.info().schema.find(name)->offset, sizeof value);
  return value;
}

/// Sets one field of one record of a cloud that is copied for it.
template <typename T>
PointCloud with_field(const PointCloud& cloud, const char* name, std::uint64_t i, T value) {
  std::vector<std::byte> records = cloud.records();
  const Schema& schema = cloud.info().schema;
  put_field(schema, name, records.data() + i * schema.record_bytes, value);
  return {cloud.info(), std::move(records)};
}

namespace detail {

template <typename PutT>
PointCloud make_cloud(CloudInfo info, std::uint64_t count, std::uint64_t first_id, PutT put_position) {
  const Schema& schema = info.schema;
  std::vector<std::byte> records(count * schema.record_bytes, std::byte{0x5a});
  for (std::uint64_t k = 0; k < count; ++k) {
    std::byte* record = records.data() + k * schema.record_bytes;
    const std::uint64_t i = first_id + k;
    put_position(record, k);
    put_field(schema, "id", record, static_cast<std::uint32_t>(i));
    put_field(schema, "intensity", record, intensity_of(i));
    put_field(schema, "return_number", record, static_cast<std::uint8_t>(0xf1U | (return_number_of(i) << 1U)));
    put_field(schema, "classification", record, classification_of(i));
    put_field(schema, "scan_angle", record, scan_angle_of(i));
    put_field(schema, "gps_time", record, gps_time_of(i));
    put_field(schema, "warmth", record,
              i % 7 == 6 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(i) / 4);
    put_field(schema, "big", record, std::uint64_t{18446744073709551615ULL} - i);
    put_field(schema, "deep", record, std::int64_t{9007199254740992} + static_cast<std::int64_t>(i));
  }
  return {std::move(info), std::move(records)};
}

inline CloudInfo make_info(CoordinateKind kind, const Lattice& lattice) {
  CloudInfo info;
  info.name = "test cloud";
  info.schema = make_schema(kind);
  info.frame.kind = kind;
  static constexpr const char* kAxes[3] = {"x", "y", "z"};
  for (std::size_t d = 0; d < 3; ++d) {
    info.frame.at[d] = info.schema.find(kAxes[d])->offset;
    if (kind != CoordinateKind::kLattice) continue;
    info.frame.scale[d] = lattice.scale[d];
    info.frame.offset[d] = lattice.offset[d];
    Field& field = info.schema.fields[d];
    field.scaled = true;
    field.scale = lattice.scale[d];
    field.shift = lattice.offset[d];
  }
  return info;
}

}  // namespace detail

inline PointCloud make_lattice(const std::vector<RawPoint>& points, const Lattice& lattice = {},
                               std::uint64_t first_id = 0) {
  CloudInfo info = detail::make_info(CoordinateKind::kLattice, lattice);
  const CoordinateFrame frame = info.frame;
  return detail::make_cloud(std::move(info), points.size(), first_id, [&](std::byte* record, std::uint64_t k) {
    for (std::size_t d = 0; d < 3; ++d) store_unaligned(record + frame.at[d], points[k][d]);
  });
}

/// \param kind  kFloat32 or kFloat64
inline PointCloud make_world(CoordinateKind kind, const std::vector<WorldPoint>& points, std::uint64_t first_id = 0) {
  CloudInfo info = detail::make_info(kind, {});
  const CoordinateFrame frame = info.frame;
  return detail::make_cloud(std::move(info), points.size(), first_id, [&](std::byte* record, std::uint64_t k) {
    for (std::size_t d = 0; d < 3; ++d) {
      if (kind == CoordinateKind::kFloat32) {
        store_unaligned(record + frame.at[d], static_cast<float>(points[k][d]));
      } else {
        store_unaligned(record + frame.at[d], points[k][d]);
      }
    }
  });
}

inline std::vector<std::uint32_t> ids_of(const PointCloud& cloud) {
  std::vector<std::uint32_t> out;
  for (std::uint64_t i = 0; i < cloud.count(); ++i) out.push_back(get_field<std::uint32_t>(cloud, "id", i));
  return out;
}

/// Deterministic numbers for tests.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t bits() { return counter_random(seed_, counter_++); }
  /// From low to high, both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(high - low + 1));
  }
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

 private:
  std::uint64_t seed_;
  std::uint64_t counter_ = 0;
};

}  // namespace sluice::test
