// SPDX-License-Identifier: Apache-2.0
/// \file
/// The record that tells how the points of a LAZ file are compressed: VLR "laszip encoded", 22204.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "items.hpp"
#include "problem.hpp"

namespace sluice::laz {

inline constexpr const char* kLaszipUserId = "laszip encoded";
inline constexpr std::uint16_t kLaszipRecordId = 22204;
inline constexpr std::uint32_t kDefaultChunkSize = 50000;

enum class Compressor : std::uint16_t {
  kNone = 0,
  kOneStream = 1,  ///< pointwise without chunks
  kPointwise = 2,
  kLayered = 3,
};

struct LaszipVlr {
  static constexpr std::uint32_t kVariable = 0xFFFFFFFFU;

  Compressor compressor = Compressor::kNone;
  std::uint16_t coder = 0;
  std::uint8_t version_major = 0;
  std::uint8_t version_minor = 0;
  std::uint16_t version_revision = 0;
  std::uint32_t options = 0;
  std::uint32_t chunk_size = kDefaultChunkSize;  ///< points, or kVariable, which 0 means too
  std::int64_t special_evlrs = -1;
  std::int64_t special_evlrs_at = -1;
  std::vector<Item> items;

  /// Chunks of any size, each counted in the chunk table.
  [[nodiscard]] bool has_variable_chunks() const { return chunk_size == kVariable || chunk_size == 0; }
};

/// Reads the record's payload. Problems have offsets from its begin.
/// \returns what makes it unreadable
[[nodiscard]] std::optional<Problem> parse_laszip_vlr(std::span<const std::byte> payload, LaszipVlr& out);

/// \returns why points of this format and record length cannot be decoded by it
[[nodiscard]] std::optional<Problem> check_laszip_vlr(const LaszipVlr& vlr, std::uint32_t point_format,
                                                      std::uint32_t record_bytes);

/// For a new file.
/// \param chunk_size  points, or LaszipVlr::kVariable
[[nodiscard]] LaszipVlr make_laszip_vlr(std::uint32_t point_format, std::uint32_t extra_bytes,
                                        std::uint32_t chunk_size);

[[nodiscard]] std::vector<std::byte> serialise(const LaszipVlr& vlr);

}  // namespace sluice::laz
