// SPDX-License-Identifier: Apache-2.0
/// \file
/// Blocks of a scene on their way into a file.
#pragma once

#include "block_maker.hpp"
#include "sluice/core/chunk_stream.hpp"
#include "sluice/execution.hpp"
#include "sluice/report.hpp"

namespace sluice::synth {

/// Makes blocks in parallel, gives their records places in order, and stores them in parallel, until there are
/// `info.point_count` points. How many points a block has is known only when it is made; none is made twice but the one
/// that the end cuts. Holds a number of blocks that does not depend on the scene's size.
/// \throws OutOfMemory where `execution.memory_bytes` does not hold one block; Cancelled; Unsupported where a
///         coordinate does not fit
Report stream_scene(const CloudInfo& info, const MakeMaker& make_maker, ChunkSink& sink, const Execution& execution);

}  // namespace sluice::synth
