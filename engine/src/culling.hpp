// SPDX-License-Identifier: Apache-2.0
/// \file
/// Leaving out parts of the sources that no region reaches.
#pragma once

#include <cstdint>
#include <span>

#include "sluice/core/chunk_stream.hpp"
#include "sluice/core/region.hpp"

namespace sluice::detail {

/// As long as it lives, sources leave out points that a selection would surely reject. They count as read and rejected.
class Culling {
 public:
  /// Takes effect when the sources are rewound.
  /// \param allowed  false where somebody has to see the rejected points; then, and where the selection itself has to,
  ///                 all are read
  /// \throws InvalidArgument for a region that makes no sense
  Culling(std::span<ChunkSource* const> sources, const Selection& selection, bool allowed);
  ~Culling();
  Culling(const Culling&) = delete;
  Culling& operator=(const Culling&) = delete;

  /// Points of all sources that are left out.
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  std::span<ChunkSource* const> sources_;
  std::uint64_t left_out_ = 0;
};

}  // namespace sluice::detail
