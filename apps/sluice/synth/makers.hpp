// SPDX-License-Identifier: Apache-2.0
/// \file
/// The makers of the kinds of scenes.
#pragma once

#include <cstdint>
#include <memory>

#include "block_maker.hpp"

namespace sluice::synth {

/// Coordinates of the lower left corner of the airborne scene.
inline constexpr double kEasting = 500000.0;
inline constexpr double kNorthing = 4100000.0;

/// \param points       of the whole scene, which set its extent
/// \param most_class   largest class that the point format holds
[[nodiscard]] std::unique_ptr<BlockMaker> make_airborne(std::uint64_t points, std::uint64_t seed, int most_class);
/// \param points  of the whole scene
/// \param beams   64 or 128
[[nodiscard]] std::unique_ptr<BlockMaker> make_spinning(std::uint64_t points, std::uint64_t seed, int beams);
[[nodiscard]] std::unique_ptr<BlockMaker> make_uniform(std::uint64_t seed);

}  // namespace sluice::synth
