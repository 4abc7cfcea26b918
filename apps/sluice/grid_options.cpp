// SPDX-License-Identifier: Apache-2.0
#include "grid_options.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include "numbers.hpp"
#include "selection_options.hpp"
#include "sluice/core/cell_grid.hpp"
#include "usage_error.hpp"

namespace sluice::app {

namespace {

Decimal parse_origin(std::string_view text) {
  Decimal value = parse_decimal(text, "--origin");
  if (!std::isfinite(value.to_double())) {
    throw UsageError(fmt::format("--origin: {} is outside the range of numbers", in_quotes(text)));
  }
  return value;
}

}  // namespace

void GridChoice::add_to(CLI::App& command) {
  const std::string group = "Cells";
  add_single(command, "--cell", cell_, "S[,SY,SZ]", "edge of a cell, world units")->group(group)->required();
  add_single(command, "--dims", dims_, "xyz|xy", "xy: columns, whatever their z (xyz)")->group(group);
  add_single(command, "--origin", origin_, "X,Y,Z|min", "corner of cell 0,0,0, or the smallest coordinates (0,0,0)")
      ->group(group);
}

GridOptions GridChoice::build() const {
  GridOptions grid;
  if (dims_ != "xyz" && dims_ != "xy")
    throw UsageError(fmt::format("--dims: {} is neither xyz nor xy", in_quotes(dims_)));
  grid.use_z = dims_ == "xyz";
  std::vector<std::string_view> sizes = split_list(cell_);
  // Columns have no edge in z, so two numbers say all.
  if (!grid.use_z && sizes.size() == 2) sizes.push_back(sizes.back());
  if (sizes.size() != 1 && sizes.size() != 3) {
    throw UsageError(fmt::format("--cell: {} has {} numbers; wanted is S or SX,SY,SZ", in_quotes(cell_), sizes.size()));
  }
  for (std::size_t d = 0; d < 3; ++d) {
    grid.size[d] = parse_real(sizes[sizes.size() == 1 ? 0 : d], "--cell");
    if (!(grid.size[d] > 0.0))
      throw UsageError(fmt::format("--cell: {}; an edge must be larger than 0", in_quotes(cell_)));
  }
  if (origin_ == "min") {
    grid.origin_at_minimum = true;
  } else if (!origin_.empty()) {
    const std::vector<std::string_view> parts = split_list(origin_);
    if (parts.size() != 3 && !(parts.size() == 2 && !grid.use_z)) {
      throw UsageError(fmt::format("--origin: {} is neither X,Y,Z nor min", in_quotes(origin_)));
    }
    for (std::size_t d = 0; d < parts.size(); ++d) grid.origin[d] = parse_origin(parts[d]);
  }
  return grid;
}

void GridChoice::check(const GridOptions& grid, const CloudInfo& layout) const {
  GridSpec spec;
  spec.use_z = grid.use_z;
  for (std::size_t d = 0; d < 3; ++d) {
    spec.size[d] = grid.size[d];
    spec.origin[d] = grid.origin[d];
  }
  try {
    (void)make_cell_grid(spec, layout.frame);
  } catch (const Unsupported& error) {
    const CoordinateFrame& frame = layout.frame;
    throw InputError(fmt::format("--cell {}{}: {} for the points of {} (scale {},{},{}, offset {},{},{})", cell_,
                                 origin_.empty() ? "" : " --origin " + origin_, error.what(), layout.name,
                                 text_of(frame.scale[0]), text_of(frame.scale[1]), text_of(frame.scale[2]),
                                 text_of(frame.offset[0]), text_of(frame.offset[1]), text_of(frame.offset[2])));
  }
}

}  // namespace sluice::app
