// SPDX-License-Identifier: Apache-2.0
/// \file
/// Raw files of float32 rows without a header, as the KITTI and nuScenes data sets have them (`.bin`).
#pragma once

#include "sluice/io/columns.hpp"

namespace sluice::io {

class RawMetadata final : public ColumnMetadata {
 public:
  [[nodiscard]] std::string format() const override { return "bin"; }
};

}  // namespace sluice::io
