// SPDX-License-Identifier: Apache-2.0
/// \file
/// The points of LAZ files, decoded a chunk at a time.
#pragma once

#include <memory>

#include "../input_bytes.hpp"
#include "../source_base.hpp"
#include "laz_points.hpp"

namespace sluice::io::las {

/// \param info       with as many points as `points` has
/// \param recovered  damaged parts of the file were left out
std::unique_ptr<SourceBase> make_laz_source(std::shared_ptr<const InputBytes> bytes, CloudInfo info, LazPoints points,
                                            bool recovered);

}  // namespace sluice::io::las
