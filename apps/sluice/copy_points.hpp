// SPDX-License-Identifier: Apache-2.0
/// \file
/// Points from a source to a sink, chunk by chunk, without an engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "sluice/core/chunk_stream.hpp"
#include "sluice/execution.hpp"
#include "sluice/report.hpp"

namespace sluice::app {

/// Turns the records of a chunk, the first of which is number `first`, into records of another length at `out`. Any
/// thread.
using RecordTransform = std::function<void(const PointView& in, std::uint64_t first, std::byte* out)>;

/// Loads, transforms and stores chunks in parallel; the order of points is kept. Holds a bounded number of chunks.
/// \param out_bytes  length of a transformed record
/// \return counts, threads and times; everything else is left as it is
/// \throws OutOfMemory where `execution.memory_bytes` does not hold one chunk
Report copy_points(ChunkSource& source, ChunkSink& sink, const RecordTransform& transform, std::uint32_t out_bytes,
                   const Execution& execution);

}  // namespace sluice::app
