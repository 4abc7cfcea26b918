// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any bytes at all as the hierarchy of a COPC file: the record about the octree, chunks, and pages behind them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "io/src/las/copc.hpp"

namespace {

using namespace sluice::io::las;
using sluice::load_unaligned, sluice::store_unaligned;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "property violated: %s\n", what);
  std::abort();
}

constexpr std::size_t kInfoBytes = 160;
constexpr std::uint64_t kChunkBytes = 64;

}  // namespace

/// The input: number of chunks, the record, and the pages; their offsets count from the first page, so that they can be
/// right.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 + kInfoBytes) return 0;
  const std::span<const std::byte> input = std::as_bytes(std::span(data, size));
  const std::uint64_t chunks = static_cast<std::uint64_t>(input[0]) % 16;
  std::vector<std::byte> info(input.begin() + 1, input.begin() + 1 + kInfoBytes);
  const std::uint64_t pages_at = chunks * kChunkBytes;
  store_unaligned(info.data() + 40, load_unaligned<std::uint64_t>(info.data() + 40) + pages_at);

  LazPoints points;
  for (std::uint64_t i = 0; i < chunks; ++i) points.chunks.push_back({i * kChunkBytes, kChunkBytes, 3 * i, 3, i == 5});
  std::vector<std::byte> file(pages_at);
  file.insert(file.end(), input.begin() + 1 + kInfoBytes, input.end());
  for (std::size_t at = pages_at; at + 32 <= file.size(); at += 32) {
    if (load_unaligned<std::int32_t>(file.data() + at + 28) >= 0) continue;
    store_unaligned(file.data() + at + 16, load_unaligned<std::uint64_t>(file.data() + at + 16) + pages_at);
  }
  points.file = file;

  sluice::io::CopcInfo walked;
  std::vector<CopcNode> nodes;
  if (!parse_copc_info(info, 0, walked) && !walk_copc_pages(file, walked, nodes)) {
    require(walked.nodes * 32 <= file.size() && nodes.size() <= walked.nodes, "no more nodes than bytes hold");
  }
  sluice::io::LasHeader header;
  if ((input[0] & std::byte{0x80}) != std::byte{0}) {
    // Steps so large that all nodes hold the only place that there is.
    header.offset = header.min = header.max = walked.center;
    header.scale.fill(walked.halfsize);
  }
  const CopcFinding finding = find_copc_bounds(info, header, points);
  require(finding.problem ? finding.bounds.empty() : finding.bounds.size() == points.chunks.size(),
          "all chunks or none are looked at");
  for (const auto& box : finding.bounds) {
    if (!box) continue;
    for (std::size_t d = 0; d < 3; ++d) {
      require(box->min[d] <= header.offset[d] && header.offset[d] <= box->max[d], "a node holds its first point");
    }
  }
  return 0;
}
