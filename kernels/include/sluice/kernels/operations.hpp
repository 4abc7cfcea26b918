// SPDX-License-Identifier: Apache-2.0
/// \file
/// The fused operations that the engine calls: select, bin, reduce_cells. A backend that has no fusion for one composes
/// it from its primitives; results are the same bit for bit on every backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "sluice/core/cell_grid.hpp"
#include "sluice/core/cell_key.hpp"
#include "sluice/core/predicate_program.hpp"
#include "sluice/core/types.hpp"
#include "sluice/kernels/stream.hpp"

namespace sluice::kernels {

/// Most points that one call of an operation takes.
inline constexpr std::uint64_t kMaxPoints = (std::uint64_t{1} << 31) - 1;

/// A predicate program whose tables lie where a backend can read them. Immutable; may be shared between streams.
class PreparedPredicate {
 public:
  virtual ~PreparedPredicate() = default;
};

/// Points as an operation reads them, all in the backend's memory.
struct PointInput {
  /// Any strides on the CPU. On a device packed records, aligned to 16 bytes (`Positions::is_packed`), or bare columns,
  /// each aligned to its type (`Positions::is_columns`).
  Positions positions;
  const Column* columns = nullptr;  ///< host array, one per slot of the predicate; the data are in backend memory
  std::uint32_t column_count = 0;
  std::uint64_t count = 0;        ///< at most kMaxPoints
  std::uint64_t first_index = 0;  ///< number of the first point within the whole input
};

/// What became of the points of one call; kept + rejected + nonfinite = count.
struct SelectCounts {
  std::uint64_t kept = 0;
  std::uint64_t rejected = 0;
  std::uint64_t nonfinite = 0;
};

/// Outputs of `select` in backend memory; each may be null.
struct SelectOutputs {
  std::uint32_t* kept = nullptr;      ///< ascending indices into the input; room for `count`
  std::uint32_t* rejected = nullptr;  ///< likewise, those rejected (not the non-finite ones)
  std::uint8_t* verdicts = nullptr;   ///< `Verdict` of every point
  void* records =
      nullptr;  ///< kept `Record16` or `Record32`, in order; packed input only; on a device aligned to 16 bytes
  SelectCounts* counts = nullptr;
  /// Bit i % 32 of word i / 32 is set where point i is kept; the bits after the last point are zero. Room for
  /// ceil(count / 32).
  std::uint32_t* mask = nullptr;
  /// x, y and z of the kept points, in order, as the input has them, bit for bit: int32 on a lattice, float or double;
  /// each may be null. Of positions of any layout; room for `count`.
  void* coordinates[3] = {nullptr, nullptr, nullptr};
};

struct BinSpec {
  CellGrid grid;
  CellOrder order = CellOrder::kRowMajor;
  /// Where given, keys are laid out for this range instead of the occupied one, so that no look at the points is needed
  /// to lay them out. Within `kMaxCell` of zero.
  std::optional<CellRange> range = std::nullopt;
};

/// Outputs of `bin` in backend memory; each may be null. None may overlap the input.
struct BinOutputs {
  /// Indices of the kept points by cell key, ties in input order; room for count.
  std::uint32_t* permutation = nullptr;
  /// Keys of the occupied cells, ascending; room for count.
  std::uint64_t* cell_keys = nullptr;
  /// Where each cell starts in the order of `permutation`; room for count.
  std::uint32_t* cell_first = nullptr;
  /// Kept `Record16` or `Record32`, whole, in the order of `permutation`; packed input only; room for count.
  /// On a device aligned to 16 bytes.
  void* records = nullptr;
};

struct BinResult {
  SelectCounts counts;
  std::uint64_t cells = 0;  ///< occupied
  KeyLayout layout;  ///< turns keys back into cells: that of the range; without one meaningless where nothing was kept
};

/// What `enqueue_bin` tells; kept + rejected + nonfinite + outside = count.
struct BinCounts {
  SelectCounts counts;        ///< kept: those in the outputs
  std::uint64_t cells = 0;    ///< occupied
  std::uint64_t outside = 0;  ///< points that the predicate keeps, whose cell is outside the range or that have none
};

/// Which points of a cell stay.
enum class KeepPolicy : std::uint8_t {
  kFirst,            ///< lowest indices
  kCenter,           ///< nearest to the cell's centre (`center_score`)
  kCentroid,         ///< a new point at the mean
  kNearestCentroid,  ///< nearest to the mean
  kLowest,           ///< smallest z
  kHighest,          ///< largest z
  kRandom,           ///< smallest `counter_random(seed, cell, index in the whole input)`
};

struct ReduceSpec {
  CellGrid grid;
  KeepPolicy policy = KeepPolicy::kFirst;
  std::uint32_t max_per_cell = 1;  ///< 1 for kCentroid
  std::uint64_t seed = 0;
};

/// Outputs of `reduce_cells` in backend memory. Every tie goes to the lowest index. None may overlap the input or
/// another; those after `kept` are for kCentroid only, where each of all may be null.
struct ReduceOutputs {
  /// All policies but kCentroid: ascending indices of the points that stay. kCentroid: for each cell, in the order of
  /// the first point of the cell, the point nearest to its centroid, which takes a second look at all points. Room for
  /// count.
  std::uint32_t* kept = nullptr;
  /// The centroids, in the order of `kept`: `Record16` of lattice numbers (mean rounded half to even) on a lattice,
  /// else `Record32` of world coordinates; `w` is the number of points behind it. Room for count. On a device aligned
  /// to 16 bytes.
  void* centroids = nullptr;
  /// The points of output i are permutation[cell_first[c] .. cell_first[c + 1]), in input order, with c = cell[i] and
  /// cell_first[cells] = counts.kept. Room for count (cell_first: count + 1).
  std::uint32_t* permutation = nullptr;
  std::uint32_t* cell_first = nullptr;
  std::uint32_t* cell = nullptr;
};

struct ReduceResult {
  SelectCounts counts;      ///< of the predicate
  std::uint64_t cells = 0;  ///< occupied
  std::uint64_t kept = 0;   ///< entries of ReduceOutputs::kept; for kCentroid as many as cells
  KeyLayout layout;         ///< of the keys that cells were ordered by; meaningless where nothing was kept
};

/// As for primitives, the scratch for some number of points is enough for fewer, and may hold anything before. Outputs
/// must not overlap inputs or each other. All of them throw InvalidArgument for a predicate of another backend, fewer
/// columns than it reads, more than `kMaxPoints` points, and on a device positions that are neither packed nor bare
/// columns or not aligned as `PointInput` says; OutOfMemory for a workspace that is too small; DeviceError from a
/// device.
class Operations {
 public:
  virtual ~Operations() = default;

