// SPDX-License-Identifier: Apache-2.0
/// \file
/// The octree of COPC 1.0 files: which node a chunk is, and so where its points are.
/// Source: the COPC specification 1.0, and what files of other writers hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "laz_points.hpp"
#include "sluice/io/las.hpp"

namespace sluice::io::las {

inline constexpr std::string_view kCopc = "copc";
inline constexpr std::uint16_t kCopcInfoId = 1;
/// The record about the octree is the first one, and the header has this size, so that readers find it at once.
inline constexpr std::uint64_t kCopcInfoAt = 375;

/// A node with points.
struct CopcNode {
  std::int32_t level;
  std::int32_t at[3];    ///< which cube of its level, from the lower corner
  std::uint64_t offset;  ///< of its chunk in the file
  std::uint64_t bytes;
  std::uint64_t points;
};

/// Reads the record about the octree but for what only the hierarchy tells.
/// \param at  its place in the file, for messages
[[nodiscard]] std::optional<laz::Problem> parse_copc_info(std::span<const std::byte> payload, std::uint64_t at,
                                                          CopcInfo& info);

/// Walks all pages of the hierarchy, each once. Neither time nor memory exceed what the size of the file allows.
/// \param info  its root is read; receives the numbers of nodes and levels
[[nodiscard]] std::optional<laz::Problem> walk_copc_pages(std::span<const std::byte> file, CopcInfo& info,
                                                          std::vector<CopcNode>& nodes);

struct CopcFinding {
  CopcInfo info;
  std::vector<std::optional<Box>> bounds;  ///< one per chunk
  std::optional<laz::Problem> problem;     ///< why the rest is of no use
  std::vector<std::string> warnings;
};

/// Finds the bounds of chunks. Points, bytes and places of chunks are those of `points`; a hierarchy that does not
/// agree with them is a problem. So is a cube that does not hold the bounds in the header, and a node that does not
/// hold the first point of its chunk: of at most 64 nodes that is looked at.
[[nodiscard]] CopcFinding find_copc_bounds(std::span<const std::byte> info_payload, const LasHeader& header,
                                           const LazPoints& points);

}  // namespace sluice::io::las
