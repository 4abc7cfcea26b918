// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a PCD file says beside its points. Source: the description of the format in the documentation of PCL; the
/// compressed form is described only by what PCL reads and writes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/io/columns.hpp"

namespace sluice::io {

/// How the points of a PCD file are stored.
enum class PcdData : std::uint8_t { kAscii, kBinary, kCompressed };
[[nodiscard]] std::string_view name_of(PcdData data);

class PcdMetadata final : public ColumnMetadata {
 public:
  PcdData data = PcdData::kBinary;
  std::uint64_t width = 0;                  ///< points of a row; of all points where `height` is 1
  std::uint64_t height = 1;                 ///< above 1 in an organized cloud
  std::string viewpoint = "0 0 0 1 0 0 0";  ///< translation and quaternion as spelt in the file; never applied

  [[nodiscard]] std::string format() const override { return "pcd"; }
  [[nodiscard]] std::string difference(const FormatMetadata& other) const override;
};

/// True where the points are in rows of a grid of more than one row.
[[nodiscard]] bool is_organized(const CloudInfo& info);

/// The same points without rows, for outputs whose points are in another order or come from several clouds.
[[nodiscard]] CloudInfo without_rows(const CloudInfo& info);

}  // namespace sluice::io
