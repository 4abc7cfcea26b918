// SPDX-License-Identifier: Apache-2.0
/// \file
/// The box that points lie in, the region that keeps some of them, and the cells that those are put in; each as this
/// project states it and as CUB users would.
#pragma once

#include <cstdint>

#include "sluice/core/cell_grid.hpp"
#include "sluice/core/hd.hpp"
#include "sluice/core/predicate_program.hpp"
#include "sluice/core/types.hpp"

#ifdef __CUDACC__
#include <vector_types.h>
#endif

namespace sluice::bench {

/// Edge of the box that points are in, in lattice numbers.
inline constexpr std::uint32_t kBox = 1U << 20;
/// A lattice step in world units.
inline constexpr double kStep = 0.001;

/// 2^bits cells on each axis.
struct CellBits {
  unsigned bits[3];
  [[nodiscard]] SLUICE_HD unsigned sum() const { return bits[0] + bits[1] + bits[2]; }
};

/// Row-major number of the cell of a point of the box below z_end.
struct CellNumber {
  /// \param edge  of a cell, in lattice steps
  SLUICE_HD CellNumber(const std::uint32_t edge[3], CellBits cells) : bits{cells.bits[0], cells.bits[1]} {
    for (int d = 0; d < 3; ++d) reciprocal[d] = (kOne + edge[d] - 1) / edge[d];
  }
  SLUICE_HD std::uint32_t of(std::int32_t x, std::int32_t y, std::int32_t z) const {
    return ((divided(z, 2) << bits[1] | divided(y, 1)) << bits[0]) | divided(x, 0);
  }
#ifdef __CUDACC__
  SLUICE_HD std::uint32_t operator()(const int4& p) const { return of(p.x, p.y, p.z); }
#endif
  SLUICE_HD std::uint32_t operator()(const uint128& p) const {
    return of(static_cast<std::int32_t>(p), static_cast<std::int32_t>(p >> 32), static_cast<std::int32_t>(p >> 64));
  }

 private:
  // Exact for values below 2^20: the reciprocal is too large by less than edge / 2^40, which times a value stays below
  // the distance to the next whole number.
  static constexpr std::uint64_t kOne = std::uint64_t{1} << 40;
  SLUICE_HD std::uint32_t divided(std::int32_t value, int d) const {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(value) * reciprocal[d] >> 40);
  }
  std::uint64_t reciprocal[3] = {};
  unsigned bits[2];
};

/// The points of the box with z < z_end.
struct Region {
  std::int32_t z_end;

  /// For this project.
  [[nodiscard]] PredicateProgram program() const {
    PredicateProgram out;
    PredicateOp box{};
    box.code = PredicateOp::Code::kLatticeBox;
    for (int d = 0; d < 3; ++d) {
      box.integers[d] = 0;
      box.integers[3 + d] = d == 2 ? z_end - 1 : static_cast<std::int32_t>(kBox) - 1;
    }
    out.ops.push_back(box);
    return out;
  }

  /// For CUB, on a point held as a vector type and as one wide integer.
  SLUICE_HD bool holds(std::int32_t x, std::int32_t y, std::int32_t z) const {
    const auto edge = static_cast<std::int32_t>(kBox);
    return x >= 0 && x < edge && y >= 0 && y < edge && z >= 0 && z < z_end;
  }
#ifdef __CUDACC__
  SLUICE_HD bool operator()(const int4& p) const { return holds(p.x, p.y, p.z); }
#endif
  SLUICE_HD bool operator()(const uint128& p) const {
    return holds(static_cast<std::int32_t>(p), static_cast<std::int32_t>(p >> 32), static_cast<std::int32_t>(p >> 64));
  }

  /// Edge of a cell on one axis, where the region is cut into cells.
  [[nodiscard]] std::uint32_t cell_edge(CellBits cells, int d) const {
    const std::uint32_t length = d == 2 ? static_cast<std::uint32_t>(z_end) : kBox;
    const std::uint32_t count = 1U << cells.bits[d];
    return length < count ? 1 : (length + count - 1) / count;
  }
  [[nodiscard]] CellNumber cell_number(CellBits cells) const {
    const std::uint32_t edge[3] = {cell_edge(cells, 0), cell_edge(cells, 1), cell_edge(cells, 2)};
    return {edge, cells};
  }
  [[nodiscard]] CellGrid grid(CellBits cells) const {
    GridSpec spec;
    CoordinateFrame frame;
    frame.kind = CoordinateKind::kLattice;
    for (int d = 0; d < 3; ++d) {
      spec.size[d] = static_cast<double>(cell_edge(cells, d)) / 1000.0;
      frame.scale[d] = kStep;
    }
    return make_cell_grid(spec, frame);
  }
};

}  // namespace sluice::bench
