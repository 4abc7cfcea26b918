// SPDX-License-Identifier: Apache-2.0
/// \file
/// Samples as records.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "block_maker.hpp"
#include "sluice/core/point_cloud.hpp"

namespace sluice::synth {

/// Writes samples as records of one layout; fields that it lacks are left out. Any number of threads.
class RecordWriter {
 public:
  /// \param info  must outlive this; positions are int32 lattice numbers
  explicit RecordWriter(const CloudInfo& info);
  /// \param record  zeros
  /// \throws Unsupported where a coordinate does not fit 32 bits
  void write(const Sample& sample, std::byte* record) const;

 private:
  const CloudInfo& info_;
  std::vector<std::optional<Field>> fields_;
};

/// Refuses a frame whose 32-bit coordinates do not reach all of a box.
/// \throws Unsupported
void require_room(const CoordinateFrame& frame, const Extent& extent);

}  // namespace sluice::synth
