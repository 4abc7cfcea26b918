// SPDX-License-Identifier: Apache-2.0
/// \file
/// A predicate program that owns its tables, on the host. Made by `predicate_builder.hpp`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/core/predicate.hpp"

namespace sluice {

/// Operations and their tables. Immutable once built; may be shared between threads.
struct PredicateProgram {
  std::vector<PredicateOp> ops;
  std::vector<LatticeEdge> lattice_edges;
  std::vector<WorldEdge> world_edges;
  std::vector<std::uint32_t> bands;  ///< where the edges of each band begin; one more per polygon than it has bands
  std::vector<Value> values;
  std::vector<std::string> columns;  ///< names of the schema's fields that the slots stand for
  bool needs_world = false;
  bool drop_zero = false;
  bool zero_exists = false;
  std::int32_t zero[3] = {0, 0, 0};

  /// True where every point with finite coordinates is kept and zeros are ordinary points.
  [[nodiscard]] bool keeps_all() const { return ops.empty() && !drop_zero; }

  /// How many edges a point in the boxes of all polygons is tested against, with all bands equally likely: what the
  /// cost of a point grows with. Points beyond the boxes cost less.
  [[nodiscard]] double edges_per_point() const {
    double edges = 0.0;
    for (const PredicateOp& op : ops) {
      if (op.code != PredicateOp::Code::kLatticePolygon && op.code != PredicateOp::Code::kWorldPolygon) continue;
      edges += static_cast<double>(bands[op.first + op.count] - bands[op.first]) / op.count;
    }
    return edges;
  }

  /// The program over host tables. \param bound one column per slot, or null if there is none
  [[nodiscard]] PredicateView view(const Column* bound) const {
    PredicateView out;
    out.ops = ops.data();
    out.op_count = static_cast<std::uint32_t>(ops.size());
    out.lattice_edges = lattice_edges.data();
    out.world_edges = world_edges.data();
    out.bands = bands.data();
    out.values = values.data();
    out.columns = bound;
    out.needs_world = needs_world;
    out.drop_zero = drop_zero;
    out.zero_exists = zero_exists;
    for (int d = 0; d < 3; ++d) out.zero[d] = zero[d];
    return out;
  }
};

}  // namespace sluice
