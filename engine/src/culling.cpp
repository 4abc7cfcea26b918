// SPDX-License-Identifier: Apache-2.0
#include "culling.hpp"

#include <functional>
#include <optional>

#include "sluice/core/region_reach.hpp"

namespace sluice::detail {

Culling::Culling(std::span<ChunkSource* const> sources, const Selection& selection, bool allowed) : sources_(sources) {
  std::optional<RegionReach> reach;
  std::function<bool(const Box&)> wanted;
  const CoordinateFrame& frame = sources.front()->info().frame;
  // Inverted, the points outside are kept. What is not finite, or zero where zeros are dropped, is counted wherever the
  // regions are; on a lattice all is finite.
  const bool only_inside = !selection.regions.empty() && !selection.invert && !selection.drop_zero;
  if (allowed && only_inside && frame.kind == CoordinateKind::kLattice) {
    reach.emplace(selection.regions, frame);
    wanted = [&reach](const Box& box) { return reach->reaches(box); };
  }
  for (ChunkSource* source : sources_) left_out_ += source->skip_unwanted(wanted);
}

Culling::~Culling() {
  for (ChunkSource* source : sources_) (void)source->skip_unwanted({});
}

}  // namespace sluice::detail
