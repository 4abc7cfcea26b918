// SPDX-License-Identifier: Apache-2.0
#include "copc.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "las_layout.hpp"

namespace sluice::io::las {
namespace {

constexpr std::uint64_t kInfoBytes = 160;
constexpr std::uint64_t kEntryBytes = 32;
constexpr std::int32_t kChildPage = -1;  ///< instead of a number of points
constexpr std::int32_t kDeepest = 31;    ///< the cubes of deeper levels have numbers beyond 31 bits

std::string number(std::uint64_t value) { return std::to_string(value); }

struct Page {
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint64_t named_at;  ///< where the file says so
};

std::string name_of(const CopcNode& node) {
  return "node " + std::to_string(node.level) + "-" + std::to_string(node.at[0]) + "-" + std::to_string(node.at[1]) +
         "-" + std::to_string(node.at[2]);
}

bool is_cube(const CopcNode& node) {
  if (node.level < 0 || node.level > kDeepest) return false;
  const std::int64_t cubes = std::int64_t{1} << node.level;
  return std::all_of(std::begin(node.at), std::end(node.at), [&](std::int32_t i) { return i >= 0 && i < cubes; });
}

/// The cube of a node, and a little more. Writers choose the node by a coordinate before they round it to the lattice,
/// or compute the cubes in another way than readers do, so that points may lie on the wrong side of a face by some
/// steps, and in large cubes by the rounding of whatever they compute in.
Box box_of(const CopcInfo& info, const CopcNode& node, const std::array<double, 3>& scale) {
  constexpr double kPart = 1e-3;
  constexpr double kSteps = 4.0;
  Box box;
  const double side = std::ldexp(2.0 * info.halfsize, -node.level);
  for (std::size_t d = 0; d < 3; ++d) {
    const double low = (info.center[d] - info.halfsize) + side * node.at[d];
    const double more = kPart * side + kSteps * std::fabs(scale[d]);
    box.min[d] = low - more;
    box.max[d] = low + side + more;
  }
  return box;
}

/// Whether a box holds all between two corners; false for what is not a number.
bool holds(const Box& box, const std::array<double, 3>& low, const std::array<double, 3>& high) {
  for (std::size_t d = 0; d < 3; ++d) {
    if (!(box.min[d] <= low[d] && low[d] <= high[d] && high[d] <= box.max[d])) return false;
  }
  return true;
}

/// A node, of some spread evenly over all, that does not hold the first point of its chunk, which every writer stores
/// as it is. Each looked at costs a page of the file, and reading more would touch a page of every chunk of a large
/// one. So what is wrong with few chunks, or with few points of each, may pass.
/// \param nodes  each has a chunk
const CopcNode* node_elsewhere(const CopcInfo& info, const std::vector<CopcNode>& nodes, const LasHeader& header,
                               std::span<const std::byte> file) {
  constexpr std::size_t kMostNodes = 64;
  constexpr std::size_t kPositionBytes = 12;
  const std::size_t count = std::min(nodes.size(), kMostNodes);
  for (std::size_t i = 0; i < count; ++i) {
    const CopcNode& node = nodes[i * nodes.size() / count];
    // Whoever decodes the chunk will say that it is cut short.
    if (node.bytes < kPositionBytes || node.offset > file.size() || file.size() - node.offset < kPositionBytes) {
      continue;
    }
    std::array<double, 3> place;
    for (std::size_t d = 0; d < 3; ++d) {
      place[d] = get<std::int32_t>(file.data() + node.offset, 4 * d) * header.scale[d] + header.offset[d];
    }
    if (!holds(box_of(info, node, header.scale), place, place)) return &node;
  }
  return nullptr;
}

/// The chunk that a node names, among chunks in the order of the file.
/// \return their number where there is none of the same place, bytes and points
std::size_t chunk_of(const CopcNode& node, const std::vector<laz::Chunk>& chunks) {
  const auto found =
      std::lower_bound(chunks.begin(), chunks.end(), node.offset,
                       [](const laz::Chunk& chunk, std::uint64_t offset) { return chunk.offset < offset; });
  if (found == chunks.end() || found->offset != node.offset || found->bytes != node.bytes) return chunks.size();
  // The header may count fewer points than are stored.
  const bool same = found->surplus ? found->points <= node.points : found->points == node.points;
  return same ? static_cast<std::size_t>(found - chunks.begin()) : chunks.size();
}

}  // namespace

std::optional<laz::Problem> parse_copc_info(std::span<const std::byte> payload, std::uint64_t at, CopcInfo& info) {
  const char* field = "COPC info";
  if (payload.size() != kInfoBytes) {
    return laz::Problem{at, field, number(payload.size()) + " bytes, not " + number(kInfoBytes)};
  }
  const std::byte* from = payload.data();
  bool finite = true;
  for (std::size_t d = 0; d < 3; ++d) {
    info.center[d] = get<double>(from, 8 * d);
    finite = finite && is_finite(info.center[d]);
  }
  info.halfsize = get<double>(from, 24);
  info.spacing = get<double>(from, 32);
  info.root_offset = get<std::uint64_t>(from, 40);
  info.root_bytes = get<std::uint64_t>(from, 48);
  info.min_gps_time = get<double>(from, 56);
  info.max_gps_time = get<double>(from, 64);
  if (!finite || !is_finite(info.halfsize) || !(info.halfsize >= 0.0)) {
    return laz::Problem{at, field, "centre and half size are no cube"};
  }
  return std::nullopt;
}

std::optional<laz::Problem> walk_copc_pages(std::span<const std::byte> file, CopcInfo& info,
                                            std::vector<CopcNode>& nodes) {
  const char* field = "COPC hierarchy";
  // Pages that do not overlap have no more entries than this.
  const std::uint64_t most_entries = file.size() / kEntryBytes;
  std::uint64_t entries = 0;
  std::unordered_set<std::uint64_t> seen;
  std::vector<Page> pages{{info.root_offset, info.root_bytes, kCopcInfoAt + kVlrHeaderBytes + 40}};
  while (!pages.empty()) {
    const Page page = pages.back();
    pages.pop_back();
    const auto problem = [&](std::uint64_t at, std::string text) { return laz::Problem{at, field, std::move(text)}; };
    const std::string name = "a page of " + number(page.bytes) + " bytes at byte " + number(page.offset);
    if (page.offset > file.size() || page.bytes > file.size() - page.offset) {
      return problem(page.named_at, name + ", and the file ends at byte " + number(file.size()));
    }
    if (page.bytes % kEntryBytes != 0) {
      return problem(page.named_at, name + ", and an entry has " + number(kEntryBytes));
    }
    if (!seen.insert(page.offset).second) return problem(page.named_at, name + ", which is named twice");
    entries += page.bytes / kEntryBytes;
    if (entries > most_entries) return problem(page.named_at, name + ", and pages overlap");
    for (std::uint64_t at = page.offset; at < page.offset + page.bytes; at += kEntryBytes) {
      const std::byte* entry = file.data() + at;
      CopcNode node{};
      node.level = get<std::int32_t>(entry, 0);
      for (std::size_t d = 0; d < 3; ++d) node.at[d] = get<std::int32_t>(entry, 4 + 4 * d);
      node.offset = get<std::uint64_t>(entry, 16);
      const auto bytes = get<std::int32_t>(entry, 24);
      const auto points = get<std::int32_t>(entry, 28);
      if (!is_cube(node)) return problem(at, name_of(node) + ", which no octree has");
      if (bytes < 0) return problem(at + 24, name_of(node) + " has " + std::to_string(bytes) + " bytes");
      if (points < kChildPage) return problem(at + 28, name_of(node) + " has " + std::to_string(points) + " points");
      node.bytes = static_cast<std::uint64_t>(bytes);
      if (points == kChildPage) {
        pages.push_back({node.offset, node.bytes, at + 16});
        continue;
      }
      ++info.nodes;
      info.levels = std::max(info.levels, static_cast<std::uint32_t>(node.level) + 1);
      if (points == 0) continue;
      node.points = static_cast<std::uint64_t>(points);
      nodes.push_back(node);
    }
  }
  return std::nullopt;
}

CopcFinding find_copc_bounds(std::span<const std::byte> info_payload, const LasHeader& header,
                             const LazPoints& points) {
  CopcFinding out;
  std::vector<CopcNode> nodes;
  if ((out.problem = parse_copc_info(info_payload, kCopcInfoAt + kVlrHeaderBytes, out.info))) return out;
  if ((out.problem = walk_copc_pages(points.file, out.info, nodes))) return out;

  if (points.count() > 0 && !holds(box_of(out.info, CopcNode{}, header.scale), header.min, header.max)) {
    out.problem = laz::Problem{kCopcInfoAt + kVlrHeaderBytes, "COPC info",
                               "the cube does not hold the bounds that the header tells"};
    return out;
  }

  const std::vector<laz::Chunk>& chunks = points.chunks;
  out.bounds.resize(chunks.size());
  const auto contradiction = [&](const CopcNode& node, const std::string& text) {
    out.problem = laz::Problem{node.offset, "COPC hierarchy", name_of(node) + " " + text};
    out.bounds.clear();
    return out;
  };
  for (const CopcNode& node : nodes) {
    const std::size_t chunk = chunk_of(node, chunks);
    if (chunk == chunks.size()) {
      return contradiction(node, "is said to be " + number(node.points) + " points in " + number(node.bytes) +
                                     " bytes, and no chunk is");
    }
    if (out.bounds[chunk]) return contradiction(node, "has the chunk of another one");
    out.bounds[chunk] = box_of(out.info, node, header.scale);
  }
  const auto key = [](const CopcNode& node) { return std::tuple(node.level, node.at[0], node.at[1], node.at[2]); };
  std::sort(nodes.begin(), nodes.end(), [&](const CopcNode& a, const CopcNode& b) { return key(a) < key(b); });
  const auto twice = std::adjacent_find(nodes.begin(), nodes.end(),
                                        [&](const CopcNode& a, const CopcNode& b) { return key(a) == key(b); });
  if (twice != nodes.end()) return contradiction(*twice, "is listed twice");
  if (const CopcNode* node = node_elsewhere(out.info, nodes, header, points.file)) {
    return contradiction(*node, "does not hold the first point of its chunk");
  }
  if (nodes.size() < chunks.size()) {
    out.warnings.push_back("COPC hierarchy: " + number(chunks.size() - nodes.size()) + " of " + number(chunks.size()) +
                           " chunks belong to no node; they are always read");
  }
  return out;
}

}  // namespace sluice::io::las
