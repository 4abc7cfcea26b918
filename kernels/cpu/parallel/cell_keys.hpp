// SPDX-License-Identifier: Apache-2.0
/// \file
/// Keys of the cells of many points at once, for a grid and a layout that are known to hold them all. The keys are
/// those of `cell_of` and `key_of`.
///
/// As no cell lies below the layout's lower corner, axes count from there and numerators are not negative: truncation
/// is then the floor. A quotient is guessed in doubles and put right with exact numbers.
#pragma once

#include <cstdint>

#include "kernels/cpu/parallel/judge.hpp"
#include "sluice/core/cell_grid.hpp"
#include "sluice/core/cell_key.hpp"

namespace sluice::kernels {

class CellKeys {
 public:
  CellKeys(const CellGrid& grid, const KeyLayout& layout);

  /// Keys of `count` <= kTile points; K must hold `layout.key_bits`.
  template <typename K>
  void keys(const TilePositions& tile, std::uint64_t count, K* out) const;

 private:
  enum class Method : std::uint8_t {
    kExact,   ///< lattice: all numbers are exact in doubles
    kWide,    ///< lattice: 128-bit numbers decide close to a face, doubles elsewhere
    kDivide,  ///< float clouds
    kPlain,   ///< whatever fits none of these: point by point
  };
  struct Axis {
    double a = 0.0, b = 0.0, s = 1.0, inverse = 1.0;
    double margin = 0.0;  ///< kWide: how close to a face a guess must be checked
    int128 wide_a = 0, wide_b = 0, wide_s = 1;
    double origin = 0.0, size = 1.0;
    std::int32_t min = 0;
    Method method = Method::kPlain;
  };

  void choose(int d);
  void along_axis(int d, const TilePositions& tile, std::uint64_t count, std::int32_t* at) const;
  void plain_keys(const TilePositions& tile, std::uint64_t count, std::uint64_t* out) const;

  CellGrid grid_;
  KeyLayout layout_;
  Axis axis_[3];
  int axes_;
  bool plain_;  ///< also for columns whose layout does not start at iz = 0
};

extern template void CellKeys::keys(const TilePositions&, std::uint64_t, std::uint32_t*) const;
extern template void CellKeys::keys(const TilePositions&, std::uint64_t, std::uint64_t*) const;

}  // namespace sluice::kernels
