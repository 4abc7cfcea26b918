// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lists the edges of a polygon by bands of y, so that a point is tested against few of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sluice/core/predicate_program.hpp"

namespace sluice {

namespace detail {

/// Most bands of a polygon.
inline constexpr std::size_t kMostBands = std::size_t{1} << 20;
/// The edges are listed at most so many times on average, which bounds the memory of a program.
inline constexpr std::size_t kMostCopies = 4;

/// Cuts the box, whose height is not 0, into at most `most` bands.
inline void set_bands(PredicateOp& polygon, std::int64_t* box, std::size_t most) {
  const std::int64_t last = box[3] - 1 - box[1];
  polygon.integers[8] = 0;
  while (static_cast<std::uint64_t>(last >> polygon.integers[8]) >= most) ++polygon.integers[8];
  polygon.count = static_cast<std::uint32_t>(last >> polygon.integers[8]) + 1;
}

inline void set_bands(PredicateOp& polygon, double* box, std::size_t most) {
  const double height = box[3] - box[1];
  polygon.reals[4] = static_cast<double>(most) / height;
  polygon.count = static_cast<std::uint32_t>(most);
  if (std::isfinite(height) && std::isfinite(polygon.reals[4])) return;
  // Too high or too low to be cut.
  polygon.reals[4] = 0.0;
  polygon.count = 1;
}

inline std::int64_t* box_of(PredicateOp& polygon, const LatticeEdge&) { return polygon.integers + 4; }
inline double* box_of(PredicateOp& polygon, const WorldEdge&) { return polygon.reals; }

inline std::vector<LatticeEdge>& edges_of(PredicateProgram& program, const LatticeEdge&) {
  return program.lattice_edges;
}
inline std::vector<WorldEdge>& edges_of(PredicateProgram& program, const WorldEdge&) { return program.world_edges; }

}  // namespace detail

/// Gives a polygon operation its edges: sets its box, its bands and their place in the tables of the program. The
/// program grows by at most four times the edges.
/// \param program  its tables are appended to; `polygon` may be one of its operations
/// \param polygon  a kLatticePolygon with its slopes and shifts set, or a kWorldPolygon
/// \param edges    LatticeEdge or WorldEdge, of closed rings, lower end first; horizontal ones are left out
template <typename EdgeT>
void add_edges(PredicateProgram& program, PredicateOp& polygon, const std::vector<EdgeT>& edges) {
  auto* const box = detail::box_of(polygon, EdgeT{});
  std::vector<EdgeT>& listed = detail::edges_of(program, EdgeT{});
  polygon.first = static_cast<std::uint32_t>(program.bands.size());
  if (edges.empty()) {
    // Nothing is in a box of size 0, so that its band is never looked up.
    polygon.count = 1;
    std::fill_n(box, 4, 0);
    program.bands.insert(program.bands.end(), 2, static_cast<std::uint32_t>(listed.size()));
    return;
  }
  box[0] = std::min(edges[0].x0, edges[0].x1);
  box[1] = edges[0].y0;
  box[2] = std::max(edges[0].x0, edges[0].x1);
  box[3] = edges[0].y1;
  for (const EdgeT& e : edges) {
    box[0] = std::min({box[0], e.x0, e.x1});
    box[1] = std::min(box[1], e.y0);
    box[2] = std::max({box[2], e.x0, e.x1});
    box[3] = std::max(box[3], e.y1);
  }

  // The end of an edge is no part of it; where it is the end of the box it has no band.
  const auto last_band = [&](const EdgeT& e) { return std::min(detail::band_of(polygon, e.y1), polygon.count - 1); };
  const auto copies = [&] {
    std::uint64_t total = 0;
    for (const EdgeT& e : edges) total += last_band(e) - detail::band_of(polygon, e.y0) + 1;
    return total;
  };
  std::size_t most = std::min(edges.size(), detail::kMostBands);
  detail::set_bands(polygon, box, most);
  while (copies() > detail::kMostCopies * edges.size()) detail::set_bands(polygon, box, most /= 2);

  std::vector<std::uint32_t> ends(polygon.count, 0);
  for (const EdgeT& e : edges) {
    for (std::uint32_t b = detail::band_of(polygon, e.y0); b <= last_band(e); ++b) ++ends[b];
  }
  ends[0] += static_cast<std::uint32_t>(listed.size());
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  program.bands.push_back(static_cast<std::uint32_t>(listed.size()));
  program.bands.insert(program.bands.end(), ends.begin(), ends.end());
  // Filled from the end of each band, which becomes its beginning.
  listed.resize(ends.back());
  for (auto e = edges.rbegin(); e != edges.rend(); ++e) {
    for (std::uint32_t b = detail::band_of(polygon, e->y0); b <= last_band(*e); ++b) listed[--ends[b]] = *e;
  }
}

}  // namespace sluice
