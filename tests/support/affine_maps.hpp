// SPDX-License-Identifier: Apache-2.0
/// \file
/// A type and an operator for scans that no variant is instantiated for: maps x -> slope x + offset modulo 2^32, one
/// after the other, which depends on their order.
#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include "kernels/simt/words.hpp"
#include "sluice/core/random.hpp"

namespace sluice::test {

struct AffineMap {
  std::uint32_t slope;
  std::uint32_t offset;
  friend bool operator==(const AffineMap&, const AffineMap&) = default;
  friend std::ostream& operator<<(std::ostream& to, const AffineMap& map) {
    return to << map.slope << " x + " << map.offset;
  }
};

/// First `a`, then `b`.
struct Compose {
  template <typename T>
  [[nodiscard]] SLUICE_SIMT static constexpr T identity() {
    return T{1, 0};
  }
  [[nodiscard]] SLUICE_SIMT constexpr AffineMap operator()(AffineMap a, AffineMap b) const {
    return {b.slope * a.slope, b.slope * a.offset + b.offset};
  }
};

/// Slopes are odd, so that no map forgets what came before it.
inline std::vector<AffineMap> random_maps(std::uint64_t n) {
  std::vector<AffineMap> out(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t r = counter_random(n, i);
    out[i] = {static_cast<std::uint32_t>(r) | 1, static_cast<std::uint32_t>(r >> 32)};
  }
  return out;
}

inline std::vector<AffineMap> composed(const std::vector<AffineMap>& in, bool inclusive) {
  std::vector<AffineMap> out(in.size());
  AffineMap all{1, 0};
  for (std::size_t i = 0; i < in.size(); ++i) {
    const AffineMap before = all;
    all = {in[i].slope * before.slope, in[i].slope * before.offset + in[i].offset};
    out[i] = inclusive ? all : before;
  }
  return out;
}

}  // namespace sluice::test