  /// Brings a program to where the backend can read it. Waits.
  [[nodiscard]] virtual std::shared_ptr<const PreparedPredicate> prepare(const PredicateProgram& program) = 0;

  /// Runs a predicate over points. Only enqueues; counts stay in backend memory.
  virtual void select(const PreparedPredicate& predicate, const PointInput& input, const SelectOutputs& outputs,
                      Workspace& workspace, StreamView stream) = 0;
  [[nodiscard]] virtual std::size_t select_scratch(std::uint64_t count) const = 0;

  /// Orders the points that a predicate keeps by cell. Waits for its result.
  /// \throws Unsupported where the key needs more than 64 bits or, without a range, a cell's number passes `kMaxCell`;
  ///         nothing is then written
  /// \throws InvalidArgument for a range with min > max or beyond `kMaxCell`, or records of positions that are not
  ///         packed; and where kept points are outside the range or have no cell: outputs are then unspecified
  virtual BinResult bin(const PreparedPredicate& predicate, const BinSpec& spec, const PointInput& input,
                        const BinOutputs& outputs, Workspace& workspace, StreamView stream) = 0;
  [[nodiscard]] virtual std::size_t bin_scratch(const BinSpec& spec, std::uint64_t count) const = 0;

  /// As `bin` for a spec with a range, but only enqueues, and leaves points outside the range out of all outputs.
  /// Scratch as for `bin`. `thrust` waits all the same.
  ///
  /// On `cuda` it can be captured in a CUDA graph, after one call outside of a capture, which loads the kernels. The
  /// pointers, the number of points, `first_index`, the spec and the predicate are then those of the capture;
  /// predicate, workspace and buffers must outlive the graph, and nothing else may use the workspace while it runs.
  /// \param counts  in backend memory; not null
  /// \throws Unsupported where the keys of the range need more than 64 bits
  /// \throws InvalidArgument without a range, for null `counts`, and for what `bin` refuses before it sees a point
  virtual void enqueue_bin(const PreparedPredicate& predicate, const BinSpec& spec, const PointInput& input,
                           const BinOutputs& outputs, BinCounts* counts, Workspace& workspace, StreamView stream) = 0;

  /// Thins the points that a predicate keeps, per cell. Waits for its result. Cells are those of row-major order, but
  /// their keys may be laid out in any order.
  /// \throws Unsupported as `bin`; InvalidArgument for max_per_cell of 0, or above 1 with kCentroid
  virtual ReduceResult reduce_cells(const PreparedPredicate& predicate, const ReduceSpec& spec, const PointInput& input,
                                    const ReduceOutputs& outputs, Workspace& workspace, StreamView stream) = 0;
  [[nodiscard]] virtual std::size_t reduce_cells_scratch(const ReduceSpec& spec, std::uint64_t count) const = 0;
};

}  // namespace sluice::kernels
