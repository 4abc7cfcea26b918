// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/serial/operations.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/arguments.hpp"
#include "kernels/cpu/host_backend.hpp"
#include "kernels/cpu/serial/primitives.hpp"
#include "kernels/score.hpp"

namespace sluice::kernels {

namespace {

class SerialPredicate final : public PreparedPredicate {
 public:
  explicit SerialPredicate(PredicateProgram program) : program_(std::move(program)) {}
  [[nodiscard]] const PredicateProgram& program() const { return program_; }

 private:
  PredicateProgram program_;
};

const PredicateProgram& program_of(const PreparedPredicate& predicate) {
  const auto* mine = dynamic_cast<const SerialPredicate*>(&predicate);
  if (mine == nullptr) throw InvalidArgument("the predicate was prepared by another backend");
  return mine->program();
}

/// The kept points of one call in the order of their cells.
struct CellOrdering {
  SelectCounts counts;
  std::uint64_t outside = 0;
  KeyLayout layout;
  std::uint32_t* points = nullptr;  ///< indices by (key, index)
  std::uint64_t* keys = nullptr;    ///< by point, not by place
  std::uint32_t* first = nullptr;   ///< of each cell, in `points`, and where the last one ends
  std::uint64_t cells = 0;
};

std::size_t ordering_scratch(std::uint64_t count) {
  return Workspace::bytes_for<std::uint32_t>(count) + Workspace::bytes_for<std::uint64_t>(count) +
         Workspace::bytes_for<std::uint32_t>(count + 1);
}

CellOrdering order_by_cell(const PredicateProgram& program, const BinSpec& spec, const PointInput& input,
                           Workspace& workspace) {
  const CellGrid& grid = spec.grid;
  const PredicateView view = program.view(input.columns);
  CellOrdering out;
  if (spec.range.has_value()) out.layout = make_key_layout(spec.order, grid.use_z, spec.range->min, spec.range->max);
  out.points = workspace.take<std::uint32_t>(input.count);
  out.keys = workspace.take<std::uint64_t>(input.count);
  out.first = workspace.take<std::uint32_t>(input.count + 1);
  CellRange occupied{};
  for (std::uint64_t i = 0; i < input.count; ++i) {
    const Verdict verdict = evaluate(view, input.positions, i, input.first_index + i);
    if (verdict == Verdict::kRejected) ++out.counts.rejected;
    if (verdict == Verdict::kNonFinite) ++out.counts.nonfinite;
    if (verdict != Verdict::kKept) continue;
    std::int64_t cell[3];
    const bool has_cell = cell_of(grid, load_position(input.positions, i), cell);
    if (spec.range.has_value()) {
      if (!has_cell || !contains(*spec.range, cell)) {
        ++out.outside;
        continue;
      }
    } else if (!has_cell) {
      refuse_cell();
    }
    for (int d = 0; d < 3; ++d) {
      occupied.min[d] = out.counts.kept == 0 ? cell[d] : std::min(occupied.min[d], cell[d]);
      occupied.max[d] = out.counts.kept == 0 ? cell[d] : std::max(occupied.max[d], cell[d]);
    }
    out.points[out.counts.kept++] = static_cast<std::uint32_t>(i);
  }
  if (out.counts.kept == 0) {
    out.first[0] = 0;
    return out;
  }
  if (!spec.range.has_value()) out.layout = make_key_layout(spec.order, grid.use_z, occupied.min, occupied.max);
  std::uint32_t* const end = out.points + out.counts.kept;
  for (const std::uint32_t* point = out.points; point != end; ++point) {
    std::int64_t cell[3];
    cell_of(grid, load_position(input.positions, *point), cell);
    out.keys[*point] = key_of(out.layout, cell);
  }
  std::sort(out.points, end, [&](std::uint32_t a, std::uint32_t b) {
    return out.keys[a] != out.keys[b] ? out.keys[a] < out.keys[b] : a < b;
  });
  for (std::uint64_t i = 0; i < out.counts.kept; ++i) {
    if (i == 0 || out.keys[out.points[i]] != out.keys[out.points[i - 1]]) {
      out.first[out.cells++] = static_cast<std::uint32_t>(i);
    }
  }
  out.first[out.cells] = static_cast<std::uint32_t>(out.counts.kept);
  return out;
}

void copy_record(const Positions& packed, std::uint64_t from, void* records, std::uint64_t to) {
  const std::uint64_t bytes = packed.stride;
  std::memcpy(static_cast<std::byte*>(records) + to * bytes, packed.x + from * bytes, bytes);
}

/// Copies the coordinates of a point, as they are stored, to the columns that are not null.
void copy_coordinates(const Positions& positions, std::uint64_t from, void* const (&columns)[3], std::uint64_t to) {
  const std::byte* const axes[3] = {positions.x, positions.y, positions.z};
  const std::uint64_t bytes = positions.coordinate_bytes();
  for (int d = 0; d < 3; ++d) {
    if (columns[d] == nullptr) continue;
    std::memcpy(static_cast<std::byte*>(columns[d]) + to * bytes, axes[d] + from * positions.stride, bytes);
  }
}

/// What `bin` and `enqueue_bin` share.
BinCounts bin_points(const PredicateProgram& program, const BinSpec& spec, const PointInput& input,
                     const BinOutputs& outputs, KeyLayout& layout, Workspace& workspace) {
  const WorkspaceScope scope(workspace);
  const CellOrdering cells = order_by_cell(program, spec, input, workspace);
  layout = cells.layout;
  if (outputs.permutation != nullptr) std::copy_n(cells.points, cells.counts.kept, outputs.permutation);
  if (outputs.cell_keys != nullptr) {
    for (std::uint64_t c = 0; c < cells.cells; ++c) outputs.cell_keys[c] = cells.keys[cells.points[cells.first[c]]];
    std::copy_n(cells.first, cells.cells, outputs.cell_first);
  }
  if (outputs.records != nullptr) {
    for (std::uint64_t i = 0; i < cells.counts.kept; ++i) {
      copy_record(input.positions, cells.points[i], outputs.records, i);
    }
  }
  return BinCounts{cells.counts, cells.cells, cells.outside};
}

}  // namespace

std::shared_ptr<const PreparedPredicate> SerialOperations::prepare(const PredicateProgram& program) {
  return std::make_shared<SerialPredicate>(program);
}

void SerialOperations::select(const PreparedPredicate& predicate, const PointInput& input, const SelectOutputs& outputs,
                              Workspace& /*workspace*/, StreamView /*stream*/) {
  const PredicateProgram& program = program_of(predicate);
  check_input(program, input);
  check_records(input, outputs.records);
  const PredicateView view = program.view(input.columns);
  if (outputs.mask != nullptr) std::fill_n(outputs.mask, (input.count + 31) / 32, 0U);
  SelectCounts counts;
  for (std::uint64_t i = 0; i < input.count; ++i) {
    const Verdict verdict = evaluate(view, input.positions, i, input.first_index + i);
    if (outputs.verdicts != nullptr) outputs.verdicts[i] = static_cast<std::uint8_t>(verdict);
    switch (verdict) {
      case Verdict::kKept:
        if (outputs.kept != nullptr) outputs.kept[counts.kept] = static_cast<std::uint32_t>(i);
        if (outputs.records != nullptr) copy_record(input.positions, i, outputs.records, counts.kept);
        copy_coordinates(input.positions, i, outputs.coordinates, counts.kept);
        if (outputs.mask != nullptr) outputs.mask[i / 32] |= 1U << (i % 32);
        ++counts.kept;
        break;
      case Verdict::kRejected:
        if (outputs.rejected != nullptr) outputs.rejected[counts.rejected] = static_cast<std::uint32_t>(i);
        ++counts.rejected;
        break;
      case Verdict::kNonFinite:
        ++counts.nonfinite;
        break;
    }
  }
  if (outputs.counts != nullptr) *outputs.counts = counts;
}

std::size_t SerialOperations::select_scratch(std::uint64_t /*count*/) const { return 0; }

BinResult SerialOperations::bin(const PreparedPredicate& predicate, const BinSpec& spec, const PointInput& input,
                                const BinOutputs& outputs, Workspace& workspace, StreamView /*stream*/) {
  const PredicateProgram& program = program_of(predicate);
  check_input(program, input);
  check_bin(input, spec, outputs);
  KeyLayout layout;
  const BinCounts counts = bin_points(program, spec, input, outputs, layout, workspace);
  return bin_result(counts, layout);
}

std::size_t SerialOperations::bin_scratch(const BinSpec& /*spec*/, std::uint64_t count) const {
  return ordering_scratch(count);
}

void SerialOperations::enqueue_bin(const PreparedPredicate& predicate, const BinSpec& spec, const PointInput& input,
                                   const BinOutputs& outputs, BinCounts* counts, Workspace& workspace,
                                   StreamView /*stream*/) {
  const PredicateProgram& program = program_of(predicate);
  check_input(program, input);
  check_enqueue_bin(input, spec, outputs, counts);
  KeyLayout layout;
  *counts = bin_points(program, spec, input, outputs, layout, workspace);
}

ReduceResult SerialOperations::reduce_cells(const PreparedPredicate& predicate, const ReduceSpec& spec,
                                            const PointInput& input, const ReduceOutputs& outputs, Workspace& workspace,
                                            StreamView /*stream*/) {
  const PredicateProgram& program = program_of(predicate);
  check_input(program, input);
  check_reduce(spec);
  const WorkspaceScope scope(workspace);
  const CellOrdering cells = order_by_cell(program, BinSpec{spec.grid}, input, workspace);
  auto* scores = workspace.take<std::uint64_t>(input.count);
  auto* ranked = workspace.take<std::uint32_t>(input.count);
  auto* by_first_point = workspace.take<std::uint32_t>(input.count);
  const Positions& positions = input.positions;

  // In the order of their first points, cells give centroids in output order.
  std::iota(by_first_point, by_first_point + cells.cells, std::uint32_t{0});
  std::sort(by_first_point, by_first_point + cells.cells, [&](std::uint32_t a, std::uint32_t b) {
    return cells.points[cells.first[a]] < cells.points[cells.first[b]];
  });

  std::uint64_t kept = 0;
  for (std::uint64_t i = 0; i < cells.cells; ++i) {
    const std::uint32_t c = by_first_point[i];
    const std::uint32_t* begin = cells.points + cells.first[c];
    const std::uint32_t* end = cells.points + cells.first[c + 1];
    std::int64_t cell[3];
    cell_of(spec.grid, load_position(positions, *begin), cell);
    CentroidSums sums;
    for (const std::uint32_t* p = begin; p != end; ++p) {
      add_point(sums, spec.grid, load_position(positions, *p), cell);
    }
    for (const std::uint32_t* p = begin; p != end; ++p) {
      scores[*p] = point_score(spec, positions, load_position(positions, *p), cell, sums, input.first_index + *p);
    }
    const std::uint64_t stay = std::min<std::uint64_t>(spec.max_per_cell, sums.count);
    std::uint32_t* const ranked_end = std::copy(begin, end, ranked);
    std::sort(ranked, ranked_end,
              [&](std::uint32_t a, std::uint32_t b) { return scores[a] != scores[b] ? scores[a] < scores[b] : a < b; });
    if (spec.policy == KeepPolicy::kCentroid && outputs.centroids != nullptr) {
      if (positions.kind == CoordinateKind::kLattice) {
        static_cast<Record16*>(outputs.centroids)[i] = lattice_centroid(sums);
      } else {
        static_cast<Record32*>(outputs.centroids)[i] =
            world_centroid(spec.grid, sums, cell, load_position(positions, *begin));
      }
    }
    if (outputs.kept != nullptr) std::copy_n(ranked, stay, outputs.kept + kept);
    kept += stay;
  }
  if (spec.policy == KeepPolicy::kCentroid) {
    if (outputs.permutation != nullptr) std::copy_n(cells.points, cells.counts.kept, outputs.permutation);
    if (outputs.cell_first != nullptr) std::copy_n(cells.first, cells.cells + 1, outputs.cell_first);
    if (outputs.cell != nullptr) std::copy_n(by_first_point, cells.cells, outputs.cell);
  } else {
    std::sort(outputs.kept, outputs.kept + kept);
  }
  return ReduceResult{cells.counts, cells.cells, kept, cells.layout};
}

std::size_t SerialOperations::reduce_cells_scratch(const ReduceSpec& /*spec*/, std::uint64_t count) const {
  return ordering_scratch(count) + Workspace::bytes_for<std::uint64_t>(count) +
         2 * Workspace::bytes_for<std::uint32_t>(count);
}

std::unique_ptr<Backend> make_serial_backend() {
  return std::make_unique<HostBackend>("serial", std::make_unique<SerialPrimitives>(),
                                       std::make_unique<SerialOperations>());
}

}  // namespace sluice::kernels
