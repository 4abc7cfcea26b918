// SPDX-License-Identifier: Apache-2.0
/// \file
/// Gathering of whole records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sluice/core/point_view.hpp"

namespace sluice::detail {

/// Copies the records view[indices[i]] to `out`, one after the other, without padding between them.
/// \param record_bytes  bytes of a record, at most the stride of the view
void gather_records(const PointView& view, std::uint64_t record_bytes, std::span<const std::uint32_t> indices,
                    std::byte* out);

}  // namespace sluice::detail
