// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operations of predicate programs, put together by hand.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "sluice/core/predicate_program.hpp"

namespace sluice::test {

using Code = PredicateOp::Code;

inline PredicateOp op_of(Code code) {
  PredicateOp out{};
  out.code = code;
  return out;
}

inline PredicateOp real_op(Code code, std::initializer_list<double> reals) {
  PredicateOp out = op_of(code);
  std::copy(reals.begin(), reals.end(), out.reals);
  return out;
}

inline PredicateOp lattice_box(std::initializer_list<std::int64_t> corners) {
  PredicateOp out = op_of(Code::kLatticeBox);
  std::copy(corners.begin(), corners.end(), out.integers);
  return out;
}

inline Operand column_operand(std::uint32_t slot) {
  Operand out{};
  out.index = slot;
  out.kind = Operand::Kind::kColumn;
  return out;
}

inline Operand scaled_operand(std::uint32_t slot, double scale, double shift) {
  Operand out = column_operand(slot);
  out.kind = Operand::Kind::kScaledColumn;
  out.scale = scale;
  out.shift = shift;
  return out;
}

inline Operand axis_operand(Operand::Kind kind, std::uint32_t axis) {
  Operand out{};
  out.index = axis;
  out.kind = kind;
  return out;
}

inline Operand constant_operand(Value value) {
  Operand out{};
  out.constant = value;
  out.kind = Operand::Kind::kConstant;
  return out;
}

inline PredicateOp compare_op(Operand left, Comparison comparison, Operand right) {
  PredicateOp out = op_of(Code::kCompare);
  out.operands[0] = left;
  out.operands[1] = right;
  out.comparison = comparison;
  return out;
}

/// A sector from azimuth `from` to `to`, counter-clockwise, in degrees; the two may be the same.
inline PredicateOp azimuth_op(double apex_x, double apex_y, double from, double to) {
  constexpr double kDegree = 0.017453292519943295;
  double width = std::fmod(to - from, 360.0);
  if (width < 0.0) width += 360.0;
  // Quarter turns are exact, as a user expects of them.
  const auto direction = [](double degrees, double& c, double& s) {
    const double turn = std::fmod(std::fmod(degrees, 360.0) + 360.0, 360.0);
    c = turn == 90.0 || turn == 270.0 ? 0.0 : std::cos(turn * kDegree);
    s = turn == 0.0 || turn == 180.0 ? 0.0 : std::sin(turn * kDegree);
  };
  PredicateOp out = real_op(Code::kAzimuth, {apex_x, apex_y, 0.0});
  direction(from, out.reals[3], out.reals[4]);
  direction(to, out.reals[5], out.reals[6]);
  out.flag = width > 180.0;
  out.count = width < 90.0 ? 1 : 0;
  return out;
}

/// Adds the edges of a ring, lower end first, without those that run level.
inline void add_ring(std::vector<WorldEdge>& edges, const std::vector<std::pair<double, double>>& ring) {
  for (std::size_t i = 0; i < ring.size(); ++i) {
    auto a = ring[i];
    auto b = ring[(i + 1) % ring.size()];
    if (a.second == b.second) continue;
    if (a.second > b.second) std::swap(a, b);
    edges.push_back({a.first, a.second, b.first, b.second});
  }
}

inline void add_ring(std::vector<LatticeEdge>& edges, const std::vector<std::pair<std::int64_t, std::int64_t>>& ring) {
  for (std::size_t i = 0; i < ring.size(); ++i) {
    auto a = ring[i];
    auto b = ring[(i + 1) % ring.size()];
    if (a.second == b.second) continue;
    if (a.second > b.second) std::swap(a, b);
    edges.push_back({a.first, a.second, b.first, b.second});
  }
}

}  // namespace sluice::test
