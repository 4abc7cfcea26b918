// SPDX-License-Identifier: Apache-2.0
/// \file
/// Runs a predicate program over many points at once: operation by operation over a tile of points, so that every
/// operation is one tight loop, with the same verdicts as `evaluate` point by point.
#pragma once

#include <cstdint>

#include "sluice/core/predicate_program.hpp"
#include "sluice/core/types.hpp"
#include "sluice/kernels/operations.hpp"

namespace sluice::kernels {

/// Points of a tile: their positions by axis and a few truth values fit the first cache.
inline constexpr std::uint64_t kTile = 512;

/// Positions of some points, by axis.
struct TilePositions {
  std::int32_t raw[3][kTile];  ///< lattice
  double world[3][kTile];      ///< float clouds; on a lattice where `complete` was called

  /// Loads `count` points from `first` on.
  void load(const Positions& positions, std::uint64_t first, std::uint64_t count);
  /// Loads the points with the given numbers.
  void load(const Positions& positions, const std::uint32_t* rows, std::uint64_t count);
  /// Point i of the tile. On a lattice world coordinates are left unset.
  [[nodiscard]] Position position(CoordinateKind kind, std::uint64_t i) const {
    Position out{};
    for (int d = 0; d < 3; ++d) {
      if (kind == CoordinateKind::kLattice) {
        out.raw[d] = raw[d][i];
      } else {
        out.world[d] = world[d][i];
      }
    }
    return out;
  }
  /// Sets the world coordinates of lattice points.
  void complete(const Positions& positions, std::uint64_t count);
};

/// A program, and what can be said of it once and for all.
class ParallelPredicate final : public PreparedPredicate {
 public:
  explicit ParallelPredicate(const PredicateProgram& program);
  [[nodiscard]] const PredicateProgram& program() const { return program_; }
  /// False where the program must be run point by point: it needs a deeper stack than a tile has, or none was left.
  [[nodiscard]] bool tiled() const { return tiled_; }
  [[nodiscard]] bool reads_positions() const { return reads_positions_; }

 private:
  PredicateProgram program_;
  bool tiled_ = true;
  bool reads_positions_ = false;
};

/// Deepest stack of truth values that is kept for a whole tile.
inline constexpr int kTileDepth = 16;

/// A program bound to the points and columns of one call. Constant once made, so that many threads may use it.
class Judge {
 public:
  /// \throws InvalidArgument where the input does not fit the predicate
  Judge(const ParallelPredicate& predicate, const PointInput& input);

  /// Decides `count` <= kTile points from `first` on.
  /// \param tile  its positions are those of the points afterwards if `want_positions`, else unspecified
  void tile(std::uint64_t first, std::uint64_t count, bool want_positions, TilePositions& tile,
            std::uint8_t* verdicts) const;
  /// Decides the points begin..end into verdicts[begin..end].
  void range(std::uint64_t begin, std::uint64_t end, std::uint8_t* verdicts) const;

  [[nodiscard]] const PointInput& input() const { return input_; }
  /// True where the verdicts do not depend on the points.
  [[nodiscard]] bool keeps_all() const { return keeps_all_; }

 private:
  /// A test of one integer by a range, or by a table of all its values.
  struct IntegerTest {
    enum class Kind : std::uint8_t { kNone, kRange, kTable };
    Kind kind = Kind::kNone;
    bool negate = false;
    bool on_axis = false;     ///< of a lattice number, else of a column
    std::uint32_t index = 0;  ///< of the axis or column
    std::uint64_t low = 0;    ///< value - low <= width, modulo 2^64
    std::uint64_t width = 0;
    bool table[256] = {};
  };
  static constexpr std::uint32_t kMaxTests = 16;

  void bind_test(const PredicateOp& op, IntegerTest& test) const;
  void run_test(const IntegerTest& test, std::uint64_t first, std::uint64_t count, const TilePositions& tile,
                std::uint8_t* out) const;
  void run_op(const PredicateOp& op, std::uint64_t first, std::uint64_t count, const TilePositions& tile,
              std::uint8_t* out) const;

  const ParallelPredicate& predicate_;
  PointInput input_;
  PredicateView view_;
  bool keeps_all_;
  IntegerTest tests_[kMaxTests];  ///< of the first operations
};

}  // namespace sluice::kernels
