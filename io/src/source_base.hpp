// SPDX-License-Identifier: Apache-2.0
/// \file
/// What all sources of this library can tell beside their points.
#pragma once

#include "sluice/core/chunk_stream.hpp"

namespace sluice::io {

/// A source that knows whether it left out damaged parts of its file.
class SourceBase : public ChunkSource {
 public:
  [[nodiscard]] bool recovered() const noexcept { return recovered_; }

 protected:
  bool recovered_ = false;
};

}  // namespace sluice::io
