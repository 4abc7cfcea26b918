// SPDX-License-Identifier: Apache-2.0
/// \file
/// A run of whole point records that somebody else owns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sluice/core/schema.hpp"
#include "sluice/core/types.hpp"

namespace sluice {

/// How the x, y and z of a record become world coordinates. The schema has fields "x", "y" and "z"; on a lattice they
/// are int32 and the scale and offset here apply (the fields' own are the same numbers).
struct CoordinateFrame {
  CoordinateKind kind = CoordinateKind::kFloat64;
  double scale[3] = {1.0, 1.0, 1.0};
  double offset[3] = {0.0, 0.0, 0.0};
  std::uint32_t at[3] = {0, 0, 0};  ///< byte offset of x, y, z in the record

  /// The positions of records that start at `records` and follow each other every `stride` bytes.
  [[nodiscard]] Positions positions(const std::byte* records, std::uint64_t stride) const {
    Positions out;
    out.kind = kind;
    out.x = records + at[0];
    out.y = records + at[1];
    out.z = records + at[2];
    out.stride = stride;
    for (int axis = 0; axis < 3; ++axis) {
      out.scale[axis] = scale[axis];
      out.offset[axis] = offset[axis];
    }
    return out;
  }
};

/// Non-owning view of `count` records, `stride` bytes apart, in order. Valid as long as the memory behind it.
struct PointView {
  const std::byte* records = nullptr;
  std::uint64_t count = 0;
  std::uint64_t stride = 0;
};

/// Copies the first `record_bytes` bytes of every record of a view to `out`, without gaps; they must not overlap.
inline void copy_records(const PointView& view, std::uint64_t record_bytes, std::byte* out) {
  if (view.count == 0) return;
  if (view.stride == record_bytes) {
    std::memcpy(out, view.records, view.count * record_bytes);
    return;
  }
  for (std::uint64_t i = 0; i < view.count; ++i) {
    std::memcpy(out + i * record_bytes, view.records + i * view.stride, record_bytes);
  }
}

}  // namespace sluice
