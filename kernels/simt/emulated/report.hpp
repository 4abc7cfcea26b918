// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the hazard checker reports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::simt::emulated {

enum class Hazard : std::uint8_t {
  kReadAfterWrite,         ///< a lane reads what another of its block writes, and no barrier orders the two
  kWriteAfterRead,         ///< a lane overwrites what another of its block reads
  kWriteAfterWrite,        ///< two lanes of a block write one place
  kBarrierDivergence,      ///< not all threads of a block come to the same barrier
  kPartialWarp,            ///< not all lanes of a warp come to the same word, or one is asked for that does not exist
  kUninitialised,          ///< memory is read that nobody has written
  kMissingBlockOffset,     ///< blocks write one place, or all blocks but the first are off by a constant each
  kUnorderedBlocks,        ///< a block reads what another writes, and no release and acquire order the two
  kOutOfBounds,            ///< an access beyond an allocation or the shared memory of the kernel
  kInclusiveForExclusive,  ///< each value stands one place too early
  kWrongValue,             ///< another difference from what is expected
  kCopyNotDone,            ///< the target of a copy is touched before `copies_done`
  kMisaligned,             ///< an address is not a multiple of what the access needs
  kNoProgress,             ///< all that runs waits for something that does not come
  kHostMemory,             ///< a kernel touches memory of the host, or an address where there is none
};

/// The kind in words, e.g. "read after write".
const char* name_of(Hazard hazard);

/// One of the two sides of a hazard.
struct Actor {
  std::uint32_t block = 0;
  unsigned thread = 0;
  std::string what;  ///< e.g. "writes", "waits at block_barrier"
  std::string file;  ///< from the root of the project on; empty where the build has no line numbers
  int line = 0;
  std::vector<std::string> callers;  ///< what was inlined there, "file:line", from the inside out
};

struct Report {
  Hazard hazard{};
  std::string kernel;
  std::string variable;  ///< e.g. "shared.warp_sums[3]", "out[17]"; empty where no memory is involved
  std::vector<Actor> actors;

  /// Everything, for people.
  [[nodiscard]] std::string text() const;
};

}  // namespace sluice::simt::emulated
