// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the crop and the binning have in common: points, the region that keeps half of them, and the shapes in which
/// CUB users hold a 16-byte point.
#pragma once

#include <cstdint>

#include "gpu.hpp"
#include "sluice/core/hd.hpp"
#include "sluice/core/predicate_program.hpp"
#include "sluice/kernels/operations.hpp"

namespace sluice::bench {

inline constexpr double kMetresPerStep = 0.001;

/// Keeps the lower half of the box.
inline PredicateProgram lower_half() {
  PredicateProgram out;
  PredicateOp box{};
  box.code = PredicateOp::Code::kLatticeBox;
  for (int d = 0; d < 3; ++d) {
    box.integers[d] = 0;
    box.integers[3 + d] = d == 2 ? kBox / 2 - 1 : kBox - 1;
  }
  out.ops.push_back(box);
  return out;
}

inline kernels::PointInput input_of(const DeviceArray<Record16>& points) {
  kernels::PointInput out;
  out.positions = Positions::packed(points.data(), CoordinateKind::kLattice);
  for (int d = 0; d < 3; ++d) out.positions.scale[d] = kMetresPerStep;
  out.count = points.count();
  return out;
}

/// The same region for CUB, on a point held as a vector type and as one wide integer.
struct InLowerHalf {
  SLUICE_HD bool box(std::int32_t x, std::int32_t y, std::int32_t z) const {
    const auto edge = static_cast<std::int32_t>(kBox);
    return x >= 0 && x < edge && y >= 0 && y < edge && z >= 0 && z < edge / 2;
  }
  SLUICE_HD bool operator()(const int4& p) const { return box(p.x, p.y, p.z); }
  SLUICE_HD bool operator()(const uint128& p) const {
    return box(static_cast<std::int32_t>(p), static_cast<std::int32_t>(p >> 32), static_cast<std::int32_t>(p >> 64));
  }
};

}  // namespace sluice::bench
