// SPDX-License-Identifier: Apache-2.0
/// \file
/// Points that are rows of a file, as text or in binary form.
#pragma once

#include <cstdint>
#include <memory>

#include "../input_bytes.hpp"
#include "../source_base.hpp"
#include "layout.hpp"
#include "lines.hpp"
#include "text_row.hpp"

namespace sluice::io::columns {

/// Rows of text. `info.point_count` of them, behind `skipped` lines that would count as points.
struct TextPoints {
  std::shared_ptr<const InputBytes> bytes;
  CloudInfo info;
  Layout layout;
  Separator separator = ' ';
  TextBody body;  ///< a part of `bytes`
  LineIndex index;
  std::uint64_t skipped = 0;
  bool recovered = false;
};
[[nodiscard]] std::unique_ptr<ChunkSource> make_text_source(TextPoints points);

/// Rows of equal length that follow each other; all of them are in the file.
struct BinaryPoints {
  std::shared_ptr<const InputBytes> bytes;
  CloudInfo info;
  Layout layout;
  std::uint64_t at = 0;  ///< of the first row in the file
  bool big_endian = false;
  bool recovered = false;
};
/// Views rows where they are records as they are, else decodes them.
[[nodiscard]] std::unique_ptr<ChunkSource> make_binary_source(BinaryPoints points);

/// Why a coordinate of a point could not be read.
[[nodiscard]] std::string misfit(std::uint64_t point);

}  // namespace sluice::io::columns
