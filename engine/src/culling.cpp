// SPDX-License-Identifier: Apache-2.0
#include "culling.hpp"

#include <functional>
#include <optional>

#include "sluice/core/region_reach.hpp"

namespace sluice::detail {

Culling::Culling(std::span<ChunkSource* const> sources, const Selection& selection, bool allowed) : sources_(sources) {
  std::optional<RegionReach> reach;
  std::function<bool(const Box&)> wanted;
  // Inverted, the points outside are kept; and a point at zero counts as non-finite wherever the regions are.
  if (allowed && !selection.regions.empty() && !selection.invert && !selection.drop_zero) {
    reach.emplace(selection.regions, sources.front()->info().frame);
    wanted = [&reach](const Box& box) { return reach->reaches(box); };
  }
  for (ChunkSource* source : sources_) left_out_ += source->skip_unwanted(wanted);
}

Culling::~Culling() {
  for (ChunkSource* source : sources_) (void)source->skip_unwanted({});
}

}  // namespace sluice::detail
