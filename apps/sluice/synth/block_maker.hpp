// SPDX-License-Identifier: Apache-2.0
/// \file
/// A scene as blocks (a scan line, a few columns of a turn) of as many points as nature gives each, in order.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sluice/core/extent.hpp"

namespace sluice::synth {

/// One point before it is written as a record.
struct Sample {
  double x = 0, y = 0, z = 0;  ///< world units
  double gps_time = 0;
  double scan_angle = 0;  ///< degrees
  std::uint16_t intensity = 0;
  std::uint16_t source_id = 0;
  std::array<std::uint16_t, 4> color{};  ///< red, green, blue, near infrared
  std::uint8_t return_number = 1;
  std::uint8_t returns = 1;
  std::uint8_t classification = 1;
  std::uint8_t ring = 0;
  bool scan_direction = false;
  bool edge = false;
};

/// Makes the points of any block; blocks never end, a scene is cut where it has its points. Belongs to one thread at a
/// time; the same block always gives the same points.
class BlockMaker {
 public:
  virtual ~BlockMaker() = default;
  /// Replaces `out` by the points of a block, at most `limit` of them: a pulse that is cut has fewer returns.
  virtual void make(std::uint64_t block, std::uint64_t limit, std::vector<Sample>& out) = 0;
  /// No block has more points.
  [[nodiscard]] virtual std::uint64_t most_points() const = 0;
  /// What a maker remembers, in bytes.
  [[nodiscard]] virtual std::uint64_t held_bytes() const { return 0; }
  /// No point of the scene lies outside.
  [[nodiscard]] virtual Extent extent() const = 0;
};

/// A maker for whoever asks; all of them make the same scene. Any thread.
using MakeMaker = std::function<std::unique_ptr<BlockMaker>()>;

}  // namespace sluice::synth
