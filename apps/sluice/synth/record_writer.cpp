// SPDX-License-Identifier: Apache-2.0
#include "record_writer.hpp"

#include <cmath>
#include <cstdint>

#include "sluice/core/error.hpp"
#include "sluice/core/types.hpp"

namespace sluice::synth {

namespace {

bool fits(double raw) { return raw >= -2147483648.0 && raw <= 2147483647.0; }

Unsupported too_large() { return Unsupported("the scene is too large for coordinates in steps of this scale"); }

void store(const Field& field, double value, std::byte* record) {
  std::byte* at = record + field.offset;
  if (field.scaled) value = (value - field.shift) / field.scale;
  if (field.type == FieldType::kFloat64) return store_unaligned(at, value);
  const auto whole = static_cast<std::int64_t>(std::nearbyint(value));
  if (field.bit_count != 0) {
    // Bit fields share a byte that starts out as zero.
    const auto bits = static_cast<std::uint8_t>(whole << field.bit_shift);
    return store_unaligned(at, static_cast<std::uint8_t>(load_unaligned<std::uint8_t>(at) | bits));
  }
  if (field_bytes(field.type) == 1) return store_unaligned(at, static_cast<std::uint8_t>(whole));
  store_unaligned(at, static_cast<std::uint16_t>(whole));
}

}  // namespace

RecordWriter::RecordWriter(const CloudInfo& info) : info_(info) {
  // In the order of `values` below.
  static constexpr const char* kNames[] = {"intensity",
                                           "return_number",
                                           "number_of_returns",
                                           "scan_direction_flag",
                                           "edge_of_flight_line",
                                           "classification",
                                           "scan_angle",
                                           "point_source_id",
                                           "gps_time",
                                           "red",
                                           "green",
                                           "blue",
                                           "nir",
                                           "ring"};
  for (const char* name : kNames) {
    const Field* field = info.schema.find(name);
    fields_.push_back(field == nullptr ? std::nullopt : std::optional<Field>(*field));
  }
}

void RecordWriter::write(const Sample& sample, std::byte* record) const {
  const double world[3] = {sample.x, sample.y, sample.z};
  for (int d = 0; d < 3; ++d) {
    const double raw = std::nearbyint((world[d] - info_.frame.offset[d]) / info_.frame.scale[d]);
    if (!fits(raw)) throw too_large();
    store_unaligned(record + info_.frame.at[d], static_cast<std::int32_t>(raw));
  }
  const double values[] = {static_cast<double>(sample.intensity),
                           static_cast<double>(sample.return_number),
                           static_cast<double>(sample.returns),
                           sample.scan_direction ? 1.0 : 0.0,
                           sample.edge ? 1.0 : 0.0,
                           static_cast<double>(sample.classification),
                           sample.scan_angle,
                           static_cast<double>(sample.source_id),
                           sample.gps_time,
                           static_cast<double>(sample.color[0]),
                           static_cast<double>(sample.color[1]),
                           static_cast<double>(sample.color[2]),
                           static_cast<double>(sample.color[3]),
                           static_cast<double>(sample.ring)};
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i]) store(*fields_[i], values[i], record);
  }
}

void require_room(const CoordinateFrame& frame, const Extent& extent) {
  for (int d = 0; d < 3; ++d) {
    for (const double corner : {extent.min[d], extent.max[d]}) {
      if (!fits((corner - frame.offset[d]) / frame.scale[d])) throw too_large();
    }
  }
}

}  // namespace sluice::synth
