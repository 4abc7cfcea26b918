// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a PLY file says beside its points. Source: G. Turk's description of the format, and P. Bourke's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/io/columns.hpp"

namespace sluice::io {

/// How the elements of a PLY file are stored.
enum class PlyData : std::uint8_t { kAscii, kLittleEndian, kBigEndian };
[[nodiscard]] std::string_view name_of(PlyData data);

/// Points are the elements called "vertex". Their lists, and all other elements (faces, edges, cameras), are not kept:
/// no other format has them, and faces that name points by number would be wrong once points are chosen.
class PlyMetadata final : public ColumnMetadata {
 public:
  PlyData data = PlyData::kLittleEndian;
  bool sized_names = false;           ///< types are spelt float32, not float
  std::vector<std::string> comments;  ///< lines that begin with "comment" or "obj_info", in order

  [[nodiscard]] std::string format() const override { return "ply"; }
};

}  // namespace sluice::io
