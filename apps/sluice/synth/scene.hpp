// SPDX-License-Identifier: Apache-2.0
/// \file
/// Scenes that look like real scans, made from a seed: a terrain seen from an aircraft, a street seen by a spinning
/// sensor, and points uniform in a box. Of any size in bounded memory, and the same to the last bit on every machine
/// and for every number of threads. Only +, -, *, / and square roots of doubles decide what is stored, since libraries
/// of functions such as the sine differ in their last bit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "block_maker.hpp"
#include "sluice/core/chunk_stream.hpp"
#include "sluice/execution.hpp"
#include "sluice/report.hpp"

namespace sluice::synth {

enum class SceneKind : std::uint8_t {
  /// Terrain with buildings, trees, low vegetation, lakes and a little noise at 8 points a square metre, which sets the
  /// extent. Parallel flight lines with overlap, flown to and fro, zig-zag scans, up to five returns of a pulse. Points
  /// come in scan order: time never falls, `point_source_id` is the flight line.
  kAirborne,
  /// Turns of a sensor of 64 or 128 beams that drives up and down a street with houses, cars, poles and trees. Firings
  /// without a return are left out; the extra dimension `ring` (uint8) tells the beam, 0 the lowest.
  kSpinning,
  /// Every position of a box of 1000 x 1000 x 100 world units is as likely as any other.
  kUniform,
};

struct SceneOptions {
  SceneKind kind = SceneKind::kUniform;
  std::uint64_t points = 0;  ///< exactly so many
  std::uint64_t seed = 0;
  int point_format = 6;              ///< 0 to 10
  std::optional<int> version_minor;  ///< of LAS; not given: 4 for point formats above 5, else 2 (3 for 4 and 5)
  std::optional<std::array<double, 3>> scale;  ///< not given: 0.001
  int beams = 64;                              ///< kSpinning: 64 or 128
};

/// A scene that can be written: LAS records, made while they are stored.
class Scene {
 public:
  /// \throws InvalidArgument for options without a meaning; Unsupported where coordinates would not fit the scale
  explicit Scene(const SceneOptions& options);

  [[nodiscard]] const CloudInfo& info() const { return info_; }
  /// Bytes of an uncompressed LAS file of the scene.
  [[nodiscard]] std::uint64_t las_bytes() const;
  /// Stores all points, in order, with `execution.threads` threads and in at most `execution.memory_bytes`, or in a few
  /// MB a thread where that is 0.
  /// \param sink  takes records of `info()`; what it has reserved before stays in front
  /// \throws OutOfMemory, Cancelled, and what the sink throws
  Report write(ChunkSink& sink, const Execution& execution) const;

 private:
  CloudInfo info_;
  MakeMaker make_maker_;
};

}  // namespace sluice::synth
