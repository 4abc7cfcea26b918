// SPDX-License-Identifier: Apache-2.0
/// \file
/// Points from a source to a sink, chunk by chunk, without an engine.
#pragma once

#include "sluice/core/chunk_stream.hpp"
#include "sluice/execution.hpp"
#include "sluice/report.hpp"

namespace sluice::app {

/// Loads and stores chunks in parallel; the order of points is kept. Holds a bounded number of chunks.
/// \return counts, threads and times; everything else is left as it is
/// \throws OutOfMemory where `execution.memory_bytes` does not hold one chunk
Report copy_points(ChunkSource& source, ChunkSink& sink, const Execution& execution);

}  // namespace sluice::app
