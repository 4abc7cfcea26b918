// SPDX-License-Identifier: Apache-2.0
/// \file
/// Scratch and launches of the passes that look back over tiles, for the other sources of this folder.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/bodies/look_back.hpp"
#include "kernels/cuda/detail/device.hpp"
#include "kernels/simt/launch.hpp"
#include "sluice/kernels/stream.hpp"

namespace sluice::kernels::cuda {

/// Words for the states of some tiles; one more for the ticket.
constexpr std::uint64_t state_words(std::uint64_t tiles) { return tiles + 1; }

/// States in `state_words(tiles)` words that are zero.
inline bodies::TileStates states_in(std::uint64_t* words, std::uint64_t tiles) {
  return {words, {reinterpret_cast<std::uint32_t*>(words + tiles)}};
}

/// Takes states from a workspace and enqueues their clearing.
inline bodies::TileStates clear_states(std::uint64_t tiles, Workspace& workspace, StreamView stream) {
  auto* words = workspace.take<std::uint64_t>(state_words(tiles));
  fill(words, 0, state_words(tiles) * sizeof *words, stream);
  return states_in(words, tiles);
}

inline std::size_t states_scratch(std::uint64_t tiles) {
  return Workspace::bytes_for<std::uint64_t>(state_words(tiles));
}

}  // namespace sluice::kernels::cuda
